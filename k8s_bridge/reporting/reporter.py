"""Reporter: what happens, as metrics, events, conditions, audit lines and `/status`."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import inf

import structlog

from fourleaf.k8s_bridge.cache.catch_up import catch_up
from fourleaf.k8s_bridge.cache.config_watcher import ConfigState
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.commit import CommitRequest
from fourleaf.k8s_bridge.ledger.format_usage import LedgerUse
from fourleaf.k8s_bridge.ledger.ledger import Commit
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.node_health.judge import Judgement
from fourleaf.k8s_bridge.relocation.observer import LostPod
from fourleaf.k8s_bridge.relocation.records import Leaver, Relocation
from fourleaf.k8s_bridge.reporting.after_cycle import after_cycle
from fourleaf.k8s_bridge.reporting.audit import Audit
from fourleaf.k8s_bridge.reporting.build_info import own_version
from fourleaf.k8s_bridge.reporting.conditions.pod_scheduled import what_gang_awaits
from fourleaf.k8s_bridge.reporting.conditions.retelling import due_at
from fourleaf.k8s_bridge.reporting.cycle_facts import CycleFacts, Reported
from fourleaf.k8s_bridge.reporting.cycle_history import CycleHistory, CycleNote
from fourleaf.k8s_bridge.reporting.events.bound_gangs import what_was_bound
from fourleaf.k8s_bridge.reporting.events.fabric_doubts import fabric_doubts, what_is_doubtful
from fourleaf.k8s_bridge.reporting.events.invalid_objects import config_map, what_of_config
from fourleaf.k8s_bridge.reporting.events.nodes import what_most_nodes_do, what_was_judged
from fourleaf.k8s_bridge.reporting.events.relocations import (
    what_does_not_end,
    what_does_not_yield,
    what_is_forbidden,
    what_is_stranded,
    what_was_evicted,
    what_was_relocated,
)
from fourleaf.k8s_bridge.reporting.events.scheduler_asked import as_scheduler_asked
from fourleaf.k8s_bridge.reporting.events.unreadable_records import what_is_sealed
from fourleaf.k8s_bridge.reporting.events.waiting_gangs import Makers, what_members_are_told
from fourleaf.k8s_bridge.reporting.fabric_usage import fabric_usage
from fourleaf.k8s_bridge.reporting.first_seen import FirstSeen
from fourleaf.k8s_bridge.reporting.guard import guarded
from fourleaf.k8s_bridge.reporting.installed_extensions import InstalledExtension
from fourleaf.k8s_bridge.reporting.metrics import EMPTY, FAILED, SchedulerMetrics
from fourleaf.k8s_bridge.reporting.namespace_use import namespace_use
from fourleaf.k8s_bridge.reporting.other_namespaces import without_others
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Outgoing, Regarding
from fourleaf.k8s_bridge.reporting.recorder.recorder import Recorder, YieldToBinding
from fourleaf.k8s_bridge.reporting.scheduler_state import SchedulerState
from fourleaf.k8s_bridge.reporting.status import LastCycle, Queued, Status, queue_of
from fourleaf.k8s_bridge.reporting.traces import Traces
from fourleaf.k8s_bridge.runtime import logs
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.k8s_bridge.scheduling.cycle import CycleReport
from fourleaf.k8s_bridge.scheduling.holds import unreadable
from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.problems import Problem
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.process.guarded_call import nothing_placed

Requests = Mapping[tuple[str, str, int], int]
MEASURE_SECONDS = 5.0
"""Seconds between two measurements of what changes slowly."""
TELL_SECONDS = 0.5
"""Seconds until more is told of what was too much at once."""
HUNG_CYCLE_SECONDS = 60.0
"""Seconds after which a cycle that has not ended counts as hung."""


@dataclass(slots=True)
class _Bound:
    """Members of one commit that stand on their nodes, until all do."""

    gang: GangKey
    members: list[Member] = field(default_factory=list)


class Reporter:
    """Observer of everything that happens; records it, and decides or delays nothing."""

    def __init__(
        self,
        scheduler: SchedulerState,
        metrics: SchedulerMetrics,
        audit: Audit | None = None,
        requests: Requests | None = None,
        traces: Traces | None = None,
        plugins: tuple[InstalledExtension, ...] = (),
    ) -> None:
        self.recorder = Recorder(
            scheduler.gated,
            scheduler.clock,
            scheduler.options.identity,
            scheduler.cache.take_written,
            held=YieldToBinding(lambda: scheduler.binding, scheduler.clock),
            again=scheduler.cache.changed.set,
        )
        self._scheduler = scheduler
        self._metrics = metrics
        self._audit = audit
        self._traces = traces
        self._plugins = plugins
        self._requests = {} if requests is None else requests
        self._reported = Reported()
        self._bound: dict[str, _Bound] = {}
        self._first_seen = FirstSeen(scheduler.cache, scheduler.clock)
        self._waited: dict[GangKey, float] = {}
        """Since when the gangs that are being bound could be planned, in seconds of the epoch."""
        self._queue: Callable[[], tuple[Queued, ...]] = tuple
        self._cycles: Counter[str] = Counter()
        self._last: LastCycle | None = None
        self._notes = CycleHistory()
        self._sealed: frozenset[str] = frozenset()
        self._stuck: frozenset[str] = frozenset()
        self._doubts: dict[str, Problem] = {}
        self._facts: CycleFacts | None = None
        self._tell_at = inf
        self._is_behind = asyncio.Event()
        self._last_alive = scheduler.clock.monotonic()
        self._cycle_began: float | None = None
        self._log = structlog.get_logger(__name__)

    async def run(self) -> None:
        """Write what is recorded, and measure, until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self.recorder.run())
            tasks.create_task(self._measure())
            tasks.create_task(self._tell_rest())

    @guarded
    def cycle_begins(self) -> None:
        """A cycle starts."""
        self._cycle_began = self._scheduler.clock.monotonic()
        if self._traces is not None:
            self._traces.cycle_begins(self._scheduler.clock.wall())

    @guarded
    def committing(self, plan: tuple[CommitRequest, ...], snapshot: Snapshot) -> None:
        """These pods are about to be bound: a status written now would spoil their versions."""
        self.recorder.discard((m.pod.namespace, m.pod.name) for one in plan for m in one.members)
        if self._waited or self._bound:
            # Those that are being bound count as running; others were deleted before they started.
            there = {pod.gang for pod in snapshot.running}
            self._waited = {gang: at for gang, at in self._waited.items() if gang in there}
            self._bound = {name: one for name, one in self._bound.items() if one.gang in there}
            if self._traces is not None:
                self._traces.keep(there)
        if self._reported.news:
            bound = {one.gang for one in plan}
            news = {gang: one for gang, one in self._reported.news.items() if gang not in bound}
            self._reported = replace(self._reported, news=news)
        for one in plan:
            created = snapshot.gangs_by_key[one.gang].created
            uids = (member.pod.uid for member in one.members)
            self._waited[one.gang] = self._first_seen.waits_since(created, uids)
            if self._traces is not None:
                self._traces.decided(one.gang, self._scheduler.clock.wall())

    @guarded
    def cycle(self, report: CycleReport) -> None:
        """A cycle has ended."""
        self._cycle_began = None
        seconds = sum(report.seconds.values())
        plan = report.plan or nothing_placed(report.reading.snapshot)
        status = plan.status.value if report.plan else EMPTY
        self._cycles[status] += 1
        self._metrics.cycle(status, report.seconds)
        lost = {one.gang: one.why for one in (*report.late, *report.outcome.rejected)}
        self._metrics.decided(plan, len(lost), seconds)
        self._metrics.dropped(len(report.lost))
        rejected = (*report.outcome.rejected, *report.lost)
        self._metrics.conflicts(sum(one.conflict for one in rejected))
        # Made where it is asked for: there may be thousands in it.
        self._queue = cache(partial(queue_of, report.reading.snapshot, plan))
        if report.plan is not None or report.lost:
            self._decided(report, plan, lost, seconds)
        self._report(report, plan)

    @guarded
    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""
        bound = self._bound.setdefault(commit.name, _Bound(commit.gang))
        bound.members.append(member)
        if len(bound.members) < len(commit.members):
            return
        del self._bound[commit.name]
        since = self._waited.pop(commit.gang, None)
        if since is not None:
            now = self._scheduler.clock.wall()
            self._metrics.bound(max(0.0, now - since), commit.gang.namespace)
            if self._traces is not None:
                self._traces.bound(commit.gang, len(bound.members), min(since, now), now)
        self._record(what_was_bound(commit.gang, [(m.pod, m.node) for m in bound.members]))

    @guarded
    def rolled_back(self, commit: Commit, why: str) -> None:
        """A commit goes back."""
        self._bound.pop(commit.name, None)
        pod = Regarding.pod(commit.members[0].pod)
        note = clipped(f"Gang {commit.gang} cannot be bound: {why}")
        self._record([Event(pod, "GangRolledBack", note, "Binding", warning=True)])

    @guarded
    def awaits_volume(self, commit: Commit, why: Reason) -> None:
        """A gang that holds its nodes does not start for want of a volume."""
        self._tell_members(commit, why)

    @guarded
    def awaits_binding(self, commit: Commit, why: Reason) -> None:
        """Bindings of a gang that holds its nodes get no answer."""
        self._log.warning("bindings_unanswered", gang=str(commit.gang), why=why.detail)
        self._tell_members(commit, why)

    def _tell_members(self, commit: Commit, why: Reason) -> None:
        """Tell the members of a commit that are not bound yet, which no cycle finds waiting."""
        objects = self._scheduler.cache.objects
        known = objects.get(PODS, {})
        pods = [known.get((one.pod.namespace, one.pod.name)) for one in commit.members]
        there = [pod for pod in pods if pod is not None]
        now, makers = self._scheduler.clock.wall(), Makers(objects)
        self._record(what_gang_awaits(commit.gang, there, makers, why, now))

    @guarded
    def plugins_said(self, commit: Commit, said: str) -> None:
        """A binding plugin has something to say of a gang that is bound."""
        self._log.warning("binding_plugin", gang=str(commit.gang), said=said)
        pod = Regarding.pod(commit.members[0].pod)
        self._record([Event(pod, "BindingPlugin", clipped(said), "Binding", warning=True)])

    @guarded
    def judged(self, node: str, judgement: Judgement) -> None:
        """A node is dead, is heard again, or is well again."""
        self._record(what_was_judged(node, judgement, self._scheduler.cache.objects))

    @guarded
    def most_silent(self, silent: int, nodes: int) -> None:
        """Most nodes are silent at once, or are so no longer."""
        self._record([what_most_nodes_do(silent, nodes, self._config_map())])

    @guarded
    def evicted(self, one: Relocation, leaver: Leaver) -> None:
        """A pod is being evicted."""
        self._metrics.evicted(one.purpose)
        self._record([what_was_evicted(one, leaver)])

    @guarded
    def forbidden(self, one: Relocation, leaver: Leaver, why: str) -> None:
        """A pod should go and may not."""
        self._record([what_is_forbidden(one, leaver, why)])

    @guarded
    def stranded(self, gang: GangKey, pod: Target, why: str) -> None:
        """A gang has lost members, and cannot be repaired for now."""
        self._record([what_is_stranded(gang, pod, why)])

    @guarded
    def unended(self, lost: LostPod, why: str) -> None:
        """A pod on a dead node is to end, and does not."""
        self._record([what_does_not_end(lost, why)])

    @guarded
    def unyielding(self, pod: Target, why: str) -> None:
        """Lower gangs may not give way to a gang that waits."""
        self._record([what_does_not_yield(pod, why)])

    @guarded
    def relocated(self, one: Relocation, why: str, seconds: float) -> None:
        """A relocation is over."""
        self._metrics.relocated(one.purpose, why, seconds)
        self._record(what_was_relocated(one, why))

    @guarded
    def config_read(self, before: ConfigState, after: ConfigState) -> None:
        """The config was read again."""
        self._metrics.config(after.valid)
        namespace = self._scheduler.options.config_namespace
        about = config_map(namespace, CONFIG_MAP, after.uid)
        self._record(what_of_config(before, after, about))

    @guarded
    def learnt(self, seconds: float) -> None:
        """An event of a watch is in the model, that long after it came."""
        self._metrics.learnt(seconds)

    @guarded
    def lead_lost(self) -> None:
        """Another replica leads now, and reports what there is to report."""
        self.recorder.clear()
        self._bound.clear()
        self._waited.clear()
        self._cycle_began = None
        self._queue = tuple
        self._facts = None
        self._reported = replace(self._reported, news={})
        self._metrics.pending(())

    @guarded
    def term_failed(self) -> None:
        """A term as leader ended in an error; the cycle that was under way decided nothing."""
        self._metrics.cycle(FAILED, {})

    def status(self) -> Status:
        """What this process knows of itself."""
        scheduler = self._scheduler
        state = scheduler.config.state
        return Status(
            identity=scheduler.options.identity,
            version=own_version(),
            leader=scheduler.leading and scheduler.gate.is_open,
            holder=scheduler.election.leader,
            epoch=scheduler.epoch,
            beat_age=scheduler.clock.monotonic() - self._last_alive,
            unsynced=scheduler.unsynced,
            cycles=tuple(self._cycles.items()),
            last=self._last,
            queue=self._queue(),
            config_source=state.source,
            config_problems=state.problems,
            ledger=scheduler.ledger,
            plugins=self._plugins,
        )

    def cycles(self) -> tuple[CycleNote, ...]:
        """The newest cycles of this process, the newest last."""
        return self._notes.notes

    @guarded
    def _decided(
        self, report: CycleReport, plan: Plan, lost: Mapping[GangKey, str], seconds: float
    ) -> None:
        cycle_id = f"{self._scheduler.epoch}-{report.number}"
        placed = len(plan.placements) - len(lost)
        self._last = LastCycle(
            cycle_id,
            self._scheduler.clock.wall(),
            seconds,
            plan.status.value,
            plan.gap,
            placed,
            len(plan.waiting),
        )
        if self._traces is not None:
            said = {"status": plan.status.value, "placed": placed, "waiting": len(plan.waiting)}
            self._traces.cycle(cycle_id, self._last.at, report.seconds, said)
        self._notes.add(cycle_id, self._last.at, report, plan, len(lost))
        late = {one.gang: one.why for one in report.lost}
        with logs.cycle(cycle_id):
            self._log.info(
                "cycle",
                status=plan.status.value,
                placed=placed,
                waiting=len(plan.waiting),
                lost={str(gang): why for gang, why in (*late.items(), *lost.items())},
                gap=plan.gap,
                seconds={phase: round(took, 4) for phase, took in report.seconds.items()},
                note=plan.note,
            )
            if logs.is_debugging():
                self._log_gangs(plan, lost)
            if self._audit is not None:
                snapshot = report.reading.snapshot
                self._audit.decided(cycle_id, self._scheduler.epoch, snapshot, plan, lost, late)

    def _log_gangs(self, plan: Plan, lost: Mapping[GangKey, str]) -> None:
        for one in plan.placements:
            nodes = sorted({node for _, node in one.pods})
            self._log.debug("gang_placed", gang=str(one.gang), nodes=nodes, lost=lost.get(one.gang))
        for waiting in plan.waiting:
            kind = waiting.reason.kind.value
            self._log.debug("gang_waits", gang=str(waiting.gang), reason=kind)

    @guarded
    def _report(self, report: CycleReport, plan: Plan) -> None:
        reading = report.reading
        cache = self._scheduler.cache
        now = self._scheduler.clock.wall()
        facts = CycleFacts(reading.snapshot, plan, cache.objects, reading.problems, now)
        before, self._facts = self._reported, facts
        self._tell(facts)
        if reading.problems is not before.problems:
            self._report_fabric(reading.problems)

    def _tell(self, facts: CycleFacts) -> None:
        after = after_cycle(self._reported, facts)
        self._reported = after.reported
        self._tell_at = min(map(due_at, after.reported.gangs.values()), default=inf)
        self._record(after.outgoing)
        self._note_behind()

    def _note_behind(self) -> None:
        untold = self._reported.untold or self._reported.news
        if untold or (self._audit is not None and self._audit.is_behind):
            self._is_behind.set()

    async def _tell_rest(self) -> None:
        """Tell what was too much for one cycle, while none is under way."""
        clock = self._scheduler.clock
        while True:
            await self._is_behind.wait()
            await clock.sleep(TELL_SECONDS)
            if self._cycle_began is None:
                self._is_behind.clear()
                self._tell_more(clock.wall())

    @guarded
    def _tell_more(self, now: float) -> None:
        if self._audit is not None:
            self._audit.write_more()
        if self._facts is not None and self._reported.untold:
            self._tell(replace(self._facts, now=now))
        events, self._reported = what_members_are_told(self._reported)
        self._record(events)
        self._note_behind()

    @guarded
    def _tell_again(self, now: float) -> None:
        """Tell what was held back for a while, where no cycle comes that would tell it."""
        if self._facts is not None and self._cycle_began is None and now >= self._tell_at:
            self._tell(replace(self._facts, now=now))

    def _record(self, outgoing: Iterable[Outgoing]) -> None:
        """Have these written some time soon."""
        self.recorder.record(
            self._as_read(one) if isinstance(one, Event) else one for one in outgoing
        )

    def _as_read(self, event: Event) -> Event:
        """`event` in the name that its pod asked for; it names others where the config says so."""
        if self._scheduler.config.state.config.spec.messages.other_namespaces != "named":
            namespaces = self._facts.namespaces if self._facts else self._namespaces_of_pods()
            note = without_others(event.note, event.regarding.namespace, namespaces)
            event = replace(event, note=note)
        cache = self._scheduler.cache
        return as_scheduler_asked(event, cache.objects, cache.config.spec.scheduler_names)

    def _namespaces_of_pods(self) -> frozenset[str]:
        """Those that a term may name before its first cycle: it goes on with relocations."""
        return frozenset(namespace for namespace, _ in self._scheduler.cache.objects.get(PODS, {}))

    def _config_map(self) -> Regarding:
        """The object that an event about the whole cluster is about."""
        scheduler = self._scheduler
        return config_map(
            scheduler.options.config_namespace, CONFIG_MAP, scheduler.config.state.uid
        )

    def _report_fabric(self, problems: Iterable[Problem]) -> None:
        before, self._doubts = self._doubts, fabric_doubts(problems)
        events = what_is_doubtful(before, self._doubts, self._config_map())
        for event in events:
            self._log.warning("fabric", note=event.note)
        self._record(events)

    @guarded
    def _report_records(self, use: LedgerUse) -> None:
        self._metrics.ledger(use)
        sealed = {one.name: one for one in use.sealed}
        new = [one for name, one in sealed.items() if name not in self._sealed]
        self._sealed = frozenset(sealed)
        self._record(what_is_sealed(self._scheduler.options.namespace, new))
        for commit in use.stuck:
            if commit.name not in self._stuck:
                self._tell_members(commit, unreadable.reason(commit.gang, use.sealed))
        self._stuck = frozenset(one.name for one in use.stuck)

    async def _measure(self) -> None:
        scheduler = self._scheduler
        while True:
            now = scheduler.clock.monotonic()
            if self._cycle_began is None or now - self._cycle_began < HUNG_CYCLE_SECONDS:
                self._last_alive = now
            self._tell_again(scheduler.clock.wall())
            self._metrics.leading(scheduler.leading and scheduler.gate.is_open)
            self._metrics.requests(self._requests)
            self._metrics.nodes(scheduler.verdicts)
            self._metrics.unrepaired(scheduler.unrepaired)
            self._report_records(scheduler.ledger)
            self._metrics.watches(scheduler.informers.health(), now)
            if not scheduler.unsynced:
                await catch_up(scheduler.cache, scheduler.clock)
                snapshot = scheduler.cache.reading().snapshot
                self._metrics.fabric(fabric_usage(snapshot))
                leads, wall = scheduler.leading, scheduler.clock.wall()
                self._metrics.namespaces(namespace_use(snapshot, wall) if leads else {})
            await scheduler.clock.sleep(MEASURE_SECONDS)
