"""Events for the pods that use what they were not granted."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.agent.grant_check import Mismatch
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import clipped

REASON = "DevicesNotGranted"
ACTION = "Comparing"


def news(before: Iterable[Mismatch], now: Iterable[Mismatch]) -> list[Event]:
    """An event on the pod for each mismatch that was not there before.

    Pods that the cluster does not know have no object to tell on.
    """
    known = set(before)
    return [
        Event(
            Regarding.pod(one.pod.target),
            REASON,
            clipped(str(one)),
            ACTION,
            topic=str(one.gpu),
            warning=True,
        )
        for one in now
        if one not in known and one.pod is not None
    ]
