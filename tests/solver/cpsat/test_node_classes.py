"""Which nodes of a leaf share a node class, and which are in none."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.cpsat.builder import build
from fourleaf.solver.cpsat.residents import Resident
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import gang_groups_for
from fourleaf.solver.objective.scorer import Scorer

NODE = Resources(gpus=8, cpu=64_000, memory=1 << 40, pods=110)
WHOLE = Resources(gpus=8, cpu=8_000, memory=1 << 33, pods=1)
HALF = Resources(gpus=4, cpu=4_000, memory=1 << 32, pods=1)
LEAF = Leaf("l", "s", tuple(Node(f"n{i}", "l", "s", NODE) for i in range(4)))


def node_classes(
    request: Resources,
    running: dict[int, Resources],
    scored: bool = True,
    residents: Sequence[Resident] = (),
) -> set[tuple[int, ...]]:
    """Nodes of each node class that a gang of two pods may use, given what runs on which node."""
    pods = tuple(RunningPod("ml", f"p{i}", f"n{i}", asked) for i, asked in running.items())
    gang = Gang(GangKey("ml", "g"), (Role(("g-0", "g-1"), request),))
    snapshot = Snapshot(Fabric((LEAF,)), pods, (gang,))
    factory = gang_groups_for(snapshot, Extensions())
    state = CycleState(snapshot, factory.fabric)
    groups = factory.for_where((gang,))
    scorer = Scorer(state)
    model = build(state, groups, frozenset(), scorer, scored=scored, residents=residents)
    return {node_class.nodes for node_class, _ in model.groups[0].node_classes[0, 0]}


def test_nodes_without_room_are_in_no_bin() -> None:
    """Of four nodes two are full: the gang has the other two, which are worth the same."""
    assert node_classes(WHOLE, {0: WHOLE, 2: WHOLE}) == {(1, 3)}


def test_nodes_of_different_comfort_are_kept_apart_where_places_are_compared() -> None:
    """Node 1 has less CPU and memory left than 2 and 3; to be counted they are all the same."""
    running = {0: WHOLE, 1: HALF}
    assert node_classes(HALF, running) == {(1,), (2, 3)}
    assert node_classes(HALF, running, scored=False) == {(1, 2, 3)}


def test_nodes_that_a_gang_may_leave_count_although_they_are_full() -> None:
    """Whoever stands on node 0 may stay there, so the room of the leaf is that of all nodes."""
    stays = Resident("x", ((0, WHOLE, 1),))
    assert node_classes(WHOLE, {0: WHOLE}, scored=False, residents=(stays,)) == {(0, 1, 2, 3)}
