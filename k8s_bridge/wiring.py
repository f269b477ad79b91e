"""Wiring: every part that runs in a term of a leader, and how they are joined."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from fourleaf.k8s_bridge.cache.claimed_volumes import ClaimedVolumes
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.ledger.binding import Binder
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, Spawn
from fourleaf.k8s_bridge.ledger.commit import Committer
from fourleaf.k8s_bridge.ledger.dry_run import DryRun
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.plugins.binding_plugins import BindingPlugins
from fourleaf.k8s_bridge.ledger.reconciler import Reconciler
from fourleaf.k8s_bridge.ledger.record_store import Formats, Records
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.ledger.unanswered_bindings import GIVE_UP_SECONDS, UnansweredBindings
from fourleaf.k8s_bridge.ledger.volumes.awaited_volumes import AwaitedVolumes
from fourleaf.k8s_bridge.ledger.volumes.volume_provisioning import VolumePatience
from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats
from fourleaf.k8s_bridge.node_health.judge import Judgement
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE, NodeMonitor
from fourleaf.k8s_bridge.node_health.probe import Prober
from fourleaf.k8s_bridge.relocation.controller import RelocationController
from fourleaf.k8s_bridge.relocation.move_budget import MOVES_LEASE, MoveBudget
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.store import RelocationStore
from fourleaf.k8s_bridge.relocation.tenants.caused_evictions import (
    EVICTIONS_LEASE,
    CausedEvictions,
)
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.scheduling.async_solver import Planner
from fourleaf.k8s_bridge.scheduling.cycle import Cycle, CycleObserver, Solve
from fourleaf.k8s_bridge.scheduling.holds.api_backoff import (
    LONGEST_WAIT_AFTER_ROLLBACK_SECONDS,
    LONGEST_WAIT_SECONDS,
    REFUSED,
    UNANSWERED,
    ApiBackoff,
    BackoffCause,
)
from fourleaf.k8s_bridge.scheduling.holds.solver_time import SolveTime
from fourleaf.k8s_bridge.scheduling.silent_nodes import SilentNodes
from fourleaf.model.reasons.kinds import Reason, ReasonKind


class Observer(CycleObserver, RelocationObserver, Protocol):
    """Observes cycles and what happens to commits."""

    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""

    def awaits_volume(self, commit: Commit, why: Reason) -> None:
        """A gang that holds its nodes does not start for want of a volume."""

    def awaits_binding(self, commit: Commit, why: Reason) -> None:
        """Bindings of a gang that holds its nodes get no answer."""

    def plugins_said(self, commit: Commit, said: str) -> None:
        """A binding plugin has something to say of a gang that is bound."""

    def rolled_back(self, commit: Commit, why: str) -> None:
        """A commit goes back."""

    def judged(self, node: str, judgement: Judgement) -> None:
        """A node is dead, is heard again, or is well again."""

    def most_silent(self, silent: int, nodes: int) -> None:
        """Most nodes are silent at once; `silent` is 0 when they are so no longer."""


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What becomes of commits: for the cache, for what may be tried next, and for the observer."""

    cache: ClusterCache
    backoff: ApiBackoff
    trials: BindingTrials
    observer: Observer
    took: Callable[[Body], None]
    took_claim: Callable[[Body], None]
    patience: VolumePatience
    volumes: AwaitedVolumes
    unanswered: UnansweredBindings
    silent_nodes: SilentNodes
    plugins: BindingPlugins
    spawn: Spawn

    def bound(self, commit: Commit, member: Member) -> None:
        """A member stands on its node."""
        self.cache.bound(member)
        self.observer.bound(commit, member)

    def all_bound(self, commit: Commit, members: tuple[Member, ...]) -> None:
        """A gang is bound, of which plugins are told beside all else."""
        if self.plugins.hear:
            self.spawn(self._tell_plugins(commit, members))

    async def _tell_plugins(self, commit: Commit, members: tuple[Member, ...]) -> None:
        for said in await self.plugins.bound(commit.gang, members):
            self.observer.plugins_said(commit, said)

    def rolled_back(self, commit: Commit, why: str) -> None:
        """A commit goes back; what made it impossible may do so again."""
        waits = (self.patience.stand_back(member.pod.uid) for member in commit.members)
        missed = self.volumes.missed_by(commit)
        cause = BackoffCause(ReasonKind.VOLUMES_AWAITED, missed.step) if missed else REFUSED
        least = max(waits, default=0.0)
        if nodes := self.unanswered.gave_up(commit):
            # Its next dry run would pass as this one did. Others have its nodes half of the time.
            self.silent_nodes.note(commit.gang, nodes)
            cause, least = UNANSWERED, max(least, GIVE_UP_SECONDS)
        # Nothing but the API's refusal is left where all nodes are there still.
        stands = all(self.cache.usable(member.node) for member in commit.members)
        is_refused = stands and cause is REFUSED
        limit = LONGEST_WAIT_AFTER_ROLLBACK_SECONDS if is_refused else LONGEST_WAIT_SECONDS
        self.backoff.note(commit.gang, why, least, cause, limit)
        self.trials.went_back(commit, why, stands)
        self.observer.rolled_back(commit, why)


@dataclass(frozen=True, slots=True)
class Parts:
    """Everything that runs in a term, besides the election; the last two where gangs may move."""

    reconciler: Reconciler
    cycle: Cycle
    nodes: NodeMonitor | None = None
    relocation: RelocationController | None = None


@dataclass(frozen=True, slots=True)
class Wiring:
    """What the parts of a term are made of. `cluster` is gated.

    `plugins` makes those of an epoch. Without a `planner`, gangs that run are left where they are.
    """

    cluster: Cluster
    namespace: str
    cache: ClusterCache
    solve: Solve
    observer: Observer
    clock: Clock
    dry_run: DryRun
    heartbeats: Heartbeats
    prober: Prober
    formats: Formats
    plugins: Callable[[int], BindingPlugins]
    planner: Planner | None = None
    asked_at: Callable[[], str] | None = None
    solver_time: SolveTime = field(default_factory=SolveTime)

    def records(self, identity: str) -> Records:
        """The records, written as `identity`."""
        return Records(self.cluster, self.namespace, identity, self.clock, self.formats)

    def parts(
        self, records: Records, ledger: Ledger, epoch: int, tasks: asyncio.TaskGroup
    ) -> Parts:
        """List every part that runs in a term, and how they are joined."""
        cluster, cache, clock = self.cluster, self.cache, self.clock
        backoff, patience = ApiBackoff(clock), VolumePatience()
        volumes = AwaitedVolumes(ledger, clock, self.observer.awaits_volume)
        unanswered, silent_nodes = (
            UnansweredBindings(self.observer.awaits_binding),
            SilentNodes(clock),
        )
        plugins = self.plugins(epoch)
        trials = BindingTrials(self.dry_run, clock, tasks.create_task, cache.changed.set, plugins)
        reconciler = Reconciler(
            cluster,
            records,
            ledger,
            cache,
            Binder(
                cluster, cache, clock, cache, ClaimedVolumes(cache), patience, volumes, unanswered
            ),
            clock,
            epoch,
            Outcomes(
                cache,
                backoff,
                trials,
                self.observer,
                cache.took,
                cache.took_claim,
                patience,
                volumes,
                unanswered,
                silent_nodes,
                plugins,
                tasks.create_task,
            ),
            tasks.create_task,
        )
        committer = Committer(records, ledger, cache, epoch, trials, reconciler.forward)
        nodes = relocation = None
        if self.planner is not None:
            nodes = NodeMonitor(
                cluster,
                cache,
                self.heartbeats,
                self.prober,
                StateLease(cluster, self.namespace, FAILURES_LEASE, clock),
                clock,
                self.observer.judged,
                self.observer.most_silent,
                tasks.create_task,
            )
            relocation = RelocationController(
                cluster,
                cache,
                ledger,
                RelocationStore(
                    records, ledger, epoch, clock, tasks.create_task, cache.changed.set
                ),
                nodes,
                self.planner,
                clock,
                self.observer,
                MoveBudget(StateLease(cluster, self.namespace, MOVES_LEASE, clock)),
                CausedEvictions(
                    StateLease(cluster, self.namespace, EVICTIONS_LEASE, clock), cache=cache
                ),
                tasks.create_task,
                self.asked_at,
                trials,
            )
        cycle = Cycle(
            cache,
            ledger,
            committer,
            self.solve,
            self.observer,
            clock,
            backoff,
            silent_nodes,
            relocation,
            self.solver_time,
            lambda: nodes.dead if nodes else frozenset(),
            tasks.create_task,
        )
        if relocation is not None:
            relocation.store.freed = cycle.places_freed
            cache.kept_places = relocation.store.kept_places
        return Parts(reconciler, cycle, nodes, relocation)
