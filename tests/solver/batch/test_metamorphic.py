"""Changes of the input that must not make a plan worse, over generated snapshots."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Role
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import Requirement
from fourleaf.model.plan import Plan
from fourleaf.model.readers import open_paths
from fourleaf.model.readers.text.sources import documents
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import who_values
from fourleaf.solver.batch.solve import solve
from tests.instances import random_snapshot

SEEDS = range(120)
ROOT = Path(__file__).parents[3]


def outcome(snapshot: Snapshot) -> tuple[Plan, dict[int, int]]:
    """The plan and the value placed in each tier."""
    plan = solve(snapshot)
    assert plan is not None
    return plan, {p: v for p, v in who_values(snapshot, plan).items() if v}


def renamed(snapshot: Snapshot) -> Snapshot:
    """Every node under another name, leaves and their order as they were."""
    names = {name: f"host-{len(snapshot.fabric.nodes) - i:03d}-{name[::-1]}"
             for i, name in enumerate(snapshot.fabric.nodes)}  # fmt: skip

    def node(old: Node) -> Node:
        return replace(old, name=names[old.name])

    def term(old: Iterable[Requirement]) -> tuple[Requirement, ...]:
        return tuple(
            replace(r, values=tuple(names.get(v, v) for v in r.values)) if r.is_field else r
            for r in old
        )

    def role(old: Role) -> Role:
        return replace(
            old,
            bound=tuple((pod, names.get(on, on)) for pod, on in old.bound),
            constraint=replace(old.constraint, affinity=tuple(map(term, old.constraint.affinity))),
            preferences=tuple(
                replace(one, requirements=term(one.requirements)) for one in old.preferences
            ),
        )

    fabric = Fabric(
        tuple(
            replace(leaf, nodes=tuple(node(n) for n in leaf.nodes))
            for leaf in snapshot.fabric.leaves
        ),
        snapshot.fabric.adjacency,
        snapshot.fabric.edges,
    )
    running = tuple(replace(p, node=names.get(p.node, p.node)) for p in snapshot.running)
    gangs = tuple(replace(g, roles=tuple(role(r) for r in g.roles)) for g in snapshot.gangs)
    return replace(snapshot, fabric=fabric, running=running, gangs=gangs)


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
def test_renaming_nodes_changes_nothing_that_counts(seed: int) -> None:
    """Tiers and score are the same when every node has another name."""
    snapshot = random_snapshot(seed)
    plan, who = outcome(snapshot)
    other, whose = outcome(renamed(snapshot))
    assert (whose, other.objective) == (who, plan.objective)


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", SEEDS)
def test_shuffling_the_input_changes_nothing(seed: int) -> None:
    """The plan is the same whatever order gangs and running pods come in."""
    snapshot = random_snapshot(seed)
    dice = random.Random(seed)  # noqa: S311 - a shuffle, not a secret
    gangs, running = list(snapshot.gangs), list(snapshot.running)
    dice.shuffle(gangs)
    dice.shuffle(running)
    plan, _ = outcome(snapshot)
    other, _ = outcome(replace(snapshot, gangs=tuple(gangs), running=tuple(running)))
    assert other.placements == plan.placements
    assert other.phantoms == plan.phantoms


OUTLINE = """
from fourleaf.solver.batch.solve import solve
from tests.instances import random_snapshot
for seed in range(40):
    plan = solve(random_snapshot(seed))
    print(seed, plan.placements, plan.waiting, plan.phantoms, plan.objective, plan.bound)
"""


def python(command: str, hash_seed: int, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run `command` in a process of its own, where sets are ordered by this hash seed."""
    return subprocess.run(
        [sys.executable, "-c", command, *arguments],
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
    )


def planned(path: Path, hash_seed: int) -> bytes:
    """What the command prints for `path`, as bytes, in processes with this hash seed."""
    command = "from fourleaf.cli.main import main; main()"
    options = ["plan", "-o", "json", "--no-timings", "-f", str(path)]
    done = python(command, hash_seed, *options)
    assert done.returncode in (0, 3), done.stderr.decode()
    return done.stdout


def test_the_same_input_gives_the_same_bytes() -> None:
    """Neither command nor solver process lets the order of a set into the plan."""
    first, second = (planned(ROOT / "examples", seed) for seed in (1, 2))
    assert json.loads(first)["status"] == "OPTIMAL"
    assert first == second


def test_generated_snapshots_give_the_same_plans() -> None:
    """No order of a set decides any plan, its bound included, over generated snapshots."""
    first, second = (python(OUTLINE, seed) for seed in (1, 2))
    assert first.returncode == 0, first.stderr.decode()
    assert first.stdout == second.stdout


def test_shuffling_the_manifests_changes_nothing_that_counts(tmp_path: Path) -> None:
    """Gangs placed, objective and reasons are the same whatever order the objects come in."""
    objects: list[Any] = []
    for source in open_paths([ROOT / "examples"]):
        for document in documents(source):
            objects += document["items"] if document["kind"] == "List" else [document]
    random.Random(7).shuffle(objects)  # noqa: S311 - a shuffle, not a secret
    path = tmp_path / "shuffled.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))

    def outline(text: bytes) -> dict[str, Any]:
        plan = json.loads(text)
        gangs = {
            (g["namespace"], g["name"]): (g["placed"], g.get("reason"), g.get("message"))
            for g in plan["gangs"]
        }
        return {"gangs": gangs, "objective": plan["objective"], "status": plan["status"]}

    assert outline(planned(path, 1)) == outline(planned(ROOT / "examples", 1))
