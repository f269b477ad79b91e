"""Whatever the solver process does, a legal plan comes back in time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from fourleaf.model.config.spec import Batch
from fourleaf.model.extensions import Extensions
from fourleaf.model.plan import Plan, PlanStatus, Stage
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import validate
from fourleaf.solver.process.client import SolverClient
from fourleaf.solver.process.guarded_call import own_steps
from tests.solver.process.probes import LIMIT, ON_LINUX, WORKER, errands_end, gone, plan_with_fault
from tests.solver.process.stand_ins import fabric, lazy_greedy, seat, snapshot, steps

NOISE = 0.5
"""Seconds that a busy test machine may add; `benchmarks/worker.py` measures the strict 0.2."""

FAULTS = {
    "exits": "status 7",
    "aborts": "SIGABRT",
    "segfaults": "SIGSEGV",
    "stops": "did not answer in time",
    "spins": "did not answer in time",
    "garbage": "makes no sense",
    "nonsense": "makes no sense",
    "pickles": "makes no sense",
    "wrong-type": "makes no sense",
    "half": "did not answer in time",
    "endless": "makes no sense",
    "stale": "not asked",
    "closes": "closed its pipe",
    "floods-stdout": "printed more",
    "floods-stderr": "printed more",
    "raises": "ValueError negative capacity",
    "illegal": "illegal",
}
MEMORY_FAULTS = {"eats": "MemoryError", "eats-and-aborts": "SIGABRT"}
FILLING = 15.0
"""Seconds within which even a busy machine has filled the memory that a worker may take."""


@pytest.fixture
def client() -> Iterator[SolverClient]:
    """A client whose worker has loaded and answered."""
    with SolverClient(WORKER, steps()) as found:
        assert found.plan(snapshot("warm-up")).status is PlanStatus.OPTIMAL
        yield found


def check_fault(client: SolverClient, name: str, why: str, limit: float = LIMIT) -> None:
    """Assert everything that a caller is promised about a bad worker."""
    plan, logs, outer = plan_with_fault(client, name, limit)
    assert plan.status is PlanStatus.GREEDY
    assert len(plan.placements) == 2
    assert why in plan.note
    assert [log["log_level"] for log in logs] == ["warning"]
    assert why in logs[0]["why"]
    assert client.seconds <= limit + 0.2 + NOISE
    assert outer <= limit + 2
    assert gone(logs[0]["pid"])
    assert client.plan(snapshot("next")).status is PlanStatus.OPTIMAL


def test_good_answer_comes_through(client: SolverClient) -> None:
    """A worker that works delivers its plan, its stages and its peak memory."""
    heard: list[Stage] = []
    plan = client.plan(snapshot("a", "b"), on_stage=heard.append)
    assert plan.status is PlanStatus.OPTIMAL
    assert [str(placement.gang) for placement in plan.placements] == ["ml/a", "ml/b"]
    assert [stage.name for stage in heard] == ["who"]
    assert 5 < plan.peak_memory_mib < 1000


@pytest.mark.parametrize("name", sorted(FAULTS))
def test_bad_child_costs_optimality_alone(client: SolverClient, name: str) -> None:
    """Each fault yields the greedy plan in time, one warning, and a new worker afterwards."""
    check_fault(client, name, FAULTS[name])


@ON_LINUX
@pytest.mark.parametrize("name", sorted(MEMORY_FAULTS))
def test_memory_is_bounded(client: SolverClient, name: str) -> None:
    """A worker that takes memory without end meets its limit, not the machine's."""
    check_fault(client, name, MEMORY_FAULTS[name], FILLING)


def test_no_time_for_a_plan_is_no_fault_of_the_child(client: SolverClient) -> None:
    """A worker that found nothing in time stays; the plan is greedy."""
    plan, logs, _ = plan_with_fault(client, "finds-nothing")
    assert plan.status is PlanStatus.GREEDY
    assert not logs[0]["killed"]
    assert "fabrics=1" in client.plan(snapshot("next")).note


def test_fabric_is_sent_once(client: SolverClient) -> None:
    """Cycles on one fabric share the object in the worker; a new fabric is a new object."""
    assert "fabrics=1" in client.plan(snapshot("a")).note
    assert "fabrics=1" in client.plan(snapshot("b")).note
    assert "fabrics=2" in client.plan(snapshot("c", on=fabric())).note


def test_config_in_the_child_does_not_jitter(client: SolverClient) -> None:
    """The worker's limit is the same from call to call, below the parent's own."""
    notes = {client.plan(snapshot("a")).note for _ in range(3)}
    assert notes == {"fabrics=1 seconds=17.000 extensions=True"}


def test_extensions_can_be_left_out(client: SolverClient) -> None:
    """The worker hears whether extensions take part."""
    plan = client.plan(snapshot("a"), extensions_enabled=False)
    assert plan.note.endswith("extensions=False")


def test_greedy_plan_that_places_more_beats_an_unproven_one(client: SolverClient) -> None:
    """An unproven plan that places less in the first differing priority is not used."""
    plan, _, _ = plan_with_fault(client, "misses-one")
    assert plan.status is PlanStatus.GREEDY
    assert "places more" in plan.note


def test_unproven_plan_that_places_more_is_kept() -> None:
    """An unproven plan is used where the greedy one is no better."""
    with SolverClient(WORKER, steps(greedy=lazy_greedy)) as client:
        plan = client.plan(snapshot("misses-one", "other"))
    assert plan.status is PlanStatus.FEASIBLE


def test_false_proof_is_not_believed(client: SolverClient) -> None:
    """A plan said to be optimal that places less than the greedy one at hand is not used."""
    plan = client.plan(snapshot("false-proof", "other"))
    assert plan.status is PlanStatus.GREEDY
    assert len(plan.placements) == 2
    assert "said to be optimal" in plan.note


def test_illegal_greedy_plan_is_not_used(client: SolverClient) -> None:
    """Where even the greedy plan is illegal, nothing is placed and an error is logged."""

    def bad(state: Snapshot, extensions: Extensions, until: float) -> Plan:
        return seat(state, PlanStatus.GREEDY, node="nowhere")

    with SolverClient(WORKER, steps(greedy=bad)) as careless, capture_logs() as logs:
        plan = careless.plan(snapshot("raises", "other"))
    assert plan.status is PlanStatus.GREEDY
    assert not plan.placements
    assert [str(waiting.gang) for waiting in plan.waiting] == ["ml/raises", "ml/other"]
    assert [log["log_level"] for log in logs] == ["warning", "error"]


def test_only_the_illegal_gang_is_left_out() -> None:
    """Of three gangs one has a member twice: it alone waits, told what is wrong with it."""
    world = snapshot("raises", "twice", "fine")
    first, odd, last = world.gangs
    odd = replace(odd, roles=(replace(odd.roles[0], pods=("twice-0", "twice-0")),))
    world = replace(world, gangs=(first, odd, last))
    with SolverClient(WORKER, own_steps()) as client, capture_logs():
        plan = client.plan(world)
    assert [str(one.gang) for one in plan.placements] == ["ml/raises", "ml/fine"]
    assert validate(world, plan) == ()
    assert [str(one.gang) for one in plan.waiting] == ["ml/twice"]
    assert plan.waiting[0].reason.kind is ReasonKind.INVALID
    assert "twice-0" in plan.waiting[0].reason.detail


def endless(state: Snapshot, *rest: object) -> Plan:
    """Never come to an end."""
    while True:
        pass


@pytest.mark.parametrize("part", ["greedy", "explain"])
def test_own_steps_cannot_overrun_either(part: str) -> None:
    """A greedy plan or reasons that never get done do not keep the call from returning."""
    broken = steps(greedy=endless) if part == "greedy" else steps(explain=endless)
    with SolverClient(WORKER, broken) as client:
        plan, logs, outer = plan_with_fault(client, "raises")
    assert plan.status is PlanStatus.GREEDY
    assert logs[-1]["log_level"] == "error"
    assert outer <= LIMIT + 2
    assert errands_end()


def test_proof_does_not_wait_for_the_greedy_plan() -> None:
    """An optimal plan is returned although the greedy one is not done."""
    with SolverClient(WORKER, steps(greedy=endless)) as client:
        assert client.plan(snapshot("a")).status is PlanStatus.OPTIMAL
    assert errands_end()


def test_a_plan_of_our_own_for_many_gangs_is_made_only_where_the_worker_is_late() -> None:
    """For 2 gangs at once, for 17 where the worker fails, is no better, or takes a fifth of 2 s."""
    made = list[int]()

    def counted(state: Snapshot, extensions: Extensions, until: float) -> Plan:
        made.append(len(state.gangs))
        return seat(state, PlanStatus.GREEDY)

    others = [f"other-{n}" for n in range(16)]
    with SolverClient(WORKER, steps(greedy=counted)) as client, capture_logs():
        assert client.plan(snapshot("a", "b")).status is PlanStatus.OPTIMAL
        assert client.plan(snapshot("a", *others)).status is PlanStatus.OPTIMAL
        assert errands_end()
        assert made == [2]
        assert client.plan(snapshot("misses-one", *others)).status is PlanStatus.GREEDY
        assert client.plan(snapshot("raises", *others)).status is PlanStatus.GREEDY
        assert client.plan(snapshot("stops", *others, limit=2.0)).status is PlanStatus.GREEDY
    assert made == [2, 17, 17, 17]


def test_who_is_not_in_the_batch_takes_none_of_the_workers_time() -> None:
    """Of three gangs one is in the batch: it alone is asked about, and all three are answered."""
    asked: list[int] = []

    def explained(state: Snapshot, plan: Plan, *_: object) -> Plan:
        asked.append(len(state.gangs))
        return plan

    world = snapshot("a", "b", "c")
    spec = world.config.spec.model_copy(update={"batch": Batch(size=1)})
    world = replace(world, config=world.config.model_copy(update={"spec": spec}))
    with SolverClient(WORKER, steps(explain=explained)) as client:
        plan = client.plan(world)
    assert asked == [1]
    assert [one.gang.name for one in plan.placements] == ["a"]
    waiting = [(one.gang.name, one.reason.kind) for one in plan.waiting]
    assert waiting == [("b", ReasonKind.NOT_IN_BATCH), ("c", ReasonKind.NOT_IN_BATCH)]


def test_second_caller_is_not_kept_waiting(client: SolverClient) -> None:
    """A call that finds the worker busy with another call returns a greedy plan in time."""
    other = threading.Thread(target=lambda: client.plan(snapshot("spins", limit=4 * LIMIT)))
    other.start()
    time.sleep(0.3)
    plan, _, outer = plan_with_fault(client, "a")
    other.join()
    assert "busy" in plan.note
    assert outer <= LIMIT + 2


def test_error_of_the_listener_is_raised(client: SolverClient) -> None:
    """What `on_stage` raises reaches the caller, and the next call works."""

    def complain(stage: Stage) -> None:
        raise KeyError(stage.name)

    with pytest.raises(KeyError):
        client.plan(snapshot("a"), on_stage=complain)
    assert client.plan(snapshot("b")).status is PlanStatus.OPTIMAL


def test_the_product_plans_with_its_own_parts() -> None:
    """The real solver, validator and greedy plan agree on a small batch, proven optimal."""
    heard: list[Stage] = []
    with SolverClient() as client:
        plan = client.plan(snapshot("a", "b"), on_stage=heard.append)
    assert plan.status is PlanStatus.OPTIMAL, plan.note
    assert len(plan.placements) == 2
    assert tuple(heard) == plan.stages
    assert plan.peak_memory_mib > 50
