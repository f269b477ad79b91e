"""Metrics for Prometheus, with a registry of their own.

Every label has few values: kinds of reasons, of objects, of answers, and as many domains and
namespaces as `fabric_usage` and `namespace_metrics` list at most.
"""

from __future__ import annotations

import math
from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from functools import partial

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector

from fourleaf.k8s_bridge.cluster.kinds import Kind
from fourleaf.k8s_bridge.informers.health import Health, ReflectorState
from fourleaf.k8s_bridge.ledger.format_usage import LedgerUse
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN
from fourleaf.k8s_bridge.node_health.judge import NodeVerdict
from fourleaf.k8s_bridge.relocation.records import UNWANTED, Purpose
from fourleaf.k8s_bridge.reporting.build_info import own_version
from fourleaf.k8s_bridge.reporting.fabric_usage import FabricUsage
from fourleaf.k8s_bridge.reporting.namespace_metrics import NamespaceMetrics
from fourleaf.k8s_bridge.reporting.namespace_use import NamespaceUse
from fourleaf.k8s_bridge.runtime.metric_registry import new_registry
from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.reasons.kinds import ReasonKind

EMPTY = "EMPTY"
FAILED = "FAILED"
CYCLE_STATUSES = (*(status.value for status in PlanStatus), EMPTY, FAILED)
"""What a cycle can come to: a plan, nothing to decide, or an error."""

RESULTS = ("placed", "waiting", "dropped")
"""What a decision can come to; `dropped`: placed, but its commit did not take."""

_SHORT = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_LONG = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 900.0, 3600.0)


class SchedulerMetrics:
    """All metrics of one process. One method for each thing that happens."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or new_registry()
        self._new_counter = partial(Counter, registry=self.registry)
        self._new_gauge = partial(Gauge, registry=self.registry)
        self._new_histogram = partial(Histogram, registry=self.registry)
        self._requested: dict[tuple[str, str, int], int] = {}
        self._make_seeds()
        self._make_cycle()
        self._make_relocations()
        self._make_bridge()
        self._namespaces = NamespaceMetrics(self.registry, _LONG)
        self._make_process()

    def _make_seeds(self) -> None:
        self._placement = self._new_histogram(
            "topology_scheduler_placement_duration_seconds",
            "Seconds from the start of a cycle to its commit, for cycles that placed something.",
            buckets=_SHORT,
        )
        self._recoveries = (
            self._new_histogram(
                "topology_scheduler_recovery_duration_seconds",
                "Seconds from noticing a failure to the binding of the last replacement.",
                buckets=_LONG,
            ),
            self._new_histogram(
                "topology_recovery_duration_seconds",
                "The same as topology_scheduler_recovery_duration_seconds.",
                buckets=_LONG,
            ),
        )
        self._latency = self._new_histogram(
            "topology_scheduler_latency_seconds",
            "Seconds that a gang waited, from when it could first be planned until it was bound.",
            buckets=_LONG,
        )
        self._fragmentation = self._new_gauge(
            "topology_scheduler_domain_fragmentation_ratio",
            "Share of the free GPUs that are not in a wholly free leaf.",
        )
        self._utilization = self._new_gauge(
            "topology_domain_utilization_ratio",
            "Share of the GPUs of a leaf (of a spine on large fabrics) that is in use.",
            ["domain"],
        )
        self._allocation = self._new_gauge(
            "topology_gpu_allocation_ratio", "Share of all GPUs that is in use."
        )
        self._decisions = self._new_counter(
            "topology_placement_decisions_total",
            "Decisions about gangs, one for each gang of each cycle, by result.",
            ["result"],
        )
        for result in RESULTS:
            self._decisions.labels(result)

    def _make_cycle(self) -> None:
        self._statuses = self._new_counter(
            "fourleaf_cycle_status_total", "Cycles, by how much is known of their plan.", ["status"]
        )
        for status in CYCLE_STATUSES:
            self._statuses.labels(status)
        self._phases = self._new_histogram(
            "fourleaf_cycle_seconds",
            "Seconds that each phase of a cycle took.",
            ["phase"],
            buckets=_SHORT,
        )
        self._gap = self._new_gauge(
            "fourleaf_plan_gap",
            "Largest relative gap of the last plan: 0 is proven optimal, NaN a greedy plan.",
        )
        self._pending = self._new_gauge(
            "fourleaf_pending_gangs", "Gangs that wait after the last cycle, by reason.", ["reason"]
        )
        self.pending(())
        self._conflicts = self._new_counter(
            "fourleaf_commit_conflicts_total",
            "Gangs whose commit did not take because a record had changed.",
        )

    def _make_relocations(self) -> None:
        self._evictions = self._new_counter(
            "fourleaf_evictions_total", "Pods evicted, by purpose.", ["purpose"]
        )
        self._relocations = self._new_counter(
            "fourleaf_relocations_total",
            "Relocations of gangs that have ended, by purpose: served, given up, or unwanted where "
            "the owner of the members makes no more pods.",
            ["purpose", "result"],
        )
        for purpose in Purpose:
            self._evictions.labels(purpose.value)
            for result in ("served", "given up", "unwanted"):
                self._relocations.labels(purpose.value, result)

    def _make_bridge(self) -> None:
        self._nodes = self._new_gauge(
            "fourleaf_nodes",
            "Nodes, by the leader's verdict: well; silent, its kubelet is late; dead, what runs "
            "there is lost; returning, heard again and taking no gang yet. 0 in replicas that do "
            "not lead.",
            ["verdict"],
        )
        self._unrepaired = self._new_gauge(
            "fourleaf_unrepaired_gangs",
            "Gangs that lost members and have no repair, or whose policy is to wait for them; "
            "0 in replicas that do not lead.",
        )
        self._records = self._new_gauge(
            "fourleaf_ledger_records",
            "Records of the ledger, by format; 0 in replicas that do not lead.",
            ["format"],
        )
        self.ledger(LedgerUse())
        self._watch_age = self._new_gauge(
            "fourleaf_watch_age_seconds",
            "Seconds since the API server last said anything of a kind, with bookmarks and new "
            "watches; 0 if not served.",
            ["kind"],
        )
        self._watch_stale = self._new_gauge(
            "fourleaf_watch_stale",
            "1 where the copy of a kind is out of date, as /readyz and the dashboard say it: not "
            "read yet, silent, or all requests about it fail for too long.",
            ["kind"],
        )
        self._event_to_model = self._new_histogram(
            "fourleaf_event_to_model_seconds",
            "Seconds from the arrival of a watch event until the model knew it.",
            buckets=_SHORT,
        )
        self._leader = self._new_gauge("fourleaf_leader", "1 where this process leads.")
        self._config_valid = self._new_gauge(
            "fourleaf_config_valid",
            "1 where the newest config is in force, 0 where it is wrong and an older one is.",
        )
        self._config_valid.set(1)
        self._requests = self._new_counter(
            "fourleaf_api_requests_total",
            "Requests to the API server, by verb, kind and HTTP status (0: no answer).",
            ["verb", "kind", "status"],
        )

    def _make_process(self) -> None:
        ProcessCollector(registry=self.registry)
        build = self._new_gauge(
            "fourleaf_build_info", "1, with the version of this process.", ["version"]
        )
        build.labels(own_version()).set(1)

    def cycle(self, status: str, phases: Mapping[str, float]) -> None:
        """A cycle has ended in one of `CYCLE_STATUSES`; seconds by phase, names of the code's."""
        known = status if status in CYCLE_STATUSES else FAILED
        self._statuses.labels(known).inc()
        for phase, seconds in phases.items():
            self._phases.labels(phase).observe(seconds)

    def decided(self, plan: Plan, rejected: int = 0, seconds: float = 0.0) -> None:
        """`plan` was decided and committed in `seconds`, but for `dropped` of its placements."""
        placed = len(plan.placements) - rejected
        self._decisions.labels("placed").inc(placed)
        self._decisions.labels("dropped").inc(rejected)
        self._decisions.labels("waiting").inc(len(plan.waiting))
        self._gap.set(math.nan if plan.gap is None else plan.gap)
        self.pending(entry.reason.kind for entry in plan.waiting)
        if placed:
            self._placement.observe(seconds)

    def dropped(self, gangs: int) -> None:
        """The commits of so many gangs, which counted as placed, did not take after all."""
        self._decisions.labels("dropped").inc(gangs)

    def pending(self, reasons: Iterable[ReasonKind]) -> None:
        """These are the reasons of the gangs that wait now, one for each gang."""
        counts = Tally(reasons)
        for kind in ReasonKind:
            self._pending.labels(kind.value).set(counts[kind])

    def fabric(self, use: FabricUsage) -> None:
        """The fabric is this full now; domains that are gone are no longer reported."""
        self._fragmentation.set(use.fragmentation)
        self._allocation.set(use.allocation)
        self._utilization.clear()
        for domain, ratio in use.domains:
            self._utilization.labels(domain).set(ratio)

    def bound(self, seconds: float, namespace: str) -> None:
        """A gang of `namespace` was bound, `seconds` after it could first be planned."""
        self._latency.observe(seconds)
        self._namespaces.bound(namespace, seconds)

    def namespaces(self, uses: Mapping[str, NamespaceUse]) -> None:
        """Each namespace has, may have and waits for this much now."""
        self._namespaces.used(uses)

    def nodes(self, verdicts: Mapping[NodeVerdict, int]) -> None:
        """So many nodes are taken for this and that now."""
        for verdict in NodeVerdict:
            self._nodes.labels(verdict.value).set(verdicts.get(verdict, 0))

    def unrepaired(self, gangs: int) -> None:
        """So many gangs lack members and have no repair now."""
        self._unrepaired.set(gangs)

    def ledger(self, use: LedgerUse) -> None:
        """So many records are in each format, and so many cannot be read."""
        for number in KNOWN:
            self._records.labels(str(number)).set(use.formats.get(number, 0))
        self._records.labels("unreadable").set(len(use.sealed))

    def evicted(self, purpose: Purpose) -> None:
        """A pod was evicted for a relocation."""
        self._evictions.labels(purpose.value).inc()

    def relocated(self, purpose: Purpose, why: str, seconds: float) -> None:
        """A relocation has ended after so many `seconds`; `why`, "" where it served."""
        result = {"": "served", UNWANTED: "unwanted"}.get(why, "given up")
        self._relocations.labels(purpose.value, result).inc()
        if not why and purpose is Purpose.REPAIR:
            for histogram in self._recoveries:
                histogram.observe(seconds)

    def conflicts(self, gangs: int) -> None:
        """The commit of so many gangs met a changed record."""
        self._conflicts.inc(gangs)

    def watches(self, healths: Mapping[Kind, Health], now: float) -> None:
        """How the copy of each kind does; `now` is in seconds of the monotonic clock."""
        for kind, one in healths.items():
            name, absent = _kind_name(kind), one.state is ReflectorState.ABSENT
            self._watch_age.labels(name).set(0.0 if absent else one.age(now))
            self._watch_stale.labels(name).set(not one.is_current(now))

    def learnt(self, seconds: float) -> None:
        """A watch event reached the model `seconds` after it had arrived."""
        self._event_to_model.observe(seconds)

    def leading(self, leads: bool) -> None:
        """Whether this process leads now."""
        self._leader.set(leads)

    def config(self, valid: bool) -> None:
        """Whether the newest config is the one in force."""
        self._config_valid.set(valid)

    def requests(self, totals: Mapping[tuple[str, str, int], int]) -> None:
        """So many requests since the start, by verb, kind (and subresource) and HTTP status."""
        for key, total in totals.items():
            more = total - self._requested.get(key, 0)
            if more > 0:
                verb, kind, status = key
                self._requests.labels(verb, kind, str(status)).inc(more)
        self._requested = dict(totals)


def _kind_name(kind: Kind) -> str:
    """`pods`, `podgroups.scheduling.x-k8s.io`: what kubectl calls it."""
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural
