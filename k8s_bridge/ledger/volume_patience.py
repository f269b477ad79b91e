"""Volume patience: how long volumes are awaited, and how long a gang stands back after that.

While a volume is awaited, the nodes of its gang idle. The first time that is for as long as
kube-scheduler waits. After volumes of a class did not come for a namespace, it is short, longer
with each further failure, and in between the gang stands back for as long as it will be awaited
next. So others have the nodes at least half of the time, and a slow provisioner gets as long as it
needs in the end.
"""

from __future__ import annotations

from dataclasses import dataclass, field

PROVISION_LIMIT_SECONDS = 600.0
"""Seconds, at most, for which a volume is awaited: kube-scheduler's bindTimeoutSeconds."""

RETRY_LIMIT_SECONDS = 60.0
"""Seconds for which it is awaited after the first failure, twice as long after each further one."""

VolumeSource = tuple[str, str]
"""Namespace and StorageClass of a claim."""


@dataclass(slots=True, eq=False)
class VolumePatience:
    """What became of volumes in one term."""

    _failures: dict[VolumeSource, int] = field(default_factory=dict)
    _stand_back: dict[str, float] = field(default_factory=dict)

    def limit(self, source: VolumeSource) -> float:
        """Seconds for which a volume is awaited now."""
        failures = self._failures.get(source, 0)
        if not failures:
            return PROVISION_LIMIT_SECONDS
        return min(PROVISION_LIMIT_SECONDS, RETRY_LIMIT_SECONDS * 2.0 ** (failures - 1))

    def failed(self, source: VolumeSource, limit: float, pod: str) -> None:
        """The volume for a pod (by UID) did not come within `limit` seconds.

        Those of one attempt, which end together, count as one failure.
        """
        if limit == self.limit(source):
            self._failures[source] = min(self._failures.get(source, 0) + 1, 32)
        self._stand_back[pod] = self.limit(source)

    def made(self, source: VolumeSource) -> None:
        """A volume has come."""
        self._failures.pop(source, None)

    def stand_back(self, pod: str) -> float:
        """Seconds for which the gang of a pod stands back, 0 where no volume failed; said once."""
        return self._stand_back.pop(pod, 0.0)
