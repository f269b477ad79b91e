"""Plans of generated instances as short digests; equal plans have equal digests, to the byte."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

import orjson

from benchmarks.solve.instances import Shape, snapshots
from fourleaf.model.documents.plan import to_document
from fourleaf.model.node import Node
from fourleaf.model.readers.read import read
from fourleaf.model.readers.text.sources import open_paths
from fourleaf.model.relocation import Budget
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from fourleaf.solver.relocation.defragment import defragment
from fourleaf.solver.relocation.preempt import preempt
from fourleaf.solver.relocation.repair import repair
from tests.instances import random_snapshot
from tests.pressed import pressed_snapshot
from tests.relocations import standing_snapshot

ROOT = Path(__file__).parents[2]
DIGITS = 12
"""Hexadecimal digits of a digest."""


def _plain(value: Any) -> Any:
    """A plan as plain values by the order of its fields, without names and times."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [one.name for one in dataclasses.fields(value) if "seconds" not in one.name]
        return [_plain(getattr(value, name)) for name in fields]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, dict):
        return sorted([_plain(key), _plain(one)] for key, one in value.items())
    if isinstance(value, set | frozenset):
        return sorted(_plain(one) for one in value)
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    return value


def _document(snapshot: Snapshot) -> Any:
    """The explained plan as its document, beside the greedy one."""
    plan = solve(snapshot)
    greedy = greedy_plan(snapshot)
    return [
        to_document(snapshot, explain(snapshot, plan)) if plan else None,
        to_document(snapshot, explain(snapshot, greedy)),
    ]


def _without_preferences(snapshot: Snapshot) -> Snapshot:
    """The same where no pod prefers a node, and no node asks to be avoided."""
    gangs = [
        replace(gang, roles=tuple(replace(role, preferences=()) for role in gang.roles))
        for gang in snapshot.gangs
    ]
    fabric = snapshot.fabric
    leaves = [
        replace(leaf, nodes=tuple(_without_advice(node) for node in leaf.nodes))
        for leaf in fabric.leaves
    ]
    return replace(snapshot, gangs=tuple(gangs), fabric=replace(fabric, leaves=tuple(leaves)))


def _without_advice(node: Node) -> Node:
    taints = tuple(taint for taint in node.taints if taint.effect != "PreferNoSchedule")
    return replace(node, taints=taints)


def batch(seed: int) -> Any:
    """A tiny batch with every rule in it; preferences are later than the digests."""
    return _document(
        _without_preferences((random_snapshot if seed % 3 else pressed_snapshot)(seed))
    )


def fabric(seed: int) -> Any:
    """A batch on 128 nodes, with half of the gangs below a node for odd seeds."""
    return _document(snapshots(seed, Shape.regular(128), 16, parts=bool(seed % 2))[0])


def repaired(seed: int) -> Any:
    """A repair of gangs that lost nodes."""
    return _plain(repair(standing_snapshot(seed)))


def preempted(seed: int) -> Any:
    """A preemption for one gang."""
    snapshot = standing_snapshot(seed, dead=seed % 3 == 0, waiting=1)
    gang = replace(snapshot.gangs[0], priority=(3, 9)[seed % 2])
    return _plain(preempt(replace(snapshot, gangs=(gang,)), gang.key))


def defragmented(seed: int) -> Any:
    """A defragmentation within a budget of moves."""
    snapshot = standing_snapshot(seed, dead=False, waiting=(0, 1, 2)[seed % 3], movable=0.95)
    return _plain(defragment(snapshot, Budget(pods=seed % 5)))


FAMILIES: dict[str, tuple[Callable[[int], Any], int]] = {
    "batch": (batch, 280),
    "fabric": (fabric, 20),
    "repair": (repaired, 80),
    "preemption": (preempted, 60),
    "defragmentation": (defragmented, 60),
}
"""Family -> how one of its plans is made from a seed, and how many there are: 500 in all."""


def example() -> Any:
    """The plan of the example files."""
    return _document(read(open_paths([str(ROOT / "examples")])).snapshot)


def digest(document: Any) -> str:
    """The digest of a document."""
    return hashlib.sha256(orjson.dumps(document, option=orjson.OPT_SORT_KEYS)).hexdigest()[:DIGITS]


def plans() -> Iterator[tuple[str, Any]]:
    """Every plan by its name."""
    yield "examples", example()
    for family, (make, count) in FAMILIES.items():
        for seed in range(count):
            yield f"{family} {seed}", make(seed)
