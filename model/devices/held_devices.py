"""What was granted to a pod when it was bound, and how the pod says so: under one prefix.

Nothing but the scheduler may write there, so this is what the pod holds for as long as it runs,
whatever its other annotations, its owner or its claim say meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PREFIX = "alloc.gpu.scheduling/"
"""Only the scheduler may write annotations and labels under this prefix."""
DEVICES = PREFIX + "devices"
"""Annotation of a bound pod: the numbers of its devices on its node, as CUDA takes them."""
GPUS = PREFIX + "gpus"
"""Annotation of a bound pod: how many GPUs its commit gave it."""
BANDWIDTH = PREFIX + "bandwidth"
"""Annotation of a bound pod: what its gang takes of the uplink on its node, in Mbit/s."""

_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Grant:
    """What a commit gives a pod: GPUs, and bandwidth in Mbit/s where its gang asks for any."""

    gpus: int
    bandwidth: int | None = None

    @property
    def annotations(self) -> dict[str, str]:
        """The grant as the pod is to carry it."""
        said = {GPUS: str(self.gpus)}
        if self.bandwidth is not None:
            said[BANDWIDTH] = str(self.bandwidth)
        return said


def grant_in(annotations: Mapping[str, str]) -> Grant | None:
    """The grant that a bound pod carries, None where it has none that makes sense."""
    gpus, bandwidth = _amount(annotations.get(GPUS)), _amount(annotations.get(BANDWIDTH))
    return None if gpus is None else Grant(gpus, bandwidth)


def _amount(text: str | None) -> int | None:
    sound = text is not None and text.isascii() and text.isdecimal() and len(text) <= _DIGITS
    return int(text) if text is not None and sound else None


def devices_in(text: str) -> tuple[int, ...]:
    """The numbers in the annotation; none where it makes no sense."""
    parts = text.split(",") if text else []
    sound = all(part.isascii() and part.isdecimal() and len(part) <= 4 for part in parts)
    return tuple(map(int, parts)) if sound else ()


def devices_text(devices: tuple[int, ...]) -> str:
    """The annotation for these devices."""
    return ",".join(map(str, devices))
