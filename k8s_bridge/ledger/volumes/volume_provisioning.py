"""Volumes that are made on first use: the node is selected for their claims, and they are awaited.

No member of a gang is bound before the claims of all have their volumes: a volume that cannot be
made then costs no eviction. As kube-scheduler's VolumeBinding does it, a claim is told the node by
an annotation, which the provisioner takes off where it cannot make the volume there.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Protocol, TypeAlias

import structlog

from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    ClusterError,
    Conflict,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import VOLUME_CLAIMS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.ledger.claim_allocation import Impossible, Revoked, Stands
from fourleaf.k8s_bridge.ledger.names import FENCE
from fourleaf.k8s_bridge.ledger.permanent_refusal import PermanentRefusals
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_bound, is_gone
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.volumes.awaited_volumes import (
    LATE_SECONDS,
    AwaitedVolume,
    Unwatched,
    VolumeWatcher,
)
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import together
from fourleaf.model.readers.pods.volumes import (
    SELECTED_BY_US,
    SELECTED_NODE,
    class_of,
    selected_by_others,
)

PROVISION_LIMIT_SECONDS = 600.0
"""Seconds, at most, for which a volume is awaited: kube-scheduler's bindTimeoutSeconds."""

RETRY_LIMIT_SECONDS = 60.0
"""Seconds for which it is awaited after the first failure, twice as long after each further one."""

RELEASE_LIMIT_SECONDS = 30.0
"""Seconds for which it is tried to take a node off a claim whose gang goes back."""

MOST_CLAIMS_REMEMBERED = 10_000
"""Claims, at most, whose failures are remembered: each failure has taken a minute or more."""

VolumeSource = tuple[str, str]
"""Namespace and StorageClass of a claim."""

FIRST_LOOK_SECONDS = 0.5
LONGEST_LOOK_SECONDS = 10.0


@dataclass(slots=True, eq=False)
class VolumePatience:
    """How long volumes are awaited in one term, and how long a gang stands back after that.

    While a volume is awaited, the nodes of its gang idle. The first time that is for as long as
    kube-scheduler waits. After volumes of a class did not come for a namespace, it is short, longer
    with each further failure, and in between the gang stands back for as long as it will be
    awaited next. So others have the nodes at least half of the time, and a slow provisioner gets
    as long as it needs in the end. A claim remembers its own failures besides: the volumes of its
    neighbours come all the time where a driver is well, and say nothing of one that never does.
    """

    _failures: dict[VolumeSource, int] = field(default_factory=dict)
    _own_failures: dict[str, int] = field(default_factory=dict)
    """By the UID of the claim; the one that failed last comes last."""
    _stand_back: dict[str, float] = field(default_factory=dict)

    def limit(self, source: VolumeSource, claim: str) -> float:
        """Seconds for which the volume of a claim (by UID) is awaited now."""
        own = self._own_failures.get(claim, 0)
        return min(_limit_after(self._failures.get(source, 0)), _limit_after(own))

    def failed(self, source: VolumeSource, claim: str, limit: float, pod: str) -> None:
        """The volume of a claim, for a pod (both by UID), did not come within `limit` seconds.

        Those of one attempt, which end together, count as one failure of their class.
        """
        failures = self._failures.get(source, 0)
        if limit == _limit_after(failures):
            self._failures[source] = min(failures + 1, 32)
        self._own_failures[claim] = min(self._own_failures.pop(claim, 0) + 1, 32)
        while len(self._own_failures) > MOST_CLAIMS_REMEMBERED:
            del self._own_failures[next(iter(self._own_failures))]
        self._stand_back[pod] = self.limit(source, claim)

    def made(self, source: VolumeSource, claim: str) -> None:
        """The volume of a claim has come."""
        self._failures.pop(source, None)
        self._own_failures.pop(claim, None)

    def stand_back(self, pod: str) -> float:
        """Seconds for which the gang of a pod stands back, 0 where no volume failed; said once."""
        return self._stand_back.pop(pod, 0.0)


def _limit_after(failures: int) -> float:
    """Seconds for which a volume is awaited after so many failures in a row."""
    if not failures:
        return PROVISION_LIMIT_SECONDS
    return min(PROVISION_LIMIT_SECONDS, RETRY_LIMIT_SECONDS * 2.0 ** (failures - 1))


NodesOfClaims: TypeAlias = Mapping[Target, Collection[str]]
"""Claim without a volume -> the nodes of the members of a commit that name it."""
NO_CLAIMS: NodesOfClaims = MappingProxyType({})


class VolumeLister(Protocol):
    """The PersistentVolumeClaims of the cluster, as they were last seen."""

    def unprovisioned(self, pod: Target, /) -> Sequence[Target]:
        """The claims of a pod that get their volume on first use, and have none yet."""

    def provisioned(self, pod: Target, /) -> Sequence[str]:
        """The volumes of the claims of a pod that have one."""

    def provisioner(self, storage_class: str, /) -> str:
        """Who makes the volumes of a StorageClass, "" where that is not known."""

    def reaches(self, node: str, volume: str, /) -> bool | None:
        """Whether a node reaches a volume, None where one of the two is not known yet."""


class NoVolumes:
    """Knows of no claim."""

    def unprovisioned(self, _pod: Target, /) -> Sequence[Target]:
        """None."""
        return ()

    def provisioned(self, _pod: Target, /) -> Sequence[str]:
        """None."""
        return ()

    def provisioner(self, _storage_class: str, /) -> str:
        """Nothing is known."""
        return ""

    def reaches(self, _node: str, _volume: str, /) -> bool | None:
        """Nothing is known."""
        return None


@dataclass(frozen=True, slots=True)
class VolumeProvisioner:
    """Selects nodes for the claims of members, and takes that back. Both may be repeated."""

    cluster: Cluster
    volumes: VolumeLister
    pods: PodLister
    clock: Clock
    patience: VolumePatience
    watcher: VolumeWatcher = field(default_factory=Unwatched)
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def concerns(self, member: Member) -> bool:
        """Whether `member` has a claim that has its volume, or is to get one."""
        pod = member.pod
        return bool(self.volumes.unprovisioned(pod) or self.volumes.provisioned(pod))

    def nodes_of_claims(self, members: Iterable[Member]) -> NodesOfClaims:
        """Claim without a volume -> the nodes of the members of a commit that name it."""
        found: dict[Target, set[str]] = {}
        for member in members:
            for claim in self.volumes.unprovisioned(member.pod):
                found.setdefault(claim, set()).add(member.node)
        return found

    async def provision(
        self, member: Member, stands: Stands, nodes: NodesOfClaims = NO_CLAIMS
    ) -> None:
        """Wait until every claim of `member` has a volume that its node can reach.

        A claim for which one of its `nodes` is selected is left so: members that share it would
        else select their own in turn, for as long as they wait.

        Raises `Impossible` where a volume cannot be made or reached there, and `Revoked` where the
        commit of the member no longer `stands`.
        """
        claims = self.volumes.unprovisioned(member.pod)
        await together(self._await(claim, member, stands, nodes.get(claim, ())) for claim in claims)
        # One that came before this was asked for may have come for another node.
        for volume in self.volumes.provisioned(member.pod):
            self._is_reached(volume, member)

    def _is_reached(self, volume: str, member: Member) -> bool:
        """Whether the node of `member` is known to reach a volume; raises `Impossible` if not."""
        found = self.volumes.reaches(member.node, volume)
        if found is False:
            raise Impossible(f"PersistentVolume {volume} cannot be reached from {member.node}")
        return found is True

    def selects(self, member: Member) -> bool:
        """Whether `member` has a claim for which a node is selected, or is to be."""
        return bool(self.volumes.unprovisioned(member.pod))

    async def release(self, member: Member) -> None:
        """Let the claims of an unbound `member` that have no volume yet go to any node again."""
        claims = self.volumes.unprovisioned(member.pod)
        await together(self._release(claim, member) for claim in claims)

    async def _release(self, claim: Target, member: Member) -> None:
        """Take the node off, however often that has to be asked for within a while.

        No longer: the nodes of the gang are held meanwhile, and the next commit selects anew,
        unless a member that shares the claim stands there.
        """
        until = self.clock.monotonic() + RELEASE_LIMIT_SECONDS
        backoff = Backoff(self.clock)
        while True:
            try:
                await self._deselect(claim, member)
            except NotFound:
                return
            except (Conflict, Ambiguous, Throttled) as error:
                least = error.retry_after or 0.0
                if self.clock.monotonic() + least < until:
                    await backoff.wait(least)
                    continue
                self._left(claim, error)
            except ClusterError as error:
                self._left(claim, error)
            return

    def _left(self, claim: Target, error: ClusterError) -> None:
        self._log.warning("node_still_selected", claim=str(claim), why=str(error))

    async def _deselect(self, claim: Target, member: Member) -> None:
        """Take the node of `member` off a claim, and what was sent earlier with it.

        Where none is selected, one may be on its way yet: the version changes before that.
        """
        body = await self.cluster.get(VOLUME_CLAIMS, claim)
        if _has_volume(body):
            return
        if not _selected(body):
            fence: Body = {"metadata": {"annotations": {FENCE: member.pod.uid}}}
            body = await self.cluster.patch(VOLUME_CLAIMS, _exactly(claim, body), fence)
        if not _selected(body) or _is_selected_by_us(body, member.node):
            await self._select(claim, body, None)

    async def _await(
        self, claim: Target, member: Member, stands: Stands, nodes: Container[str]
    ) -> None:
        try:
            await self._provision(claim, member, stands, nodes)
        finally:
            self.watcher.over(member, claim)

    async def _provision(
        self, claim: Target, member: Member, stands: Stands, nodes: Container[str]
    ) -> None:
        began, limit = self.clock.monotonic(), PROVISION_LIMIT_SECONDS
        volume = AwaitedVolume(claim, "", member.node, self.clock.wall())
        source: VolumeSource | None = None
        uid = ""
        backoff = Backoff(self.clock, FIRST_LOOK_SECONDS, LONGEST_LOOK_SECONDS)
        refusing = PermanentRefusals(self.clock)
        asked, title, last = False, f"PersistentVolumeClaim {claim}", ""
        while not is_gone(self.pods, member) and not is_bound(self.pods, member):
            if not self.pods.usable(member.node):
                raise Impossible(f"node {member.node} is not ready")
            if self.clock.monotonic() >= began + limit:
                if source is not None:
                    self.patience.failed(source, uid, limit, member.pod.uid)
                raise self._missed(member, volume, limit, asked, last)
            if asked and self.clock.monotonic() >= began + LATE_SECONDS:
                self.watcher.late(member, volume)
            least = None
            try:
                body = await self.cluster.get(VOLUME_CLAIMS, claim)
                if source is None:
                    source = claim.namespace, class_of(body)
                    provisioner = self.volumes.provisioner(class_of(body))
                    volume = replace(volume, provisioner=provisioner)
                    uid = str(body["metadata"].get("uid", ""))
                    limit = self.patience.limit(source, uid)
                volume = _as_selected(volume, body, nodes)
                if await self._is_provisioned(claim, body, member, stands, asked, volume.node):
                    self.patience.made(source, uid)
                    return
                asked = True
            except NotFound:
                raise Impossible(f"{title} is gone") from None
            except (Conflict, Ambiguous, Throttled) as error:
                refusing.unsaid(error)
                least, last = error.retry_after, str(error)
            except Refused as error:
                last = str(error)
                if refusing.for_good(error):
                    raise Impossible(f"{title}: {error}") from error
            await backoff.wait(least)

    def _missed(
        self, member: Member, volume: AwaitedVolume, limit: float, asked: bool, last: str
    ) -> Impossible:
        """Why the gang goes back: who was `asked` has not answered, else what the API said last."""
        if asked:
            self.watcher.missed(member, volume)
            return Impossible(volume.missed(limit))
        title = f"PersistentVolumeClaim {volume.claim}"
        return Impossible(f"{title} could not be told {volume.node} in {limit:.0f} s: {last}")

    async def _is_provisioned(
        self,
        claim: Target,
        body: Body,
        member: Member,
        stands: Stands,
        asked: bool,
        node: str,
    ) -> bool:
        """Whether the claim has its volume; where it does not wait for the node, now it does."""
        if _has_volume(body):
            # A node that was selected before may have it, where it took long to be made.
            return self._is_reached(body["spec"]["volumeName"], member)
        if _phase_of(body) == "Lost":
            raise Impossible(f"PersistentVolumeClaim {claim} has lost its volume")
        if _selected(body) != node:
            if other := selected_by_others(body):
                what = f"another scheduler has selected {other} for PersistentVolumeClaim {claim}"
                raise Impossible(f"{what}, not {node}")
            if asked and not _selected(body):
                what = f"no volume for PersistentVolumeClaim {claim} can be made for {node}"
                raise Impossible(what)
            if not await stands():
                raise Revoked("its commit no longer stands")
            await self._select(claim, body, node)
        return False

    async def _select(self, claim: Target, body: Body, node: str | None) -> None:
        """Write the node that a volume is to be made for, to the claim as it was read."""
        said: dict[str, str | None] = dict.fromkeys((SELECTED_NODE, SELECTED_BY_US), node)
        if _fenced(body):
            said[FENCE] = None
        patch: Body = {"metadata": {"annotations": said}}
        await self.cluster.patch(VOLUME_CLAIMS, _exactly(claim, body), patch)


def _as_selected(volume: AwaitedVolume, claim: Body, nodes: Container[str]) -> AwaitedVolume:
    """`volume`, for the one of `nodes` that is selected for the claim already, where one is."""
    node = _selected(claim)
    return replace(volume, node=node) if node in nodes else volume


def _has_volume(claim: Body) -> bool:
    return bool((claim.get("spec") or {}).get("volumeName")) and _phase_of(claim) == "Bound"


def _phase_of(claim: Body) -> str:
    return str((claim.get("status") or {}).get("phase") or "")


def _exactly(claim: Target, body: Body) -> Target:
    """The claim at the version at which it was read."""
    return replace(claim, version=str(body["metadata"]["resourceVersion"]))


def _fenced(claim: Body) -> bool:
    return FENCE in (claim["metadata"].get("annotations") or {})


def _is_selected_by_us(claim: Body, node: str) -> bool:
    return _selected(claim) == node and not selected_by_others(claim)


def _selected(claim: Body) -> str:
    return str((claim["metadata"].get("annotations") or {}).get(SELECTED_NODE) or "")
