"""Read allowance: how many pods of one namespace may be read again, and what is put off until then.

One write of an owner, a claim, a PodGroup or a member may have thousands of pods read again, all of
it on the event loop, and a tenant may write twenty times a second. What is beyond the allowance is
read later, as if the watch had told it later. What decides which room is free never is. So it is
with nodes, of which one inventory or one device map has all taken into a new fabric.
"""

from __future__ import annotations

READS_A_SECOND = 1_000.0
"""Pods that may be read again on behalf of one namespace: a tenth of a second of CPU time.

Nodes that may be on behalf of one agent, and of all device maps."""
MOST_READS = 10_000.0
"""Pods that may be read again at once by who has had none read for a while."""

CLAIMS_A_POD = 4
"""So many claims of devices or volumes that a pod names cost what a pod costs."""


class ReadAllowance:
    """What is left to each namespace, in pods. Who has anything left may overdraw it."""

    def __init__(self) -> None:
        self._left: dict[str, float] = {}
        self._at = 0.0

    def settle(self, now: float) -> None:
        """It is `now`, in seconds since the epoch: more may be read again."""
        more = max(0.0, now - self._at) * READS_A_SECOND
        self._at = now
        left = ((name, value + more) for name, value in self._left.items())
        self._left = {name: value for name, value in left if value < MOST_READS}

    def has(self, namespace: str) -> bool:
        """Whether pods of a namespace may be read again now."""
        return self._left.get(namespace, MOST_READS) > 0.0

    def charge(self, namespace: str, pods: int) -> None:
        """So many of them were."""
        if pods:
            self._left[namespace] = self._left.get(namespace, MOST_READS) - pods
