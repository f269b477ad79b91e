"""`GpuClaim`: which devices of a node each pod that names the claim is to have.

A pod names a claim of its own namespace by the annotation `gpu.scheduling/claim`. The claim is
a description, not a reservation: every pod that names it gets devices of its own.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, field_validator

from fourleaf.model.crds.api import ApiPart, Condition, Number
from fourleaf.model.quantity import in_bytes

CLAIM = "gpu.scheduling/claim"
"""Annotation of a pod, or of its owner: the name of its claim."""

MOST_DEVICES = 1024
"""Of one node."""

Product = Annotated[str, Field(min_length=1, max_length=253)]
LabelValue = Annotated[str, Field(max_length=63)]


class DevicePolicy(StrEnum):
    """Which devices do: any, or such whose numbers follow each other."""

    ANY = "any"
    CONTIGUOUS = "contiguous"


class Mode(StrEnum):
    """Whether links between the devices are a law or a wish."""

    REQUIRED = "Required"
    PREFERRED = "Preferred"


class ClaimDevices(ApiPart):
    """How many devices, and how they are held."""

    count: int = Field(ge=1, le=MOST_DEVICES, description="Devices for each pod.")
    policy: DevicePolicy = Field(
        default=DevicePolicy.ANY,
        description="Whether the numbers of the devices follow each other.",
    )
    exclusivity: Literal["Exclusive"] = Field(
        default="Exclusive", description="Devices are given whole, never shared."
    )


class ClaimTopology(ApiPart):
    """How the devices are linked: by NVLink or XGMI, each with each."""

    mode: Mode = Field(
        default=Mode.REQUIRED,
        description="Required: the pod waits for such devices. Preferred: it takes others too.",
    )
    min_bandwidth_gbps: Number | None = Field(
        default=None,
        alias="minBandwidthGBps",
        description="Least bandwidth between any two of the devices, in gigabytes per second.",
    )


class ClaimSelector(ApiPart):
    """Which devices and nodes are considered at all."""

    products: list[Product] = Field(
        default_factory=list,
        max_length=16,
        description="Products of the devices, any of these; as the node's inventory says.",
    )
    min_memory: str | None = Field(
        default=None,
        max_length=32,
        pattern=r"^[0-9]+(\.[0-9]+)?(Ki|Mi|Gi|Ti|k|M|G|T)?$",
        description="Least memory of each device, as a quantity.",
    )
    node_selector: dict[str, LabelValue] = Field(
        default_factory=dict,
        max_length=32,
        description="Labels of the node, all of these, besides the pod's own nodeSelector.",
    )

    @field_validator("min_memory")
    @classmethod
    def _an_amount(cls, text: str | None) -> str | None:
        """Refuse what the pattern lets pass and no amount of memory can be."""
        if text is not None:
            in_bytes(text)
        return text


class ClaimSpec(ApiPart):
    """What each pod that names the claim is to have."""

    devices: ClaimDevices
    topology: ClaimTopology | None = None
    selector: ClaimSelector | None = None


class Allocation(ApiPart):
    """The devices that one pod has."""

    pod: str = Field(max_length=253)
    node: str = Field(max_length=253)
    devices: list[int] = Field(max_length=MOST_DEVICES)


class ClaimStatus(ApiPart):
    """Who has devices by the claim; written by the scheduler alone."""

    allocated: int = Field(default=0, ge=0, description="Pods that have devices.")
    allocations: list[Allocation] = Field(default_factory=list, max_length=4096)
    conditions: list[Condition] = Field(default_factory=list, max_length=16)


class GpuClaim(ApiPart):
    """The manifest of a claim, metadata left out."""

    api_version: Literal["gpu.scheduling/v1"] = "gpu.scheduling/v1"
    kind: Literal["GpuClaim"] = "GpuClaim"
    spec: ClaimSpec
    status: ClaimStatus | None = None
