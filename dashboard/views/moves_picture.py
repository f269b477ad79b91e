"""A fabric before and after, drawn as the map draws it, with who goes from where to where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.views.fabric import FabricMap, LeafCell, key_of
from fourleaf.dashboard.views.marks import Marks
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement
from fourleaf.model.snapshot import RunningPod, Snapshot, once_placed

MOST_LEAVES_DRAWN = 32
"""Leaves that are drawn, those where most changes; of the others it is said how many there are."""
MOST_ARROWS = 200
"""Arrows that are drawn, those of most pods."""

Seat = tuple[str, str]
"""Namespace and name of a pod."""
LeafName = tuple[str, str]
"""Spine and leaf."""


@dataclass(frozen=True, slots=True)
class DrawnLeaf:
    """A leaf that looks different, known by `key` on the map."""

    key: str
    before: LeafCell
    after: LeafCell


@dataclass(frozen=True, slots=True)
class MoveArrow:
    """So many pods of a gang that go from one node to another."""

    gang: str
    source: str
    target: str
    pods: int


@dataclass(frozen=True, slots=True)
class MovesPicture:
    """The leaves that change, before and after, and the moves; `came` are gangs by node.

    `came` says for each node who is there after and was not before. `more` count what is left out.
    """

    leaves: tuple[DrawnLeaf, ...]
    arrows: tuple[MoveArrow, ...]
    came: Mapping[str, tuple[str, ...]]
    more_leaves: int
    more_arrows: int


class FixedMarks(Marks):
    """Marks that stay as they are, so that both pictures have the same."""

    def __init__(self, gangs: Iterable[GangKey]) -> None:
        super().__init__()
        super().keep(gangs)

    def keep(self, gangs: Iterable[GangKey]) -> None:
        """Keep all."""


def with_placed(snapshot: Snapshot, placements: Iterable[Placement]) -> Snapshot:
    """`snapshot` once what is placed runs."""
    gangs = snapshot.gangs_by_key
    placed = [pod for one in placements for pod in once_placed(gangs[one.gang], one)]
    return replace(snapshot, running=(*snapshot.running, *placed))


def with_moved(snapshot: Snapshot, targets: Mapping[Seat, str]) -> Snapshot:
    """`snapshot` once pods stand where `targets` says; on which devices is not known."""
    running = tuple(
        replace(pod, node=targets[pod.namespace, pod.name], devices=())
        if (pod.namespace, pod.name) in targets
        else pod
        for pod in snapshot.running
    )
    return replace(snapshot, running=running)


def moves_picture(moment: ClusterMoment, before: Snapshot, after: Snapshot) -> MovesPicture | None:
    """The picture of `before` and `after`, looks at `moment`; None where all is alike.

    Leaves that are in only one of both are left out.
    """
    was, now = _seats(before.running), _seats(after.running)
    changes: Counter[str] = Counter()
    moves: Counter[tuple[str, str, str]] = Counter()
    came: dict[str, dict[str, None]] = {}
    for seat in {**was, **now}:
        old, new = was.get(seat), now.get(seat)
        if old is not None and new is not None and old.node == new.node:
            continue
        for pod in (old, new):
            if pod is not None:
                changes[pod.node] += 1
        if new is not None:
            gang = str(new.gang or new)
            came.setdefault(new.node, {})[gang] = None
            if old is not None:
                moves[gang, old.node, new.node] += 1
    touched = _touched(before, after, changes)
    if not touched:
        return None
    shown = [leaf for leaf, _ in touched.most_common(MOST_LEAVES_DRAWN)]
    leaves = _drawn(moment, before, after, frozenset(shown))
    nodes = {cell.name for leaf in leaves for cell in leaf.before.nodes}
    arrows = [
        MoveArrow(gang, source, target, pods)
        for (gang, source, target), pods in moves.most_common()
        if source in nodes and target in nodes
    ]
    return MovesPicture(
        leaves=tuple(leaves),
        arrows=tuple(arrows[:MOST_ARROWS]),
        came={node: tuple(gangs) for node, gangs in came.items() if node in nodes},
        more_leaves=len(touched) - len(shown),
        more_arrows=len(moves) - len(arrows[:MOST_ARROWS]),
    )


def _seats(running: Iterable[RunningPod]) -> dict[Seat, RunningPod]:
    return {(pod.namespace, pod.name): pod for pod in running}


def _touched(before: Snapshot, after: Snapshot, changes: Counter[str]) -> Counter[LeafName]:
    """The leaves of both of which nodes change, by how much."""
    new = {(leaf.spine, leaf.name): leaf for leaf in after.fabric.leaves}
    found: Counter[LeafName] = Counter()
    for old in before.fabric.leaves:
        name = old.spine, old.name
        if name in new:
            count = sum(changes[node.name] for node in old.nodes)
            count += old is not new[name] and old.nodes != new[name].nodes
            found += Counter({name: count})
    return found


def _drawn(
    moment: ClusterMoment, before: Snapshot, after: Snapshot, leaves: frozenset[LeafName]
) -> list[DrawnLeaf]:
    gangs = {pod.gang for one in (before, after) for pod in one.running if pod.gang and pod.ours}
    marks = FixedMarks(sorted(gangs))
    was, now = (_cells(moment, one, leaves, marks) for one in (before, after))
    return [DrawnLeaf(key, cell, now[key]) for key, cell in was.items()]


def _cells(
    moment: ClusterMoment, snapshot: Snapshot, leaves: frozenset[LeafName], marks: Marks
) -> dict[str, LeafCell]:
    """The `leaves` alone, as the map has them: what else there is takes no time."""
    fabric = snapshot.fabric
    kept = tuple(leaf for leaf in fabric.leaves if (leaf.spine, leaf.name) in leaves)
    some = replace(fabric, leaves=kept)
    running = tuple(pod for pod in snapshot.running if pod.node in some.leaf_of)
    look = replace(moment, snapshot=replace(snapshot, fabric=some, running=running, gangs=()))
    view = FabricMap("", marks).view(look)
    return {
        key_of(row, leaf): leaf.model_copy(update={"uplink_mbit": None})
        for row in view.spines
        for leaf in row.leaves
    }
