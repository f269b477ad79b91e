"""Pods that name ResourceClaims, planned like pods with GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from fourleaf.model.crds.claim import CLAIM as GPU_CLAIM
from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.names import DeviceName, numbers_of
from fourleaf.model.readers.dra.claims import (
    ClaimAsk,
    UnsupportedClaim,
    allocated,
    is_allocated,
    owners,
    requests_of,
)
from fourleaf.model.readers.dra.classes import DeviceClasses
from fourleaf.model.readers.objects.dra_kinds import CLAIM, TEMPLATE
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from fourleaf.model.readers.pods.pods import Pod


@dataclass(frozen=True, slots=True)
class Claimables:
    """What claims are read against: the classes of the config, and the devices of nodes."""

    names: tuple[str, ...]
    classes: DeviceClasses
    on_node: Mapping[str, Sequence[DeviceName]]


class Named(NamedTuple):
    """A claim as a pod names it: where, by which name ("" before there is one), which template.

    `template` is "" where the claim was not made for the pod.
    """

    field: str
    name: str
    template: str


def claims_named(pod: Manifest) -> Iterator[Named]:
    """The claims of a pod, without those that were found not to be needed."""
    listed = _mapping(pod, "spec").get("resourceClaims")
    made = {
        str(one.get("name")): one
        for _, one in pod.mappings(
            _mapping(pod, "status").get("resourceClaimStatuses"), "status.resourceClaimStatuses"
        )
    }
    for field, one in pod.mappings(listed, "spec.resourceClaims"):
        if one.get("resourceClaimName"):
            yield Named(field, str(one["resourceClaimName"]), "")
            continue
        called, template = str(one.get("name")), str(one.get("resourceClaimTemplateName"))
        if called not in made:
            yield Named(field, "", template)
        elif name := made[called].get("resourceClaimName"):
            yield Named(field, str(name), template)


def _mapping(pod: Manifest, key: str) -> Mapping[str, object]:
    return pod.mapping(pod.body.get(key), key)


def apply_claims(pod: Pod, objects: Objects, known: Claimables) -> None:
    """Let `pod` ask for what its claims are for; where it stands, have what they hold there."""
    pod.unsupported = _asked_otherwise(pod)
    claims = None if pod.unsupported else _claims(pod, objects)
    if not claims:
        return
    found: list[ClaimAsk] = []
    demands: set[DeviceDemand] = set()
    for field, claim in claims.items():
        try:
            requests, demand = requests_of(claim.body, known.classes, known.names)
        except UnsupportedClaim as refused:
            pod.unsupported = f"{field}: {claim.kind} {claim.name}: {refused}"
            return
        metadata = claim.body["metadata"]
        uid, version = (str(metadata.get(key) or "") for key in ("uid", "resourceVersion"))
        name = claim.name if claim.kind == CLAIM[1] else ""
        found.append(ClaimAsk(name, uid, version, requests))
        demands.add(demand)
    if len(demands) > 1:
        pod.unsupported = "spec.resourceClaims, which are for devices of different kinds,"
        return
    count = sum(one.count for one in found)
    pod.request = replace(pod.request, gpus=count, wants=demands.pop())
    pod.resource_claims = tuple(found)
    if pod.spec.get("nodeName"):
        held = [name for claim in claims.values() for name in allocated(claim.body)]
        pod.devices = numbers_of(held, known.on_node.get(pod.node, ()))


def _asked_otherwise(pod: Pod) -> str:
    """Where a pod asks for GPUs in a way that does not go with claims, "" where nowhere."""
    if pod.request.gpus and pod.waits:
        return "spec.containers[*].resources: GPUs without a ResourceClaim"
    ways = (GPU_CLAIM, DEVICE_MAP)
    return next((f"metadata.annotations[{w}]" for w in ways if pod.annotation(w) is not None), "")


def _claims(pod: Pod, objects: Objects) -> dict[str, Manifest] | None:
    """The claims of a pod by field, each once; None, and a report, where one cannot be used."""
    found: dict[str, Manifest] = {}
    for named in claims_named(pod.manifest):
        if named.name and any(one.name == named.name for one in found.values()):
            continue
        claim = _claim(pod, named, objects)
        if pod.waits:
            why, advice = _unusable(pod, claim, named)
            if why:
                pod.manifest.error(named.field, named.name or None, why, advice)
                return None
        if claim is not None:
            found[named.field] = claim
    return found


def _claim(pod: Pod, named: Named, objects: Objects) -> Manifest | None:
    """The claim; for a pod that its owner has yet to make, what its template will make of it."""
    if named.name:
        return objects.get(*CLAIM, pod.namespace, named.name)
    template = objects.get(*TEMPLATE, pod.namespace, named.template)
    if template is None or pod.manifest.kind == "Pod":
        return None
    spec = template.mapping(template.body.get("spec"), "spec").get("spec")
    return replace(template, body={"metadata": {}, "spec": spec})


def _unusable(pod: Pod, claim: Manifest | None, named: Named) -> tuple[str, str]:
    """Why a claim cannot be given devices for a pod that waits, and advice; "" where it can."""
    if claim is None and not named.name:
        advice = "Wait for the resource claim controller to make it from its template."
        return "has no ResourceClaim yet", advice
    if claim is None:
        what = f"names no ResourceClaim of namespace {pod.namespace}"
        return what, "Create the claim, or correct the name."
    own = "Give the pod a claim of its own."
    metadata = claim.body["metadata"]
    uid = pod.manifest.body["metadata"].get("uid")
    if metadata.get("deletionTimestamp") is not None:
        return "names a ResourceClaim that is being deleted", own
    if named.name and named.template and uid and uid not in owners(claim.body):
        return "names a ResourceClaim that was made for another pod", own
    if is_allocated(claim.body):
        return "names a ResourceClaim that has devices already, which it may not share", own
    return "", ""


def refuse_shared_claims(pods: Iterable[Pod]) -> None:
    """Report pods of one gang that wait for the devices of one claim."""
    first: dict[str, str] = {}
    for pod in pods:
        for claim in pod.resource_claims if pod.waits else ():
            if not claim.name:
                continue
            other = first.setdefault(claim.name, pod.name)
            if other != pod.name:
                pod.manifest.error(
                    "spec.resourceClaims",
                    claim.name,
                    f"names a ResourceClaim that {other} names as well",
                    "Give each pod a claim of its own, by a ResourceClaimTemplate.",
                )
