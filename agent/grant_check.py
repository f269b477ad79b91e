"""What runs on the devices, compared with what was granted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fourleaf.agent.grants import Grants, PodOnNode
from fourleaf.model.crds.node_status import Process


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A pod that computes on a device that it was not granted.

    `pod` is None where the cluster no longer knows it, `uid` what its control group calls it.
    """

    gpu: int
    uid: str
    pod: PodOnNode | None
    granted_to: tuple[str, ...] = ()

    def __str__(self) -> str:
        who = f"pod {self.pod}" if self.pod else f"a pod that is gone (UID {self.uid})"
        whose = f"pod {' and '.join(self.granted_to)}" if self.granted_to else "no pod"
        return f"device {self.gpu}: {who} runs on it, and it is granted to {whose}"


Unknown = frozenset[tuple[int, str]]
"""Devices and pods that the cluster does not know."""

NOTHING_UNKNOWN: Unknown = frozenset()


def mismatches(
    processes: Iterable[Process], grants: Grants, before: Unknown = NOTHING_UNKNOWN
) -> tuple[list[Mismatch], Unknown]:
    """The mismatches by device and pod, and the unknown pods that are seen now.

    Processes outside of pods are the administrator's and are not compared. A pod without a
    grant may use devices that a device plugin picked, unless they are granted to others. An
    unknown pod counts once it was seen `before`: its end may not have been heard of yet.
    """
    found: list[Mismatch] = []
    unknown: set[tuple[int, str]] = set()
    for gpu, uid in sorted({(one.gpu, one.pod_uid) for one in processes if one.pod_uid}):
        pod = grants.pod(uid)
        if pod is None:
            unknown.add((gpu, uid))
            if (gpu, uid) in before:
                found.append(Mismatch(gpu, uid, None, _holders(grants, gpu)))
        elif gpu not in pod.devices:
            holders = _holders(grants, gpu)
            if holders or not pod.picked:
                found.append(Mismatch(gpu, uid, pod, holders))
    return found, frozenset(unknown)


def _holders(grants: Grants, gpu: int) -> tuple[str, ...]:
    return tuple(map(str, grants.holders(gpu)))
