"""What the decisions of the webhook depend on besides the review itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fourleaf.model.config.spec import Spec
from fourleaf.model.readers.objects.manifest import Body

DEFAULTS = Spec()

SCHEDULER_USER = "system:serviceaccount:kube-system:fourleaf-scheduler"
"""The scheduler's account where it is deployed as it ships."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The config in force, who the scheduler is, and the claims that are known.

    `claims` are GpuClaim objects by namespace and name.
    """

    spec: Spec = DEFAULTS
    scheduler_users: frozenset[str] = frozenset({SCHEDULER_USER})
    claims: Mapping[tuple[str, str], Body] = field(default_factory=dict)

    @property
    def tells_devices(self) -> bool:
        """Whether containers are told their devices by the scheduler's annotation."""
        return self.spec.devices.mode == "env"

    @property
    def scheduler_name(self) -> str:
        """The scheduler that GPU pods get where a namespace asks for it."""
        return self.spec.scheduler_names[0]
