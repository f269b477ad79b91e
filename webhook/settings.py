"""What the decisions of the webhook depend on besides the review itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from model.config import Spec

DEFAULTS = Spec()

SCHEDULER_USER = "system:serviceaccount:kube-system:fourleaf-scheduler"
"""Whom pods see as the scheduler where it is deployed as it ships."""


class DeviceMode(StrEnum):
    """Who tells a container its devices.

    `env`: the scheduler, by an annotation that becomes CUDA_VISIBLE_DEVICES. `count`: the
    device plugin of the node, which numbers them anew. `dra`: the driver of a ResourceClaim.
    """

    ENV = "env"
    COUNT = "count"
    DRA = "dra"


@dataclass(frozen=True, slots=True)
class Settings:
    """The config in force, who the scheduler is, and how devices are told.

    `claims` has the devices of every claim that is known, by namespace and name.
    """

    spec: Spec = DEFAULTS
    scheduler_users: frozenset[str] = frozenset({SCHEDULER_USER})
    mode: DeviceMode = DeviceMode.ENV
    claims: Mapping[tuple[str, str], int] = field(default_factory=dict)

    @property
    def scheduler_name(self) -> str:
        """The scheduler that GPU pods get where a namespace asks for it."""
        return self.spec.scheduler_names[0]
