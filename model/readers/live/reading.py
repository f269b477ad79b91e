"""What a running scheduler gets to see: a snapshot, and what it needs to act on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

from fourleaf.model.gang import GangKey
from fourleaf.model.problems import Problem
from fourleaf.model.readers.dra.claims import ClaimAsk
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.live.object_cache import Address
from fourleaf.model.readers.objects.owners import OwnerRef
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.snapshot import RunningPod, Snapshot


@dataclass(frozen=True, slots=True)
class WaitingMember:
    """A pod that waits, by all that a Binding must name; `version` is its resourceVersion.

    `claims` are the ResourceClaims that need devices before it.
    """

    namespace: str
    name: str
    uid: str
    version: str
    claims: tuple[ClaimAsk, ...] = ()


@dataclass(frozen=True, slots=True)
class GangFacts:
    """A gang of the snapshot: who waits of it, by name, and where it comes from.

    `holder` is the object that states its size (a PodGroup, a Job, ...), None where the pods
    do. `scheduler` is the name by which its pods ask for us.
    """

    key: GangKey
    dialect: str
    scheduler: str
    holder: OwnerRef | None
    waiting: tuple[WaitingMember, ...]


@dataclass(frozen=True)
class Runners:
    """The running pods: their UIDs by namespace and name, and who is where."""

    running: tuple[RunningPod, ...]
    uids: Mapping[Address, str]

    @cached_property
    def ours_by_node(self) -> Mapping[str, tuple[tuple[GangKey, str], ...]]:
        """Node -> gang and UID of every pod of ours on it."""
        found: dict[str, list[tuple[GangKey, str]]] = {}
        for pod in self.running:
            if pod.ours and pod.gang is not None:
                uid = self.uids[pod.namespace, pod.name]
                found.setdefault(pod.node, []).append((pod.gang, uid))
        return {node: tuple(pods) for node, pods in found.items()}


@dataclass(frozen=True, slots=True)
class LiveReading:
    """A cluster at one moment; it never changes.

    `gangs` has the facts of every gang of the snapshot. `uids` are those of running pods by
    namespace and name. `arrivals` counts up to here how often gangs have become fit to be planned:
    they came, or what they waited for did.
    """

    snapshot: Snapshot
    problems: tuple[Problem, ...]
    gangs: Mapping[GangKey, GangFacts]
    runners: Runners
    arrivals: int = 0

    @property
    def uids(self) -> Mapping[Address, str]:
        """Namespace and name of every running pod -> its UID."""
        return self.runners.uids

    def ours_on(self, node: str) -> Iterator[tuple[GangKey, str]]:
        """Gang and UID of every pod of ours that runs on `node`."""
        yield from self.runners.ours_by_node.get(node, ())

    def at(self, now: float) -> LiveReading:
        """The same at another time, in seconds since the epoch."""
        if now == self.snapshot.now:
            return self
        # A copy, because it keeps what the snapshot has computed of the pods and nodes.
        snapshot = copy(self.snapshot)
        object.__setattr__(snapshot, "now", now)
        return replace(self, snapshot=snapshot)


def facts_of(draft: Draft) -> GangFacts:
    """The facts of a gang."""
    holder = draft.holder
    return GangFacts(
        key=draft.gang.key,
        dialect=draft.identity[1],
        scheduler=(draft.waiting or draft.bound)[0].scheduler,
        holder=None if holder is None else OwnerRef(holder.group, holder.kind, holder.name),
        waiting=tuple(sorted(map(_member, draft.waiting), key=_name)),
    )


def _member(pod: Pod) -> WaitingMember:
    version = pod.manifest.body["metadata"].get("resourceVersion")
    version = version if isinstance(version, str) else ""
    return WaitingMember(pod.namespace, pod.name, pod.uid, version, pod.resource_claims)


def _name(member: WaitingMember) -> str:
    return member.name
