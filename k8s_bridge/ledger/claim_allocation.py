"""ResourceClaims of a member: given their devices before it is bound, or freed of them again.

A claim is written in two steps, as the API asks for: a finalizer, which keeps it for as long as
it holds devices, with the name of the commit; then allocation and reservation, in one write.
Each goes by the version of the claim: the one that was planned with, or one that was read while
the record of the commit still stood. A rollback changes the version of its
claims after the record, so no write that is late can take.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from fourleaf.k8s_bridge.cluster.errors import (
    Ambiguous,
    ClusterError,
    Conflict,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import RESOURCE_CLAIMS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.ledger.names import COMMIT, FENCE
from fourleaf.k8s_bridge.ledger.permanent_refusal import PermanentRefusals
from fourleaf.k8s_bridge.ledger.pods import PodLister, is_gone
from fourleaf.k8s_bridge.ledger.records import ClaimAllocation, Member
from fourleaf.k8s_bridge.runtime.api_text import second
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.randomness import chance
from fourleaf.model.devices.names import DeviceName

FINALIZER = "resource.kubernetes.io/delete-protection"
"""What the resource claim controller takes off once a claim holds nothing any more."""

_GIVEN = ("allocation", "reservedFor")
"""What of the status of a claim says what it was given, and to which pods."""

INVALID = 422
"""The status of the refusal of an object that makes no sense."""
UNCHANGEABLE = (
    "takes no change: its opaque parameters were stored with spaces between them, which every patch"
    " would take out; create it, or its template, by kubectl"
)
"""Why a claim can be given nothing: without a finalizer it would not keep what it holds."""

Stands = Callable[[], Awaitable[bool]]
"""Says whether the record of a commit, read now, says that it is committed."""


class Drivers(Protocol):
    """What drivers offer, as it is known now."""

    def lacks(self, node: str, names: Sequence[DeviceName], held: bool, /) -> str:
        """The first device that its driver has taken from the node, "" where there is none.

        `held`: a claim has them, so that they may be reached from several nodes.
        """

    def device_class(self, name: str, /) -> Body | None:
        """The DeviceClass, None where there is none."""


class NoDrivers:
    """Knows of no driver and doubts nothing."""

    def lacks(self, _node: str, _names: Sequence[DeviceName], _held: bool, /) -> str:
        """Nothing."""
        return ""

    def device_class(self, _name: str, /) -> Body | None:
        """None."""
        return None


class Impossible(Exception):
    """A claim can never get these devices for this pod; the text says why."""


class Revoked(Exception):
    """The commit no longer stands."""


class Patience(Protocol):
    """For how long what gets neither a yes nor a no is written again."""

    def unsaid(self, error: ClusterError, /) -> None:
        """This came in place of an answer."""

    def unread(self) -> None:
        """What it is about cannot be read either."""

    def answered(self) -> None:
        """The API has looked at it."""

    def next_wait(self, least: float | None, /) -> float:
        """Seconds until the next write, no less than `least`."""

    @property
    def is_hopeless(self) -> bool:
        """Whether it has taken so long that it is given up."""

    def given_up(self) -> str:
        """Why."""


@dataclass(frozen=True, slots=True)
class Allocator:
    """Writes what claims get, and takes it back. Both may be repeated."""

    cluster: Cluster
    drivers: Drivers
    clock: Clock
    pods: PodLister

    async def allocate(
        self, commit: str, member: Member, stands: Stands, patience: Patience
    ) -> None:
        """Give every claim of `member` its devices, as long as there is `patience`.

        Raises `Impossible`, also where pod or node have gone, and `Revoked` where a claim has
        changed and `commit` stands no more.
        """
        for one in member.claims:
            await self._allocate(commit, member, one, stands, patience)

    async def _allocate(
        self,
        commit: str,
        member: Member,
        one: ClaimAllocation,
        stands: Stands,
        patience: Patience,
    ) -> None:
        backoff = Backoff(self.clock)
        refusing = PermanentRefusals(self.clock)
        while True:
            try:
                body = await self._read(member, one, patience)
                if patience.is_hopeless:
                    raise Impossible(patience.given_up())
                self._check_devices(body, member, one)
                if _is_done(commit, body, member, one):
                    return
                _check(body, member, one)
                if _version(body) != one.claim.version and not await stands():
                    raise Revoked(f"commit {commit} no longer stands")
                await self._write(commit, member, one, body)
                return
            except NotFound:
                raise Impossible(f"ResourceClaim {one.claim} is gone") from None
            except Conflict:
                refusing.interrupted()
                patience.answered()
                await backoff.wait()
            except (Ambiguous, Throttled) as error:
                refusing.unsaid(error)
                patience.unsaid(error)
                await self.clock.sleep(patience.next_wait(error.retry_after))
            except Refused as error:
                if _takes_no_change(error):
                    raise Impossible(f"ResourceClaim {one.claim} {UNCHANGEABLE}") from error
                if refusing.for_good(error):
                    raise Impossible(f"ResourceClaim {one.claim}: {error}") from error
                await backoff.wait()

    async def _read(self, member: Member, one: ClaimAllocation, patience: Patience) -> Body:
        """The claim as it stands now, however long that takes to read."""
        backoff = Backoff(self.clock)
        while True:
            if is_gone(self.pods, member):
                raise Impossible(f"pod {member.pod} is gone")
            if not (self.pods.usable(member.node) or self.pods.is_doubted(member.node)):
                raise Impossible(f"node {member.node} is not ready")
            try:
                return await self.cluster.get(RESOURCE_CLAIMS, one.claim)
            except (Ambiguous, Throttled) as error:
                patience.unread()
                await backoff.wait(error.retry_after)

    def _check_devices(self, body: Body, member: Member, one: ClaimAllocation) -> None:
        """Raise `Impossible` where a driver has taken a device of the claim away."""
        names = [name for _, name in one.devices]
        gone = self.drivers.lacks(member.node, names, _has(body, one))
        if gone:
            raise Impossible(f"device {gone} of node {member.node} is not there any more")

    async def _write(self, commit: str, member: Member, one: ClaimAllocation, body: Body) -> None:
        """Finalizer and commit, then devices and reservation, each under the last version."""
        metadata = body["metadata"]
        finalizers = list(metadata.get("finalizers") or ())
        patch = {
            "metadata": {
                "annotations": {COMMIT: commit},
                "finalizers": [*finalizers, *({FINALIZER} - set(finalizers))],
            }
        }
        body = await self.cluster.patch(RESOURCE_CLAIMS, _exactly(one, body), patch)
        status: Body = {"reservedFor": [*_others(body, member), _consumer(member)]}
        if not _has(body, one):
            given = allocation_of(member.node, one, body, self.drivers)
            # kube-scheduler adds a time where there is none, which the API refuses to it.
            status["allocation"] = given | {"allocationTimestamp": second(self.clock.wall())}
        target = _exactly(one, body)
        await self.cluster.patch(RESOURCE_CLAIMS, target, {"status": status}, "status")

    async def release(self, commit: str, member: Member) -> list[Body]:
        """Take back what `commit` gave the claims of an unbound `member`; as they stand then.

        Raises what the cluster raises; nothing is lost by asking again.
        """
        bodies = [await self._release(commit, member, one) for one in member.claims]
        return [body for body in bodies if body is not None]

    async def _release(self, commit: str, member: Member, one: ClaimAllocation) -> Body | None:
        # The version changes before anything is read, whatever stood there: what was sent earlier
        # can no longer take.
        fence = f"{commit}/{chance().getrandbits(32):08x}"
        patch = {"metadata": {"annotations": {FENCE: fence}}}
        try:
            target = replace(one.claim, version="")
            body = await self._fence(commit, target, patch)
            while _is_ours(body, commit, member):
                # Pods that run may share what the claim holds.
                others = _others(body, member)
                rest = {"reservedFor": others} if others else dict.fromkeys(_GIVEN)
                freed = {"status": rest}
                try:
                    target = _exactly(one, body)
                    body = await self.cluster.patch(RESOURCE_CLAIMS, target, freed, "status")
                except Conflict:
                    body = await self.cluster.get(RESOURCE_CLAIMS, one.claim)
        except (NotFound, Conflict):
            # It is gone, or another one of that name.
            return None
        return body

    async def _fence(self, commit: str, claim: Target, patch: Body) -> Body:
        """Change the version of a claim; the claim as it is then."""
        try:
            return await self.cluster.patch(RESOURCE_CLAIMS, claim, patch)
        except Refused as error:
            if not _takes_no_change(error):
                raise
            # Then it took no change of this commit either, and takes none that is late.
            body = await self.cluster.get(RESOURCE_CLAIMS, claim)
            if _wrote(body) == commit:
                raise
            return body


def _takes_no_change(error: Refused) -> bool:
    """Whether the API takes every patch of a claim for one of its spec."""
    said = str(error)
    return error.status == INVALID and "spec: Invalid" in said and "field is immutable" in said


def allocation_of(node: str, one: ClaimAllocation, claim: Body, drivers: Drivers) -> Body:
    """`status.allocation` of a claim: devices, their configuration, and the node they are on."""
    results = [
        {"request": request, "driver": name.driver, "pool": name.pool, "device": name.device}
        for request, name in one.devices
    ]
    devices: Body = {"results": results}
    config = [*_of_classes(claim, drivers), *_of_claim(claim)]
    if config:
        devices["config"] = config
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    return {"devices": devices, "nodeSelector": {"nodeSelectorTerms": [term]}}


def _of_classes(claim: Body, drivers: Drivers) -> list[Body]:
    """What the classes of the requests configure, each for the requests that are for it."""
    requests: dict[str, list[str]] = {}
    for one in claim["spec"].get("devices", {}).get("requests") or ():
        name = (one.get("exactly") or {}).get("deviceClassName", "")
        requests.setdefault(name, []).append(one["name"])
    return [
        {**config, "source": "FromClass", "requests": those}
        for name, those in requests.items()
        for config in ((drivers.device_class(name) or {}).get("spec") or {}).get("config") or ()
    ]


def _of_claim(claim: Body) -> list[Body]:
    """What the claim itself configures: once, or once for each request that a config names.

    The latter as kube-scheduler has it, so that drivers find what they know.
    """
    devices = claim["spec"].get("devices", {})
    names = [one["name"] for one in devices.get("requests") or ()]
    found: list[Body] = []
    for config in devices.get("config") or ():
        wanted = config.get("requests")
        times = sum(name in wanted for name in names) if wanted else 1
        found += [{**config, "source": "FromClaim"}] * times
    return found


def _is_done(commit: str, body: Body, member: Member, one: ClaimAllocation) -> bool:
    """Whether the claim has these devices from this commit, and is for this pod."""
    return _has(body, one) and member.pod.uid in _reserved(body) and _wrote(body) == commit


def _wrote(body: Body) -> str:
    """The commit that last gave the claim something."""
    return str((body["metadata"].get("annotations") or {}).get(COMMIT, ""))


def _check(body: Body, member: Member, one: ClaimAllocation) -> None:
    """Raise `Impossible` where the claim can never get these devices for this pod."""
    metadata, status = body["metadata"], body.get("status") or {}
    if metadata["uid"] != one.claim.uid:
        raise Impossible(f"ResourceClaim {one.claim} is another one by now")
    if metadata.get("deletionTimestamp") is not None:
        raise Impossible(f"ResourceClaim {one.claim} is being deleted")
    if status.get("allocation") and not _has(body, one):
        raise Impossible(f"ResourceClaim {one.claim} has other devices")
    if _reserved(body) - {member.pod.uid} and not (_has(body, one) and _may_be_shared(body)):
        raise Impossible(f"ResourceClaim {one.claim} is in use by others")


def _is_ours(body: Body, commit: str, member: Member) -> bool:
    """Whether `commit` was the last to give the claim to a pod, and the pod uses it yet.

    A later commit of the same pod may need what an earlier one has given.
    """
    held = bool((body.get("status") or {}).get("allocation"))
    users = _reserved(body)
    return _wrote(body) == commit and held and (not users or member.pod.uid in users)


def _has(body: Body, one: ClaimAllocation) -> bool:
    allocation = (body.get("status") or {}).get("allocation") or {}
    results = (allocation.get("devices") or {}).get("results") or ()
    found = [(r["request"], (r["driver"], r["pool"], r["device"])) for r in results]
    return sorted(found) == sorted((request, tuple(name)) for request, name in one.devices)


def _may_be_shared(body: Body) -> bool:
    """Whether several pods may use a claim: it was not made for one of them, by a template."""
    owners = body["metadata"].get("ownerReferences") or ()
    return not any(one.get("controller") and one.get("kind") == "Pod" for one in owners)


def _others(body: Body, member: Member) -> list[Body]:
    """Those that use a claim beside the pod of `member`."""
    users = (body.get("status") or {}).get("reservedFor") or ()
    return [one for one in users if one.get("uid") != member.pod.uid]


def _reserved(body: Body) -> set[Any]:
    return {each.get("uid") for each in (body.get("status") or {}).get("reservedFor") or ()}


def _consumer(member: Member) -> Body:
    return {"resource": "pods", "name": member.pod.name, "uid": member.pod.uid}


def _exactly(one: ClaimAllocation, body: Body) -> Target:
    return replace(one.claim, version=_version(body))


def _version(body: Body) -> str:
    return str(body["metadata"]["resourceVersion"])
