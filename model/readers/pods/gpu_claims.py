"""`GpuClaim` objects, and what the pods that name them get."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from pydantic import ValidationError

from fourleaf.model.config.spec import Devices
from fourleaf.model.crds.api import GROUP
from fourleaf.model.crds.claim import CLAIM, ClaimSpec, DevicePolicy, GpuClaim, Mode
from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.quantity import in_bytes
from fourleaf.model.readers.objects.annotations import field_of, stated
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.pods.limited_gpus import refuse_beyond_limits
from fourleaf.model.readers.pods.pods import Pod

KIND = "GpuClaim"


class NamedObjects(Protocol):
    """Finds objects by name."""

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """One object, None where it is not there."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """What a claim gives each pod: how many devices, which of them do, on which nodes.

    A pod that names a claim is told the numbers of its devices, so even a demand that any devices
    meet keeps pods off nodes where it is not known which are free.
    """

    count: int
    demand: DeviceDemand
    selector: tuple[tuple[str, str], ...]


def apply_claim(pod: Pod, objects: NamedObjects, devices: Devices) -> None:
    """Let `pod` ask for what the claim that it names says.

    Where the scheduler does not pick the devices, a claim may only count them.
    """
    found = stated(pod.layers, CLAIM)
    if found is None:
        return
    manifest, name = found
    field = field_of(CLAIM)
    if "/" in name:
        manifest.error(
            field,
            name,
            "names a claim of another namespace",
            "Create the claim in the pod's own namespace and give its name alone.",
        )
        return
    claim = objects.get(GROUP, KIND, pod.namespace, name)
    if claim is None:
        manifest.error(
            field,
            name,
            f"names no {KIND} of namespace {pod.namespace}",
            "Create the claim, or correct the name.",
        )
        return
    claimed = _read(claim, manifest)
    if claimed is None:
        return
    stated_gpus = pod.request.gpus
    if stated_gpus and stated_gpus != claimed.count:
        manifest.error(
            field,
            name,
            f"is for {claimed.count} devices, but {pod.name} asks for {stated_gpus} GPUs",
            "Ask for as many GPUs as the claim has devices, or for none.",
        )
        return
    if refuse_beyond_limits(pod, claimed.count, devices, manifest, field, name):
        return
    chooses = devices.mode != "count"
    if claimed.demand != DeviceDemand() and not chooses:
        manifest.error(
            field,
            name,
            "demands more of its devices than their number, and here the kubelet chooses them",
            "Set spec.devices.mode to env, or let the claim name a count alone.",
        )
        return
    wants = claimed.demand if chooses else None
    pod.request = replace(pod.request, gpus=claimed.count, wants=wants)
    pod.claimed = claimed.selector


def _read(claim: Manifest, manifest: Manifest) -> Claimed | None:
    try:
        return claimed_by(_spec(claim.body))
    except ValidationError as error:
        message = f"names a claim that makes no sense: {_first(error)}"
        manifest.error(field_of(CLAIM), claim.name, message, "Correct the claim.")
        return None


def fault_of(claim: Body) -> str:
    """What is wrong with a claim, "" where nothing is."""
    try:
        _spec(claim)
    except ValidationError as error:
        return _first(error)
    return ""


def _spec(claim: Body) -> ClaimSpec:
    return GpuClaim.model_validate({"spec": claim.get("spec")}).spec


def _first(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "spec"
    return f"{where}: {first['msg']}"


def claimed_by(spec: ClaimSpec) -> Claimed:
    """What a claim comes to."""
    selector, topology = spec.selector, spec.topology
    least = None if topology is None else int((topology.min_bandwidth_gbps or 0) * 1000)
    required = topology is not None and topology.mode is Mode.REQUIRED
    memory = 0
    if selector is not None and selector.min_memory is not None:
        memory = -(-in_bytes(selector.min_memory) // 2**20)
    demand = DeviceDemand(
        contiguous=spec.devices.policy is DevicePolicy.CONTIGUOUS and spec.devices.count > 1,
        linked=least if required and spec.devices.count > 1 else None,
        products=tuple(sorted(selector.products)) if selector else (),
        memory=memory,
        prefers=least if not required and spec.devices.count > 1 else None,
    )
    labels = tuple(sorted(selector.node_selector.items())) if selector else ()
    return Claimed(spec.devices.count, demand, labels)
