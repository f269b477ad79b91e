"""The three ways to recover, on the same failure."""

from collections.abc import Iterator

import pytest

from fourleaf.model.validator import Breach, Law
from fourleaf.simulator import defragmentation
from fourleaf.simulator.defragmentation import defragment
from fourleaf.simulator.measures.summary import summarise
from fourleaf.simulator.measures.tables import tables
from fourleaf.simulator.node_failures import Outage
from fourleaf.simulator.options import DefragmentationOptions, FailureModel, Recovery, ReplayOptions
from fourleaf.simulator.policies.cpsat import CpSatPolicy
from fourleaf.simulator.policies.first_fit import FirstFitPolicy
from fourleaf.simulator.policies.greedy import Greedy
from fourleaf.simulator.policies.spread import Spread
from fourleaf.simulator.recovery import repair
from fourleaf.simulator.recovery.patch import Patch
from fourleaf.simulator.recovery.protocol import Rescuer
from fourleaf.simulator.recovery.repair import SolverRepair
from fourleaf.simulator.recovery.restart import Restart
from fourleaf.simulator.recovery.steps import fail, rescuer
from fourleaf.simulator.running_gang import FULL
from fourleaf.simulator.world import ReplayState
from fourleaf.solver.batch.greedy import greedy_plan
from tests.simulator.made import job, leaves, options
from tests.simulator.worlds import key, nodes, world

PAIR = job("a", 0, 1000, pods=2)
COSTS = options(failures=FailureModel(1.0, checkpoint=300, restart=20))


@pytest.fixture(scope="module")
def solver() -> Iterator[CpSatPolicy]:
    """One solver process for all tests of this file."""
    policy = CpSatPolicy()
    yield policy
    policy.close()


def failed(made: ReplayState, ways: Rescuer, node: str = "leaf-0-0", at: int = 400) -> ReplayState:
    """Let a node fail for long."""
    made.now = at
    assert fail(made, Outage(node, at, 100_000), ways)
    return made


def test_a_restart_queues_the_gang_with_what_is_left() -> None:
    """After 400 s the checkpoint at 300 counts: 700 s of work are left, and 20 of standstill."""
    made = failed(world(leaves(3), COSTS, {PAIR: ["leaf-0-0", "leaf-0-1"]}), Restart())
    assert not made.cluster.running
    entry = made.waiting[key("a")]
    assert (entry.left, entry.stall) == (700 * FULL, 20 * FULL)
    line = made.record.gangs["a"]
    assert (line.lost, line.stalled, line.restarts) == (100 * 16 * FULL, 20 * 16 * FULL, 1)


def test_a_standstill_that_begins_anew_is_counted_once() -> None:
    """Hit at 400, and at 410 again: 10 s of the first standstill have passed, and 20 are to come.

    From 430 on 700 s of work are left: the two nodes are held for 1130 s, of which 1000 are its
    own work, 100 are done again and 30 are the standstill.
    """
    made = failed(world(leaves(4), COSTS, {PAIR: ["leaf-0-0", "leaf-0-1"]}), Patch(greedy_plan))
    failed(made, Patch(greedy_plan), "leaf-0-1", 410)
    line = made.record.gangs["a"]
    assert (line.lost, line.stalled) == (100 * 16 * FULL, 30 * 16 * FULL)
    assert made.cluster.running[key("a")].end() == 1000 + 100 + 30


def test_a_patch_fills_the_gap() -> None:
    """The third node of the leaf takes the lost member; the other stays, and it ends at 1120."""
    made = failed(world(leaves(3), COSTS, {PAIR: ["leaf-0-0", "leaf-0-1"]}), Patch(greedy_plan))
    assert nodes(made, "a") == ["leaf-0-2", "leaf-0-1"]
    assert made.cluster.running[key("a")].end() == 400 + 20 + 700
    counts = made.record.counts
    assert (counts.hit, counts.kept, counts.moves) == (1, 1, 0)


def test_a_patch_cannot_move_who_lives() -> None:
    """No second node is left in the leaf, so the gang starts over although another is free."""
    made = failed(world(leaves(2, 2), COSTS, {PAIR: ["leaf-0-0", "leaf-0-1"]}), Patch(greedy_plan))
    assert list(made.waiting) == [key("a")]
    assert made.record.counts.kept == 0


def test_repair_moves_who_lives(solver: CpSatPolicy) -> None:
    """The same case, repaired: both go to the other leaf, which is one move."""
    standing = {PAIR: ["leaf-0-0", "leaf-0-1"]}
    made = failed(world(leaves(2, 2), COSTS, standing), SolverRepair(solver))
    assert sorted(nodes(made, "a")) == ["leaf-1-0", "leaf-1-1"]
    counts = made.record.counts
    assert (counts.kept, counts.moves, dict(counts.breaches)) == (1, 1, {})
    assert made.record.gangs["a"].moves == 1


def test_repair_moves_others_where_they_may(solver: CpSatPolicy) -> None:
    """B holds a node of the only other leaf of two; it goes where one is free, and a lives.

    b, which lost nobody, falls back to its checkpoint as well: 700 s of work are left to it.
    """
    movable = options(failures=FailureModel(1.0, checkpoint=300, restart=20, movable=True))
    standing = {PAIR: ["leaf-0-0", "leaf-0-1"], job("b", 0, 1000): ["leaf-1-0"]}
    for told, lives in ((COSTS, False), (movable, True)):
        made = failed(world(leaves(2, 2), told, standing), SolverRepair(solver))
        assert (key("a") in made.cluster.running) is lives
    assert sorted(nodes(made, "a")) == ["leaf-1-0", "leaf-1-1"]
    assert nodes(made, "b") == ["leaf-0-1"]
    assert made.cluster.running[key("b")].end() == 1120
    assert made.record.counts.moves == 2


def test_who_was_not_hit_goes_on() -> None:
    """A gang on other nodes keeps its end, and its books."""
    standing = {PAIR: ["leaf-0-0", "leaf-0-1"], job("b", 0, 1000): ["leaf-0-2"]}
    made = failed(world(leaves(3), COSTS, standing), Restart())
    assert made.cluster.running[key("b")].end() == 1000
    assert (made.cluster.books.used, made.cluster.books.failed) == (8, 8)


def test_defragmentation_makes_a_leaf(solver: CpSatPolicy) -> None:
    """Two single gangs stand in two leaves of two; one joins the other, and the pair fits."""
    told = ReplayOptions(defragmentation=DefragmentationOptions(every=1, moves=1))
    standing = {job("x", 0, 1000): ["leaf-0-0"], job("y", 0, 1000): ["leaf-1-0"]}
    made = world(leaves(2, 2), told, standing)
    made.submit(job("pair", 0, 50, pods=2))
    defragment(made, solver)
    leaf_of = made.cluster.base.leaf_of
    assert len({leaf_of[nodes(made, name)[0]] for name in ("x", "y")}) == 1
    assert (made.record.counts.moves, dict(made.record.counts.breaches)) == (1, {})


def test_each_name_gives_its_way(solver: CpSatPolicy) -> None:
    """A baseline is repaired by a solver as well, and not without one."""
    assert isinstance(rescuer(Recovery.RESTART, FirstFitPolicy(), None), Restart)
    assert isinstance(rescuer(Recovery.PATCH, FirstFitPolicy(), None), Patch)
    assert isinstance(rescuer(Recovery.REPAIR, FirstFitPolicy(), solver), SolverRepair)
    with pytest.raises(ValueError, match="needs a solver"):
        rescuer(Recovery.REPAIR, FirstFitPolicy(), None)


def test_spread_patches_where_the_leaf_rule_would_not() -> None:
    """The leaf of the pair is full: by the rule it starts over, on any free node it lives on.

    That is one gang at fault, and the table shows it.
    """
    standing = {PAIR: ["leaf-0-0", "leaf-0-1"]}
    kept = {}
    for policy in (Greedy(), Spread(0)):
        made = failed(world(leaves(2, 2), COSTS, standing), rescuer(Recovery.PATCH, policy, None))
        kept[type(policy)] = made.record.counts.kept
    assert kept == {Greedy: 0, Spread: 1}
    found = summarise(made.record)
    assert (found.broken, found.breaches) == (1, 1)
    (row,) = tables([("spread", made.record, found)])[0].rows
    assert "1" in row[8:10]


def test_what_a_repair_or_a_move_breaks_is_shown(
    solver: CpSatPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A validator that finds three faults in whatever it sees: two of a, one of nobody."""
    faults = (
        Breach(Law.LOCATION, key("a"), "a", "made up"),
        Breach(Law.LOCATION, key("a"), "a", "made up"),
        Breach(Law.LOCATION, None, "", "made up"),
    )
    monkeypatch.setattr(repair, "repair_breaches", lambda *_: faults)
    monkeypatch.setattr(defragmentation, "defrag_breaches", lambda *_: faults)
    made = failed(world(leaves(3), COSTS, {PAIR: ["leaf-0-0", "leaf-0-1"]}), SolverRepair(solver))
    found = summarise(made.record)
    assert (found.broken, found.breaches) == (2, 3)
    defragment(made, solver)
    assert (summarise(made.record).broken, summarise(made.record).breaches) == (4, 6)
