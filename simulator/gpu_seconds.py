"""Books of GPU-seconds, in whole numbers: what was used, failed and free up to now."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GpuSeconds:
    """GPU-seconds from the start of the replay to some moment."""

    used: int = 0
    failed: int = 0
    free: int = 0

    @property
    def all(self) -> int:
        """What all GPUs could have given in that time."""
        return self.used + self.failed + self.free


class GpuSecondsBooks:
    """Adds up GPU-seconds as time goes on. `used` and `failed` are GPUs now."""

    def __init__(self, gpus: int) -> None:
        self.gpus = gpus
        self.used = 0
        self.failed = 0
        self.totals = GpuSeconds()
        self._now = 0

    @property
    def free(self) -> int:
        """GPUs that are neither used nor failed."""
        return self.gpus - self.used - self.failed

    def advance(self, now: int) -> None:
        """Book the time since the last call. Raises `ValueError` where `now` lies before it."""
        seconds = now - self._now
        if seconds < 0:
            raise ValueError(f"time goes back from {self._now} to {now}")
        known = self.totals
        self.totals = GpuSeconds(
            known.used + self.used * seconds,
            known.failed + self.failed * seconds,
            known.free + self.free * seconds,
        )
        self._now = now
