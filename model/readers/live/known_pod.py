"""Pods one by one: the newest body of each, and what is kept of how it was read."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.model.devices.held_devices import Grant
from fourleaf.model.readers.gangs.names import Identity
from fourleaf.model.readers.live.read_allowance import (
    CLAIMS_A_POD,
    KEPT_SPECS_A_READ,
    cost_of_annotations,
    cost_of_spec,
)
from fourleaf.model.readers.objects.dra_kinds import CLAIM
from fourleaf.model.readers.objects.manifest import Body, part_of
from fourleaf.model.readers.objects.owners import OwnerRef
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.storage_kinds import CLAIM as VOLUME_CLAIM
from fourleaf.model.readers.pods.claiming_pods import claims_named
from fourleaf.model.readers.pods.named_objects import too_many_objects
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.readers.pods.volumes import claims_of

_WITH_CLAIMS = ("volumes", "resourceClaims")
_NAMED = "resourceClaimStatuses"
ENDED = ("Succeeded", "Failed")
_WITH_AMOUNTS = ("containers", "initContainers", "containerStatuses", "initContainerStatuses")


@dataclass(slots=True, eq=False)
class Known:
    """A pod: its newest body, its UID ("" without one), its gang, and what was read last.

    `asked` are the owners, claims and volumes that its gang depends on. `is_outdated`: `pod` must
    be read anew, and stands with its gang as it was until then. `cost` is how many pods it counts
    for where it is read, `own_cost` without what its claims and owners add. `claims` are those of
    `asked` that its own spec names, None before they are known. `opened` is when it was last seen
    to hold itself back no more.
    """

    body: Body
    uid: str
    identity: Identity | None = None
    asked: tuple[OwnerRef, ...] = ()
    pod: Pod | None = None
    is_outdated: bool = True
    cost: int = 1
    own_cost: int = 1
    claims: tuple[OwnerRef, ...] | None = None
    opened: float | None = None
    _spec_cost: int | None = None
    _is_kept: bool = False
    """Whether its spec, and what its containers hold, are as they were read."""

    def __post_init__(self) -> None:
        self._take_costs()

    def take(self, body: Body, uid: str) -> None:
        """Take the pod as it is now; of a bound one what its spec comes to is not counted anew."""
        before, self.body, self.uid = self.body, body, uid
        spec = part_of(body, "spec")
        if not spec.get("nodeName") or before.get("spec") != spec:
            self._spec_cost = self.claims = None
            self._is_kept = False
        else:
            now, then = part_of(body, "status"), part_of(before, "status")
            is_known = self._is_kept or self._is_read(before)
            self._is_kept = is_known and _amounts(now) == _amounts(then)
            if then.get(_NAMED) != now.get(_NAMED):
                self.claims = None
        self._take_costs()

    def _take_costs(self) -> None:
        if self._spec_cost is None:
            self._spec_cost = cost_of_spec(self.body)
        spec_cost = self._spec_cost
        if self._is_kept:
            spec_cost = 1 + (spec_cost - 1) // KEPT_SPECS_A_READ
        self.own_cost = spec_cost + cost_of_annotations(self.body)
        spec = part_of(self.body, "spec")
        named = (spec.get(key) for key in _WITH_CLAIMS)
        count = sum(len(one) for one in named if isinstance(one, list))
        self.cost = self.own_cost + count // CLAIMS_A_POD

    def forget_read(self) -> None:
        """Have the pod read anew, whatever was read of it: more than its own body has changed."""
        self.is_outdated = True
        if self._is_kept:
            self._is_kept = False
            self._take_costs()
        if self.pod is not None:
            self.pod.stale = True

    def _is_read(self, body: Body) -> bool:
        """Whether what was read last was this body, of which nothing was wrong."""
        pod = self.pod
        if pod is None or self.is_outdated or pod.stale or pod.is_faulty:
            return False
        return pod.manifest.body is body

    def claims_of(self, pod: Pod) -> tuple[OwnerRef, ...]:
        """The claims that the pod, as it has been read now, depends on."""
        if self.claims is None or not part_of(self.body, "spec").get("nodeName"):
            self.claims = claims_asked(pod)
        return self.claims


@dataclass(frozen=True, slots=True)
class Assumption:
    """Where a pod counts as bound to before it shows a node, and what it has there."""

    node: str
    devices: tuple[int, ...]
    grant: Grant | None


def claims_asked(pod: Pod) -> tuple[OwnerRef, ...]:
    """The ResourceClaims and PersistentVolumeClaims that a pod depends on, each once."""
    if pod.waits and too_many_objects(pod.spec):
        return ()
    found = [OwnerRef(*VOLUME_CLAIM, name) for _, name in claims_of(pod.name, pod.spec)]
    if pod.spec.get("resourceClaims"):
        named = claims_named(pod.manifest.on(Report()))
        found += [OwnerRef(*CLAIM, one.name) for one in named]
    return tuple(dict.fromkeys(found))


def what_it_holds(body: Body) -> tuple[object, ...]:
    """What others must know of a pod on a node: where, its labels, if it ends, what it has.

    Nothing of a pod on none, and for which no scheduler has made room on one.
    """
    metadata, spec, status = body["metadata"], part_of(body, "spec"), part_of(body, "status")
    node, nominated = spec.get("nodeName"), status.get("nominatedNodeName")
    if not node and not nominated:
        return ()
    has_ended = status.get("phase") in ENDED
    ends = metadata.get("deletionTimestamp") is not None
    held = _amounts(spec), _amounts(status)
    return node, nominated, has_ended, ends, metadata.get("labels"), held


def _amounts(part: Body) -> list[object]:
    """All amounts that a spec or a status states, which a resize in place changes."""
    listed = (part.get(key) for key in _WITH_AMOUNTS)
    containers = (one for some in listed if isinstance(some, list) for one in some)
    every = (part, *(one for one in containers if isinstance(one, dict)))
    return [one.get(key) for one in every for key in ("resources", "allocatedResources")]
