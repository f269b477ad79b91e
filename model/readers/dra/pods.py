"""Pods that name ResourceClaims, planned like pods with GPUs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from model.crds.claim import CLAIM as GPU_CLAIM
from model.devices.demand import DeviceDemand
from model.devices.names import DeviceName, numbers_of
from model.readers.device_map import DEVICE_MAP
from model.readers.dra.api import CLAIM
from model.readers.dra.claims import ClaimAsk, Refused, allocated, is_allocated, owners, requests_of
from model.readers.dra.classes import DeviceClasses
from model.readers.manifest import Manifest
from model.readers.objects import Objects
from model.readers.pods import Pod


@dataclass(frozen=True, slots=True)
class Claimables:
    """What claims are read against: the classes of the config, and the devices of nodes."""

    names: tuple[str, ...]
    classes: DeviceClasses
    on_node: Mapping[str, Sequence[DeviceName]]


def claims_named(pod: Manifest) -> Iterator[tuple[str, str, bool]]:
    """The claims of a pod: field, name ("" while it has none), whether it was made for the pod.

    A claim that was found not to be needed is left out.
    """
    listed = _mapping(pod, "spec").get("resourceClaims")
    made = {
        str(one.get("name")): one
        for _, one in pod.mappings(
            _mapping(pod, "status").get("resourceClaimStatuses"), "status.resourceClaimStatuses"
        )
    }
    for field, one in pod.mappings(listed, "spec.resourceClaims"):
        if one.get("resourceClaimName"):
            yield field, str(one["resourceClaimName"]), False
        elif (called := str(one.get("name"))) not in made:
            yield field, "", True
        elif name := made[called].get("resourceClaimName"):
            yield field, str(name), True


def _mapping(pod: Manifest, key: str) -> Mapping[str, object]:
    return pod.mapping(pod.body.get(key), key)


def apply_claims(pod: Pod, objects: Objects, known: Claimables) -> None:
    """Let `pod` ask for what its claims are for; where it stands, have what they hold there."""
    manifest = pod.manifest
    if pod.request.gpus and pod.waits:
        pod.unsupported = "spec.containers[*].resources: GPUs without a ResourceClaim"
        return
    for key in (GPU_CLAIM, DEVICE_MAP):
        if pod.annotation(key) is not None:
            pod.unsupported = f"metadata.annotations[{key}]"
            return
    found: list[ClaimAsk] = []
    demands: set[DeviceDemand] = set()
    held: list[DeviceName] = []
    for field, name, made in claims_named(manifest):
        if name and any(one.name == name for one in found):
            continue
        claim = objects.get(*CLAIM, pod.namespace, name) if name else None
        if claim is None and not pod.waits:
            continue
        if claim is None:
            what = f"names no ResourceClaim of namespace {pod.namespace}"
            manifest.error(
                field,
                name or None,
                what if name else "has no ResourceClaim yet",
                "Create the claim, or correct the name."
                if name
                else "Wait for the resource claim controller to make it from its template.",
            )
            return
        why = _unusable(pod, claim, made) if pod.waits else ""
        if why:
            manifest.error(field, name, why, "Give the pod a claim of its own.")
            return
        try:
            requests, demand = requests_of(claim.body, known.classes, known.names)
        except Refused as refused:
            pod.unsupported = f"{field}: ResourceClaim {name}: {refused}"
            return
        metadata = claim.body["metadata"]
        uid, version = (str(metadata.get(key) or "") for key in ("uid", "resourceVersion"))
        found.append(ClaimAsk(name, uid, version, requests))
        demands.add(demand)
        held.extend(allocated(claim.body))
    if len(demands) > 1:
        pod.unsupported = "spec.resourceClaims, which are for devices of different kinds,"
        return
    if found:
        count = sum(one.count for one in found)
        pod.request = replace(pod.request, gpus=count, wants=demands.pop())
        pod.resource_claims = tuple(found)
        if pod.spec.get("nodeName"):
            pod.devices = numbers_of(held, known.on_node.get(pod.node, ()))


def _unusable(pod: Pod, claim: Manifest, made: bool) -> str:
    """Why a claim cannot be given devices for a pod that waits."""
    metadata = claim.body["metadata"]
    uid = pod.manifest.body["metadata"].get("uid")
    if metadata.get("deletionTimestamp") is not None:
        return "names a ResourceClaim that is being deleted"
    if made and uid and uid not in owners(claim.body):
        return "names a ResourceClaim that was made for another pod"
    if is_allocated(claim.body):
        return "names a ResourceClaim that has devices already, which it may not share"
    return ""


def refuse_shared_claims(pods: Iterable[Pod]) -> None:
    """Report pods of one gang that wait for the devices of one claim."""
    first: dict[str, str] = {}
    for pod in pods:
        for claim in pod.resource_claims if pod.waits else ():
            other = first.setdefault(claim.name, pod.name)
            if other != pod.name:
                pod.manifest.error(
                    "spec.resourceClaims",
                    claim.name,
                    f"names a ResourceClaim that {other} names as well",
                    "Give each pod a claim of its own, by a ResourceClaimTemplate.",
                )
