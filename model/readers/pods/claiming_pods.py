"""Pods that name ResourceClaims, planned like pods with GPUs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fourleaf.model.crds.claim import CLAIM as GPU_CLAIM
from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.names import DeviceName, numbers_of
from fourleaf.model.readers.dra.asks import KeptAsks
from fourleaf.model.readers.dra.claims import (
    MOST_CONSUMERS,
    ClaimAsk,
    Honoured,
    UnsupportedClaim,
    allocated,
    consumers,
    is_allocated,
    node_selector,
    owners,
    results_of,
    shared_part,
)
from fourleaf.model.readers.dra.offers import Offer
from fourleaf.model.readers.objects.dra_kinds import CLAIM, TEMPLATE
from fourleaf.model.readers.objects.lookup import Objects
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from fourleaf.model.readers.pods.named_objects import too_many_objects
from fourleaf.model.readers.pods.node_terms import Terms, node_selector_terms
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.resources import with_extra


@dataclass(frozen=True, slots=True)
class Claimables:
    """What claims are read against: the classes that they may name, and the devices of nodes.

    `on_node` are GPUs by their numbers, `offer` says what else a node has. `asks` is kept.
    """

    honoured: Honoured
    on_node: Mapping[str, Sequence[DeviceName]]
    offer: Callable[[str], Offer]
    asks: KeptAsks = field(default_factory=KeptAsks)


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
    for path, one in pod.mappings(listed, "spec.resourceClaims"):
        if one.get("resourceClaimName"):
            yield Named(path, str(one["resourceClaimName"]), "")
            continue
        called, template = str(one.get("name")), str(one.get("resourceClaimTemplateName"))
        if called not in made:
            yield Named(path, "", template)
        elif name := made[called].get("resourceClaimName"):
            yield Named(path, str(name), template)


def _mapping(pod: Manifest, key: str) -> Mapping[str, object]:
    return pod.mapping(pod.body.get(key), key)


def apply_claims(pod: Pod, objects: Objects, known: Claimables) -> None:
    """Let `pod` ask for what its claims are for; where it stands, have what they hold there."""
    if known.honoured.mode == "dra":
        pod.unsupported = _asked_otherwise(pod)
    if pod.unsupported or not pod.spec.get("resourceClaims"):
        return
    if pod.waits and too_many_objects(pod.spec):
        return
    claims = _claims(pod, objects, known)
    if not claims:
        return
    total = _Sum()
    for named, claim in claims.items():
        try:
            _add(total, pod, named, claim, known)
        except UnsupportedClaim as refused:
            pod.unsupported = f"{named.field}: {claim.kind} {claim.name}: {refused}"
            pod.advice = refused.advice
            return
    if len(total.demands) > 1:
        pod.unsupported = "spec.resourceClaims, which are for devices of different kinds,"
        return
    if total.demands:
        pod.request = replace(pod.request, gpus=total.gpus, wants=total.demands.pop())
    pod.request = with_extra(pod.request, total.amounts)
    pod.reached = tuple(total.reached)
    pod.resource_claims = tuple(total.asks)
    if pod.spec.get("nodeName") and total.gpus:
        held = [name for claim in claims.values() for name in allocated(claim.body)]
        pod.devices = numbers_of(held, known.on_node.get(pod.node, ()))


@dataclass(slots=True)
class _Sum:
    """What all claims of a pod come to."""

    asks: list[ClaimAsk] = field(default_factory=list)
    demands: set[DeviceDemand] = field(default_factory=set)
    gpus: int = 0
    amounts: list[tuple[str, int]] = field(default_factory=list)
    reached: list[Terms] = field(default_factory=list)


def _add(found: _Sum, pod: Pod, named: Named, claim: Manifest, known: Claimables) -> None:
    """Add one claim of a pod. Raises `UnsupportedClaim`."""
    metadata = claim.body["metadata"]
    uid, version = (str(metadata.get(key) or "") for key in ("uid", "resourceVersion"))
    name = claim.name if claim.kind == CLAIM[1] else ""
    if is_allocated(claim.body) and not known.honoured.names_gpus(claim.body):
        if pod.waits:
            found.asks.append(ClaimAsk(name, uid, version, (), _held(claim.body)))
            found.reached += _reached(claim)
        elif named.template:
            found.asks.append(ClaimAsk(name, uid, version, ()))
            found.amounts += known.offer(pod.node).amounts_of(allocated(claim.body))
        # What a claim holds that may have several pods counts by itself.
        return
    asks = known.asks.of(claim, known.honoured)
    found.asks.append(ClaimAsk(name, uid, version, asks.requests))
    found.gpus += asks.gpus
    if asks.demand is not None:
        found.demands.add(asks.demand)
    if pod.node and is_allocated(claim.body):
        found.amounts += known.offer(pod.node).amounts_of(allocated(claim.body))
        return
    found.amounts += asks.amounts


def _held(claim: Body) -> tuple[tuple[str, DeviceName], ...]:
    """What a claim holds. Raises `UnsupportedClaim` where that is less than whole devices."""
    if part := shared_part(claim):
        raise UnsupportedClaim(part, "Give the pod a claim of its own.")
    return results_of(claim)


def _reached(claim: Manifest) -> list[Terms]:
    """The nodes that reach what a claim holds, nothing where all do."""
    selector = node_selector(claim.body)
    path = "status.allocation.nodeSelector"
    return [node_selector_terms(claim.on(Report()), selector, path)] if selector else []


def _asked_otherwise(pod: Pod) -> str:
    """Where a pod asks for GPUs in a way that does not go with claims, "" where nowhere."""
    if pod.request.gpus and pod.waits:
        return "spec.containers[*].resources: GPUs without a ResourceClaim"
    ways = (GPU_CLAIM, DEVICE_MAP)
    return next((f"metadata.annotations[{w}]" for w in ways if pod.annotation(w) is not None), "")


def _claims(pod: Pod, objects: Objects, known: Claimables) -> dict[Named, Manifest] | None:
    """The claims of a pod, each once; None, and a report, where one cannot be used."""
    found: dict[Named, Manifest] = {}
    known_names: set[str] = set()
    for named in claims_named(pod.manifest):
        if named.name and named.name in known_names:
            continue
        claim = _claim(pod, named, objects)
        if pod.waits:
            why, advice = _unusable(pod, claim, named, known)
            if why:
                pod.manifest.error(named.field, named.name or None, why, advice)
                return None
        if claim is not None:
            found[named] = claim
            known_names.add(named.name)
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


def _unusable(pod: Pod, claim: Manifest | None, named: Named, known: Claimables) -> tuple[str, str]:
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
    if not is_allocated(claim.body):
        return "", ""
    if known.honoured.names_gpus(claim.body):
        return "names a ResourceClaim that has devices already, which it may not share", own
    if len(consumers(claim.body) - {uid}) >= MOST_CONSUMERS:
        return f"names a ResourceClaim that {MOST_CONSUMERS} pods use, the most that may", own
    return "", ""


def refuse_shared_claims(pods: Iterable[Pod]) -> None:
    """Report pods of one gang that wait for the devices of one claim."""
    first: dict[str, str] = {}
    for pod in pods:
        for claim in pod.resource_claims if pod.waits else ():
            if not claim.name or claim.held:
                continue
            other = first.setdefault(claim.name, pod.name)
            if other != pod.name:
                pod.manifest.error(
                    "spec.resourceClaims",
                    claim.name,
                    f"names a ResourceClaim that {other} names as well",
                    "Give each pod a claim of its own, by a ResourceClaimTemplate.",
                )


def refuse_crossing_classes(pods: Sequence[Pod], known: Claimables) -> None:
    """Hold pods of one gang whose classes share devices in a way that counts do not tell."""
    if not known.honoured.kinds.crossing:
        return
    named = {
        one.device_class
        for pod in pods
        for claim in (pod.resource_claims if pod.waits else ())
        for one in claim.requests
        if one.device_class
    }
    crossing = known.honoured.kinds.crosses(named)
    if not crossing:
        return
    for pod in pods:
        if pod.waits and pod.resource_claims:
            pod.unsupported = f"spec.resourceClaims for classes {' and '.join(crossing)}, which"
            pod.unsupported += " share some devices and not others,"
            pod.advice = "Name classes that share all devices of one of them, or none."
