"""One member bound, or proof of why that cannot be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    Conflict,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.protocol import Binding, Cluster, Target
from fourleaf.k8s_bridge.ledger.claim_allocation import (
    Allocator,
    Drivers,
    Impossible,
    NoDrivers,
    Revoked,
    Stands,
)
from fourleaf.k8s_bridge.ledger.names import COMMIT, FENCE
from fourleaf.k8s_bridge.ledger.permanent_refusal import PermanentRefusals
from fourleaf.k8s_bridge.ledger.pods import PodLister, PodSeen, is_gone, pod_seen
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.unanswered_bindings import BindingAttempt, UnansweredBindings
from fourleaf.k8s_bridge.ledger.volumes.awaited_volumes import Unwatched, VolumeWatcher
from fourleaf.k8s_bridge.ledger.volumes.volume_provisioning import (
    NO_CLAIMS,
    NodesOfClaims,
    NoVolumes,
    VolumeLister,
    VolumePatience,
    VolumeProvisioner,
)
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.devices.held_devices import DEVICES, devices_text

LOOK_SECONDS = 2.0
"""Seconds, at most, until it is seen that a pod has gone, or its node, that waits for a request."""


class Bound(StrEnum):
    """What became of one member.

    `bound`: it stands on its node. `gone`: it was deleted or has ended. `impossible`: it can
    never be bound there. `fenced`: its commit was rolled back by another leader.
    """

    BOUND = "bound"
    GONE = "gone"
    IMPOSSIBLE = "impossible"
    FENCED = "fenced"


@dataclass(frozen=True, slots=True)
class BindingResult:
    """What became of one member, and why where it is not bound."""

    member: Member
    result: Bound
    why: str = ""


@dataclass(frozen=True, slots=True)
class Binder:
    """Binds members. Repeats what may not have arrived; never binds what it was not given.

    Claims of a member get their devices first, as far as `drivers` still have them; those of
    `volumes` that are made on first use are awaited before any member is bound.
    """

    cluster: Cluster
    pods: PodLister
    clock: Clock
    drivers: Drivers = field(default_factory=NoDrivers)
    volumes: VolumeLister = field(default_factory=NoVolumes)
    patience: VolumePatience = field(default_factory=VolumePatience)
    watcher: VolumeWatcher = field(default_factory=Unwatched)
    unanswered: UnansweredBindings = field(default_factory=UnansweredBindings)

    @property
    def provisioner(self) -> VolumeProvisioner:
        """Who sees to the volumes of members."""
        return VolumeProvisioner(
            self.cluster, self.volumes, self.pods, self.clock, self.patience, self.watcher
        )

    @property
    def allocator(self) -> Allocator:
        """Who writes the claims of members."""
        return Allocator(self.cluster, self.drivers, self.clock, self.pods)

    async def bind(self, commit: str, member: Member, stands: Stands) -> BindingResult:
        """Bind `member` for `commit`, however long that takes.

        Where the pod has changed since it was planned, it is bound only if the commit `stands`.
        """
        if member.claims:
            claims = BindingAttempt(commit, member, self.clock)
            claims.what = "the allocation of a claim"
            with self.unanswered.under_way(claims):
                answer = await self._allocate(claims, stands)
            if answer is not None:
                return await _believed(answer, stands)
        attempt = BindingAttempt(commit, member, self.clock)
        with self.unanswered.under_way(attempt):
            return await _believed(await self._bind(attempt, stands), stands)

    async def _bind(self, attempt: BindingAttempt, stands: Stands) -> BindingResult:
        """Send the binding until there is an answer, or no hope of one."""
        commit, member = attempt.commit, attempt.member
        backoff = Backoff(self.clock)
        pod = member.pod
        refusing = PermanentRefusals(self.clock)
        while True:
            answer = await self._send(attempt, pod, refusing)
            if answer is not None:
                return answer
            seen = await self._read(pod, backoff, attempt)
            answer = judged(commit, member, seen)
            if seen is None or answer is not None:
                return answer or BindingResult(member, Bound.GONE)
            is_denied = attempt.is_denied(seen.pod.version != pod.version)
            if attempt.is_hopeless:
                # What is still under way meets the fence that the way back begins with.
                return await self._given_up(attempt)
            if is_denied:
                await self._wait(attempt, None)
            elif seen.pod.version == pod.version:
                if not attempt.is_failing:
                    await backoff.wait()
            elif not await stands():
                # Its fence may have been written over since by that of a later commit.
                fenced = BindingResult(member, Bound.FENCED, f"commit {commit} no longer stands")
                return judged(commit, member, await self._read(pod, backoff)) or fenced
            pod = seen.pod

    async def _send(
        self, attempt: BindingAttempt, pod: Target, refusing: PermanentRefusals
    ) -> BindingResult | None:
        """Send the binding of `pod`, as it was seen; None where the pod has to be read now."""
        commit, member = attempt.commit, attempt.member
        backoff = Backoff(self.clock)
        while await self._is_usable(attempt):
            try:
                await self.cluster.bind(binding(commit, member, pod))
                return BindingResult(member, Bound.BOUND)
            except Throttled as error:
                refusing.unsaid(error)
                attempt.unsaid(error)
                await self._wait(attempt, error.retry_after)
                if is_gone(self.pods, member):
                    return BindingResult(member, Bound.GONE)
                if attempt.is_late:
                    return None
            except Ambiguous as error:
                refusing.unsaid(error)
                # What was sent may still be under way: read only after a while.
                attempt.unsaid(error)
                await self._wait(attempt, error.retry_after)
                return None
            except Refused as error:
                if refusing.for_good(error):
                    return await self._impossible(commit, member, str(error))
                await backoff.wait()
            except (Conflict, NotFound) as error:
                refusing.interrupted()
                attempt.met(error)
                return None
        return await self._impossible(commit, member, f"node {member.node} is not ready")

    async def _wait(self, attempt: BindingAttempt, least: float | None) -> None:
        """Wait until it may be sent again, `least` seconds or more, or need not be."""
        member = attempt.member
        left = attempt.next_wait(least)
        while left > 0.0:
            step = min(left, LOOK_SECONDS)
            await self.clock.sleep(step)
            left -= step
            if is_gone(self.pods, member) or not self.pods.usable(member.node):
                return

    def uses_volumes(self, member: Member) -> bool:
        """Whether there are volumes of `member` to be waited for, or to be looked at."""
        return self.provisioner.concerns(member)

    def nodes_of_claims(self, members: Iterable[Member]) -> NodesOfClaims:
        """Claim without a volume -> the nodes of the members of a commit that name it."""
        return self.provisioner.nodes_of_claims(members)

    async def provision(
        self, commit: str, member: Member, stands: Stands, nodes: NodesOfClaims = NO_CLAIMS
    ) -> BindingResult | None:
        """Wait until all volumes of `member` are there; an answer where it cannot be bound.

        `nodes` are those of the claims of all members of the commit.
        """
        try:
            await self.provisioner.provision(member, stands, nodes)
        except Impossible as why:
            return await _believed(await self._impossible(commit, member, str(why)), stands)
        except Revoked as why:
            return await self._revoked(commit, member, str(why))
        return None

    async def _is_usable(self, attempt: BindingAttempt) -> bool:
        """Whether the node can be used, once it is known whether it lives.

        Members that run would go for nothing where it comes back.
        """
        member = attempt.member
        while not self.pods.usable(member.node):
            if not self.pods.is_doubted(member.node) or is_gone(self.pods, member):
                return False
            attempt.doubted()
            await self.clock.sleep(LOOK_SECONDS)
        return True

    async def _allocate(self, attempt: BindingAttempt, stands: Stands) -> BindingResult | None:
        """Give the claims of a member their devices; an answer where that is its end."""
        commit, member = attempt.commit, attempt.member
        if not await self._is_usable(attempt):
            return await self._impossible(commit, member, f"node {member.node} is not ready")
        try:
            await self.allocator.allocate(commit, member, stands, attempt)
        except Impossible as why:
            if attempt.is_hopeless:
                return await self._given_up(attempt)
            return await self._impossible(commit, member, str(why))
        except Revoked as why:
            return await self._revoked(commit, member, str(why))
        return None

    async def _given_up(self, attempt: BindingAttempt) -> BindingResult:
        """That it is not asked for any longer, unless it is bound by now, or has gone."""
        answer = await self._impossible(attempt.commit, attempt.member, attempt.given_up())
        if answer.result is Bound.IMPOSSIBLE:
            self.unanswered.give_up(attempt)
        return answer

    async def _revoked(self, commit: str, member: Member, why: str) -> BindingResult:
        """That its commit was taken back, unless it is bound by now, or has gone."""
        seen = await self._read(member.pod, Backoff(self.clock))
        return judged(commit, member, seen) or BindingResult(member, Bound.FENCED, why)

    async def _impossible(self, commit: str, member: Member, why: str) -> BindingResult:
        """That it cannot be bound, unless it is by now, or has gone and need not be."""
        seen = await self._read(member.pod, Backoff(self.clock))
        return judged(commit, member, seen) or BindingResult(member, Bound.IMPOSSIBLE, why)

    async def _read(
        self, pod: Target, backoff: Backoff, attempt: BindingAttempt | None = None
    ) -> PodSeen | None:
        """The pod by a quorum read, None where it is gone, another, or ended.

        However long the API forbids that: nothing less tells whether a binding has arrived, but
        that the watch has seen it bound or gone, which it stays. An `attempt` to bind it hears
        where it is not answered either.
        """
        while True:
            try:
                seen = pod_seen(await self.cluster.get(PODS, pod))
            except NotFound:
                return None
            except (Ambiguous, Throttled) as error:
                if attempt is not None:
                    attempt.unread()
                await backoff.wait(error.retry_after)
            except Refused:
                watched = self.pods.seen(pod.uid)
                if watched is None or watched.finished:
                    return None
                if watched.node:
                    return watched
                await backoff.wait()
            else:
                return seen if seen.pod.uid == pod.uid and not seen.finished else None


async def _believed(answer: BindingResult, stands: Stands) -> BindingResult:
    """`answer`, but for a fence that says what the record of the commit does not.

    What protects is the version of the pod and that the commit `stands`; the fence is an annotation
    that a tenant may write as well, and ends no term by itself. Nor is a pod bound under a version
    that bears it: the way back takes that for the end of what is still under way.
    """
    if answer.result is not Bound.FENCED or not await stands():
        return answer
    pod = answer.member.pod
    why = f"leave annotation {FENCE} to the scheduler: no leader wrote that of pod {pod}"
    return BindingResult(answer.member, Bound.IMPOSSIBLE, why)


def judged(commit: str, member: Member, seen: PodSeen | None) -> BindingResult | None:
    """What a pod that was just read means for its member; None where binding may go on."""
    if seen is None or (seen.deleting and not seen.node):
        return BindingResult(member, Bound.GONE)
    if seen.node == member.node:
        return BindingResult(member, Bound.BOUND)
    if seen.node:
        return BindingResult(
            member, Bound.IMPOSSIBLE, f"{seen.pod} was bound to {seen.node} by another"
        )
    if seen.fence == commit:
        return BindingResult(member, Bound.FENCED, f"{seen.pod} was fenced")
    return None


def binding(commit: str, member: Member, pod: Target) -> Binding:
    """What is sent to bind `member`, its pod being at the version that `pod` says."""
    annotations = {COMMIT: commit}
    if member.grant is not None:
        annotations |= member.grant.annotations
    if member.devices:
        annotations[DEVICES] = devices_text(member.devices)
    return Binding(pod, member.node, annotations)
