"""Which pod a process belongs to, as its control groups say."""

from __future__ import annotations

import re
from pathlib import Path

PROC = Path("/proc")

_POD = re.compile(
    r"(?<=[-/])pod(?P<uid>[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{4}[-_][0-9a-f]{12}"
    r"|[0-9a-f]{32})(?:\.slice)?(?:/|$)",
    re.MULTILINE,
)


class Pods:
    """Finds the pods of processes through `/proc`, which has to be the one of the host.

    The kubelet puts a pod into a group named `pod<UID>`, or, where systemd manages the groups,
    `kubepods-<class>-pod<UID>.slice` with `_` for each `-`. A static pod's UID there is the
    hash of its manifest.
    """

    def __init__(self, proc: Path = PROC) -> None:
        self._proc = proc

    def uid_of(self, pid: int) -> str:
        """The UID of the pod of process `pid`; "" where it has none, or has ended."""
        try:
            text = (self._proc / str(pid) / "cgroup").read_text("utf-8", "replace")
        except OSError:
            return ""
        found = _POD.findall(text)
        # Pods may run kubelets of their own; the devices are granted to the outermost pod.
        return found[0].replace("_", "-") if found else ""
