"""The benchmark of the solver as a fallback tells what it knows, on clusters made by hand."""

import pytest

from benchmarks.certify.figures import HEADER, columns
from benchmarks.certify.instances import USAGE, WORKLOADS, limited, snapshot
from benchmarks.certify.measure import Case, Verdict, cases, lawful, tiers, values, verdict
from fourleaf.model.aging import AGE_BASE
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.plan import Placement, Plan, PlanStatus, Stage
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.fabric_shape import OFFER, Shape
from fourleaf.simulator.policies.catalogue import policy


def gang(name: str, gpus: int, priority: int) -> Gang:
    """One pod."""
    request = Resources(gpus=gpus, cpu=1000, memory=1 << 30, pods=1)
    return Gang(GangKey("ml", name), (Role((f"{name}-0",), request),), priority)


ONE_NODE = Snapshot(
    Shape.regular(4).fabric(), gangs=(gang("a", 8, 1), gang("b", 4, 0), gang("c", 2, 0))
)


def plan(*placed: str, proven: bool = True) -> Plan:
    """A plan that places these gangs, each on a node of its own."""
    stages = tuple(Stage(f"who {one}", proven, 0, 0, 0.0) for one in (1, 0))
    placements = tuple(
        Placement(GangKey("ml", name), ((f"{name}-0", f"leaf-0-{i}"),))
        for i, name in enumerate(placed)
    )
    return Plan(PlanStatus.FEASIBLE, placements, stages=stages)


@pytest.mark.parametrize(
    ("baseline", "ours", "proven", "said"),
    [
        (("b", "c"), ("a",), False, Verdict.IMPROVED),
        (("a", "c"), ("a", "b"), False, Verdict.IMPROVED),
        (("a", "b"), ("a", "b"), True, Verdict.CERTIFIED),
        (("a", "b"), ("a", "b"), False, Verdict.UNKNOWN),
        (("a", "b"), ("a", "c"), True, Verdict.UNKNOWN),
    ],
)
def test_priorities_decide_before_amounts(
    baseline: tuple[str, ...], ours: tuple[str, ...], proven: bool, said: Verdict
) -> None:
    """One gang of priority 1 beats two below it; the same value needs a proof to be certified."""
    placed = values(ONE_NODE, plan(*baseline))
    assert verdict(ONE_NODE, placed, plan(*ours, proven=proven)) is said


def test_a_priority_without_a_proof_certifies_nothing() -> None:
    """The stage of the lower priority is missing."""
    both = plan("a", "b")
    some = Plan(both.status, both.placements, stages=both.stages[:1])
    assert verdict(ONE_NODE, values(ONE_NODE, both), some) is Verdict.UNKNOWN


def test_values_stand_by_priority() -> None:
    """8 GPUs of priority 1, 4 and 2 of priority 0, all of the first age."""
    assert tiers(ONE_NODE) == [1, 0]
    assert values(ONE_NODE, plan("a", "b", "c")) == (8 * AGE_BASE, 6 * AGE_BASE)
    assert values(ONE_NODE, plan("c")) == (0, 2 * AGE_BASE)


def test_gangs_on_illegal_places_do_not_count() -> None:
    """Four whole nodes fill a leaf; two pods a leaf on two leaves are against the leaf rule."""
    request = Resources(gpus=8, cpu=1000, memory=1 << 30, pods=1)
    names = tuple(f"g-{rank}" for rank in range(4))
    wide = Gang(GangKey("ml", "g"), (Role(names, request),))
    asked = Snapshot(Shape.regular(8).fabric(), gangs=(wide, gang("a", 8, 0)))
    nodes = ("leaf-0-0", "leaf-0-1", "leaf-1-0", "leaf-1-1")
    split = Placement(wide.key, tuple(zip(names, nodes, strict=True)))
    one = Placement(GangKey("ml", "a"), (("a-0", "leaf-0-2"),))
    found = lawful(asked, Plan(PlanStatus.GREEDY, (split, one)))
    assert found.placements == (one,)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_instances_ask_for_what_they_should(workload: str) -> None:
    """90 to 105 % of the cluster, but for the last gang; the same seed gives the same."""
    for seed in range(5):
        instance = snapshot(workload, 32, seed)
        assert instance == snapshot(workload, 32, seed)
        assert 1 <= len(tiers(instance)) <= 4
        for least, name in ((0, "gpus"), (0, "cpu"), (0, "memory")):
            asked = sum(
                getattr(role.request, name) * len(role.pods)
                for one in instance.gangs
                for role in one.roles
            )
            share = asked / (32 * getattr(OFFER, name))
            if name == "gpus" and workload == "pods":
                assert share == least
            else:
                slack = 0.01 if workload == "pods" else 16 / 32
                assert USAGE[0] - 0.01 <= share <= USAGE[1] + slack


def test_the_limit_alone_changes() -> None:
    """All else of the config stays."""
    before = ONE_NODE.config
    after = limited(ONE_NODE, 0.5)
    assert after.spec.solver.time_limit_seconds == 0.5
    assert after.spec.batch == before.spec.batch


def test_small_cases_are_decided_and_legal() -> None:
    """Eight nodes: who greedy leaves waiting is improved or certified, and every plan is legal."""
    found = list(cases("gangs", 8, range(4), (5.0,)))
    greedy = [case for case in found if case.baseline == "greedy"]
    assert greedy
    assert {case.verdict for case in greedy} <= {Verdict.IMPROVED, Verdict.CERTIFIED}
    assert sum(case.breaches for case in found) == 0
    for case in greedy:
        instance = snapshot("gangs", 8, case.seed)
        assert policy("greedy", 0).decide(instance).waiting


def test_answers_after_the_limit_count_for_nothing() -> None:
    """No answer comes within a microsecond: all late and unknown, and what is known stays known."""
    found = [case for case in cases("gangs", 8, range(4), (1e-6, 5.0)) if case.baseline == "greedy"]
    hasty = [case for case in found if case.limit < 1]
    patient = [case for case in found if case.limit > 1]
    assert hasty
    assert all(case.late and case.verdict is Verdict.UNKNOWN for case in hasty)
    assert not any(case.all_placed for case in hasty)
    improved = {case.seed for case in patient if case.verdict is Verdict.IMPROVED}
    assert improved <= {case.seed for case in hasty if case.placeable}
    certified = {case.seed for case in patient if case.verdict is Verdict.CERTIFIED}
    assert not certified & {case.seed for case in found if case.placeable}


def test_shares_are_of_cases() -> None:
    """Of four cases one is improved, two are certified, one came late; two could be improved."""
    verdicts = (Verdict.IMPROVED, Verdict.CERTIFIED, Verdict.CERTIFIED, Verdict.UNKNOWN)
    some = [
        Case("gangs", 8, i, "greedy", 1.0, one, i == 0, True, 0.4 * i, 0, i in (0, 3))
        for i, one in enumerate(verdicts)
    ]
    line = dict(zip(HEADER, columns(("gangs", 8, "greedy", 1.0), 9, some), strict=True))
    assert (line["instances"], line["cases"], line["all placed"]) == ("9", "4", "1")
    assert (line["improved"], line["certified optimal"]) == ("1 (25.0 %)", "2 (50.0 %)")
    assert (line["late"], line["placeable cases"]) == ("1", "2")
    assert line["improved, of placeable"] == "1 (50.0 %)"
    assert columns(("gangs", 8, "greedy", 1.0), 9, [])[6] == "–"
