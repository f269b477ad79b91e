"""Relocations through the solver process: the same answers, and none that is illegal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import PlanStatus
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import Budget, FreeLeaves, RepairPlan
from fourleaf.model.running_gang import RepairPolicy
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator import defrag_breaches, preemption_breaches, repair_breaches
from fourleaf.solver.process.client import SolverClient
from fourleaf.solver.relocation.repair import repair
from tests.relocations import standing_snapshot
from tests.small import WHOLE, fabric, gang
from tests.solver.process.probes import WORKER
from tests.standing import outage, stood

LIMIT = {"timeLimitSeconds": 20}
WHY = Reason(ReasonKind.NOT_PROVEN)
EIGHT = ("a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3")
W = GangKey("ml", "w")


@pytest.fixture(scope="module")
def client() -> Iterator[SolverClient]:
    """A client with the product's own worker, loaded."""
    with SolverClient() as found:
        assert found.wait_until_ready()
        yield found


def timeless(plan: RepairPlan) -> RepairPlan:
    """The plan without what differs from run to run, and without reasons."""
    stages = tuple(replace(stage, seconds=0.0) for stage in plan.stages)
    lost = tuple(replace(entry, reason=WHY) for entry in plan.lost)
    return replace(plan, stages=stages, seconds=0.0, peak_memory_mib=0, lost=lost)


@pytest.mark.parametrize("seed", range(20))
def test_repair_through_the_process(client: SolverClient, seed: int) -> None:
    """What comes back is what the solver says in this process, with a reason for each loss."""
    snapshot = standing_snapshot(seed)
    plan = client.repair(snapshot)
    direct = repair(snapshot)
    assert direct is not None
    assert timeless(plan) == timeless(direct)
    assert all(entry.reason.kind is not ReasonKind.NOT_PROVEN for entry in plan.lost)
    assert plan.note == ""


def test_light_pods_keep_their_names(client: SolverClient) -> None:
    """Pods without GPUs travel one by one where their gang may move, so that none is lost."""
    light = [stood(f"s{i}", ["a0"], gpus=0, movable=True) for i in range(3)]
    other = RunningPod("other", "agent", "a0", replace(WHOLE, gpus=0, cpu=100, pods=1))
    lost = stood("g", ["b0"], request=replace(WHOLE, gpus=8, pods=9))
    snapshot = outage(fabric([[1, 1, 1]]), *light, lost, dead=["b0"], running=[other], solver=LIMIT)
    plan = client.repair(snapshot)
    assert plan.proven
    assert repair_breaches(snapshot, plan) == ()


def test_reason_of_a_lost_gang(client: SolverClient) -> None:
    """A gang that cannot live is told why: its eight nodes are seven now."""
    plan = client.repair(outage(fabric([[4, 4]]), stood("g", EIGHT), dead=["a0"], solver=LIMIT))
    (lost,) = plan.lost
    assert lost.gang == GangKey("ml", "g")
    assert lost.reason.kind is ReasonKind.NO_MATCHING_NODES
    assert lost.reason.unblock == ("bring a0 back to ready",)


def test_preemption_through_the_process(client: SolverClient) -> None:
    """The one victim that suffices comes back, and a legal place for the gang."""
    snapshot = outage(
        fabric([[2, 2]]),
        *[stood(f"s{i}", [f"a{i}"]) for i in range(2)],
        stood("two", ["b0", "b1"]),
        waiting=[gang("w", 2, priority=5)],
        solver=LIMIT,
    )
    plan = client.preempt(snapshot, W)
    assert plan.proven
    assert [victim.gang.name for victim in plan.victims] == ["two"]
    assert preemption_breaches(snapshot, plan) == ()


def test_preemption_that_cannot_help(client: SolverClient) -> None:
    """Where not even all victims make room, nobody is evicted and the reason is told."""
    snapshot = outage(
        fabric([[2]]), stood("s", ["a0"]), waiting=[gang("w", 3, priority=5)], solver=LIMIT
    )
    plan = client.preempt(snapshot, W)
    assert plan.placement is None
    assert plan.reason is not None
    assert plan.reason.kind is ReasonKind.TOO_LARGE


def test_preemption_for_nobody(client: SolverClient) -> None:
    """A gang that does not wait is named in the error."""
    with pytest.raises(KeyError, match="ml/w"):
        client.preempt(outage(fabric([[2]]), solver=LIMIT), W)


def test_defragmentation_through_the_process(client: SolverClient) -> None:
    """One single joins the other, the pair starts, and a third gang is told why it waits."""
    singles = [stood(f"s{i}", [f"{leaf}0"], movable=True) for i, leaf in enumerate("ab")]
    waiting = [gang("w", 2), gang("x", 2, priority=-1)]
    snapshot = outage(fabric([[2, 2]]), *singles, waiting=waiting, solver=LIMIT)
    plan = client.defragment(snapshot, Budget(1))
    assert plan.proven
    assert len(plan.moves) == 1
    assert [placement.gang for placement in plan.placements] == [W]
    assert plan.after == FreeLeaves(1, 0, 0)
    assert [entry.reason.kind for entry in plan.waiting] != [ReasonKind.NOT_PROVEN]
    assert defrag_breaches(snapshot, plan, Budget(1)) == ()


def failing(**fields: RepairPolicy) -> Snapshot:
    """A gang with a spare node in its leaf has lost a member, and one waits; see `WORKER`."""
    hit = stood("g", ["a0", "a1"], **fields)
    return outage(fabric([[3]]), hit, dead=["a0"], waiting=[gang("aborts", 1)], solver=LIMIT)


def test_dead_solver_still_patches() -> None:
    """Without the solver the lost member is placed beside the others, and nobody moves."""
    with SolverClient(WORKER) as client:
        plan = client.repair(failing())
    assert plan.status is PlanStatus.GREEDY
    assert "SIGABRT" in plan.note
    assert [placement.pods for placement in plan.placements] == [(("g-0-0", "a2"),)]
    assert plan.moves == ()


def test_dead_solver_respects_policies() -> None:
    """A gang that waits for its nodes waits without the solver as well."""
    with SolverClient(WORKER) as client:
        plan = client.repair(failing(policy=RepairPolicy.WAIT))
    assert plan.waits == (GangKey("ml", "g"),)
    assert plan.placements == ()


def test_dead_solver_evicts_and_moves_nobody() -> None:
    """Nothing is evicted or moved on a guess."""
    snapshot = failing()
    with SolverClient(WORKER) as client:
        preemption = client.preempt(snapshot, GangKey("ml", "aborts"))
        defrag = client.defragment(snapshot, Budget(9))
    assert preemption.status is PlanStatus.GREEDY
    assert preemption.victims == ()
    assert preemption.placement is None
    assert defrag.status is PlanStatus.GREEDY
    assert defrag.moves == ()


def test_answer_to_another_question() -> None:
    """A worker that answers a repair with a batch is not believed."""
    snapshot = replace(failing(), gangs=(gang("plain", 1),))
    with SolverClient(WORKER) as client:
        plan = client.repair(snapshot)
    assert plan.status is PlanStatus.GREEDY
    assert "another kind" in plan.note
