"""The metrics, read as Prometheus reads them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from fourleaf.k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS, PODS
from fourleaf.k8s_bridge.informers import Pulse
from fourleaf.k8s_bridge.node_health.judge import NodeVerdict
from fourleaf.k8s_bridge.relocation.records import UNWANTED, Purpose
from fourleaf.k8s_bridge.reporting import fabric_usage as module
from fourleaf.k8s_bridge.reporting.fabric_usage import FabricUsage, fabric_usage
from fourleaf.k8s_bridge.reporting.metrics import CYCLE_STATUSES, SchedulerMetrics
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.plan import Placement, Plan, PlanStatus, Stage, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from tests import small
from tests.twins.virtual_clock import VirtualClock

SEEDS = {
    "topology_scheduler_placement_duration_seconds",
    "topology_scheduler_recovery_duration_seconds",
    "topology_scheduler_domain_fragmentation_ratio",
    "topology_scheduler_latency_seconds",
    "topology_domain_utilization_ratio",
    "topology_gpu_allocation_ratio",
    "topology_placement_decisions",
    "topology_recovery_duration_seconds",
}
OURS = {
    "fourleaf_cycle_status",
    "fourleaf_cycle_seconds",
    "fourleaf_plan_gap",
    "fourleaf_pending_gangs",
    "fourleaf_commit_conflicts",
    "fourleaf_watch_age_seconds",
    "fourleaf_watch_stale",
    "fourleaf_event_to_model_seconds",
    "fourleaf_leader",
    "fourleaf_config_valid",
    "fourleaf_api_requests",
    "fourleaf_evictions",
    "fourleaf_relocations",
    "fourleaf_nodes",
    "fourleaf_unrepaired_gangs",
    "fourleaf_ledger_records",
    "fourleaf_build_info",
    "fourleaf_namespace_used_gpus",
    "fourleaf_namespace_pending_gpus",
    "fourleaf_namespace_pending_gangs",
    "fourleaf_namespace_longest_wait_seconds",
    "fourleaf_namespace_quota_gpus",
    "fourleaf_namespace_wait_seconds",
}
PROCESS = {
    "process_cpu_seconds",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_virtual_memory_bytes",
}


def value(metrics: SchedulerMetrics, name: str, **labels: str) -> float | None:
    """One sample as it stands in the registry."""
    return metrics.registry.get_sample_value(name, labels)


def holds(node: str, gpus: int, cpu: int = 0) -> RunningPod:
    """A pod on `node`."""
    return RunningPod("ml", f"p-{node}", node, Resources(gpus=gpus, cpu=cpu))


def test_the_page_has_all_names_with_help() -> None:
    """A parser finds the seeds' names and ours (counters lose their `_total`), all described."""
    text = generate_latest(SchedulerMetrics().registry).decode()
    families = {
        family.name: family
        for family in text_string_to_metric_families(text)
        if not family.name.endswith("_created")
    }
    assert set(families) == SEEDS | OURS | PROCESS
    assert all(family.documentation.endswith(".") for family in families.values())


def test_fragmentation_is_the_free_share_outside_whole_leaves() -> None:
    """Leaf a (2 nodes) is free: 16 GPUs; of leaf b's 16 there are 4 taken: 12 of 28 are apart."""
    use = fabric_usage(small.snapshot(small.fabric([[2, 2]]), running=[holds("b0", 4)]))
    assert use == FabricUsage(12 / 28, 4 / 32, (("a", 0.0), ("b", 0.25)))


def test_cordoned_nodes_break_no_leaf_and_offer_nothing() -> None:
    """Leaf a without its cordoned node is wholly free: 8 of 8 free GPUs are in a whole leaf."""
    nodes = (small.node("a0", "a"), small.node("a1", "a", cordoned=True))
    world = small.snapshot(Fabric((Leaf("a", "s0", nodes),)), running=[holds("a1", 8)])
    assert fabric_usage(world) == FabricUsage(0.0, 0.5, (("a", 0.5),))


def test_a_full_fabric_and_none_at_all_are_not_fragmented() -> None:
    """Without free GPUs there is nothing that could be apart; overcommitted counts as full."""
    full = fabric_usage(small.snapshot(small.fabric([[1]]), running=[holds("a0", 12)]))
    assert full == FabricUsage(0.0, 1.0, (("a", 1.0),))
    assert fabric_usage(small.snapshot(Fabric(()))) == FabricUsage(0.0, 0.0, ())


def test_pods_without_gpus_break_no_leaf() -> None:
    """A CPU pod leaves all GPUs of its leaf free."""
    use = fabric_usage(small.snapshot(small.fabric([[2]]), running=[holds("a0", 0, cpu=500)]))
    assert use.fragmentation == 0


def test_room_is_not_worked_out_for_the_metrics() -> None:
    """What pods hold beside GPUs, thousands of names perhaps, is not looked at."""
    world = small.snapshot(small.fabric([[2]]), running=[holds("a0", 4)])
    fabric_usage(world)
    assert "free" not in vars(world)


def test_large_fabrics_are_reported_by_spine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three leaves are more than two: the spines s0 (2 leaves, half taken) and s1 stand in."""
    monkeypatch.setattr(module, "DOMAIN_LIMIT", 2)
    running = [holds("a0", 8)]
    use = fabric_usage(small.snapshot(small.fabric([[1, 1], [1]]), running=running))
    assert use.domains == (("s0", 0.5), ("s1", 0.0))


def test_domains_that_are_gone_are_no_longer_reported() -> None:
    """After a second report only its domains are there."""
    metrics = SchedulerMetrics()
    metrics.fabric(FabricUsage(0.5, 0.25, (("old", 1.0),)))
    metrics.fabric(FabricUsage(0.5, 0.25, (("new", 0.75),)))
    assert value(metrics, "topology_domain_utilization_ratio", domain="old") is None
    assert value(metrics, "topology_domain_utilization_ratio", domain="new") == 0.75
    assert value(metrics, "topology_scheduler_domain_fragmentation_ratio") == 0.5
    assert value(metrics, "topology_gpu_allocation_ratio") == 0.25


def test_a_decided_plan_counts_its_gangs_by_result_and_reason() -> None:
    """3 placements of which 1 was dropped, 2 waiting: 2, 1 and 2; 10 of 110 rounded up."""
    keys = [small.gang(name, 1).key for name in "abcde"]
    plan = Plan(
        PlanStatus.FEASIBLE,
        tuple(Placement(key, ()) for key in keys[:3]),
        tuple(Waiting(key, Reason(ReasonKind.TOO_LARGE)) for key in keys[3:]),
        stages=(Stage("where", False, 100, 110, 0.1),),
    )
    metrics = SchedulerMetrics()
    metrics.decided(plan, rejected=1, seconds=0.2)
    decisions = "topology_placement_decisions_total"
    assert value(metrics, decisions, result="placed") == 2
    assert value(metrics, decisions, result="dropped") == 1
    assert value(metrics, decisions, result="waiting") == 2
    assert value(metrics, "fourleaf_plan_gap") == 0.090910
    assert value(metrics, "fourleaf_pending_gangs", reason="TooLarge") == 2
    assert value(metrics, "topology_scheduler_placement_duration_seconds_sum") == 0.2
    metrics.decided(replace(plan, placements=(), waiting=()), seconds=9)
    assert value(metrics, "fourleaf_pending_gangs", reason="TooLarge") == 0
    assert value(metrics, "topology_scheduler_placement_duration_seconds_count") == 1


def test_a_greedy_plan_has_no_gap() -> None:
    """Nobody looked for better ones, so the gap is not 0, which would mean proven."""
    metrics = SchedulerMetrics()
    metrics.decided(Plan(PlanStatus.GREEDY, ()))
    gap = value(metrics, "fourleaf_plan_gap")
    assert gap is not None
    assert math.isnan(gap)


def test_cycles_count_by_status_and_unknown_words_make_no_series() -> None:
    """Only the listed statuses exist, from the start."""
    metrics = SchedulerMetrics()
    metrics.cycle("OPTIMAL", {"solve": 0.03, "commit": 0.01})
    metrics.cycle("whatever went wrong", {})
    counts = {s: value(metrics, "fourleaf_cycle_status_total", status=s) for s in CYCLE_STATUSES}
    assert counts == {"OPTIMAL": 1, "FEASIBLE": 0, "GREEDY": 0, "EMPTY": 0, "FAILED": 1}
    assert value(metrics, "fourleaf_cycle_seconds_sum", phase="solve") == 0.03


def test_both_recovery_histograms_hear_of_a_recovery() -> None:
    """The seeds name two; a preemption, or a repair that was given up, is no recovery."""
    metrics = SchedulerMetrics()
    metrics.relocated(Purpose.REPAIR, "", 12.5)
    metrics.relocated(Purpose.REPAIR, "others have taken its places", 300)
    metrics.relocated(Purpose.REPAIR, UNWANTED, 300)
    metrics.relocated(Purpose.PREEMPTION, "", 7)
    assert value(metrics, "topology_recovery_duration_seconds_sum") == 12.5
    assert value(metrics, "topology_scheduler_recovery_duration_seconds_sum") == 12.5
    ended = "fourleaf_relocations_total"
    for result in ("served", "given up", "unwanted"):
        assert value(metrics, ended, purpose="repair", result=result) == 1


def test_each_verdict_on_nodes_is_explained() -> None:
    """Who meets `verdict="returning"` finds what it means in the metric's own help."""
    (family,) = [
        one for one in SchedulerMetrics().registry.collect() if one.name == "fourleaf_nodes"
    ]
    assert [
        verdict for verdict in NodeVerdict if f"{verdict.value}" not in family.documentation
    ] == []


def test_what_the_bridge_does() -> None:
    """Each method moves its metric by what it was given."""
    metrics = SchedulerMetrics()
    metrics.bound(3, "ml")
    metrics.conflicts(2)
    metrics.learnt(0.004)
    metrics.leading(True)
    metrics.config(False)
    clock = VirtualClock()
    pods, groups = Pulse(PODS, clock), Pulse(COSCHEDULING_POD_GROUPS, clock)
    pods.listed()
    metrics.watches({PODS: pods.read(), COSCHEDULING_POD_GROUPS: groups.read()}, now=1.5)
    assert value(metrics, "topology_scheduler_latency_seconds_sum") == 3
    assert value(metrics, "fourleaf_namespace_wait_seconds_sum", gang_namespace="ml") == 3
    assert value(metrics, "fourleaf_commit_conflicts_total") == 2
    assert value(metrics, "fourleaf_event_to_model_seconds_bucket", le="0.005") == 1
    assert value(metrics, "fourleaf_event_to_model_seconds_bucket", le="0.0025") == 0
    assert value(metrics, "fourleaf_leader") == 1
    assert value(metrics, "fourleaf_config_valid") == 0
    assert value(metrics, "fourleaf_watch_age_seconds", kind="pods") == 1.5
    assert value(metrics, "fourleaf_watch_stale", kind="pods") == 0
    named = "podgroups.scheduling.x-k8s.io"
    assert value(metrics, "fourleaf_watch_age_seconds", kind=named) == math.inf
    assert value(metrics, "fourleaf_watch_stale", kind=named) == 1


def test_requests_are_given_as_totals() -> None:
    """10, then 15, then a client that starts again at 3: a counter of 10, 15 and 15."""
    metrics = SchedulerMetrics()
    labels = {"verb": "patch", "kind": "leases", "status": "409"}
    seen = []
    for total in (10, 15, 3):
        metrics.requests({("patch", "leases", 409): total})
        seen.append(value(metrics, "fourleaf_api_requests_total", **labels))
    assert seen == [10, 15, 15]
