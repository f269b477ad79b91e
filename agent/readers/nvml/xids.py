"""XID events: what the driver reports of devices that went wrong."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from fourleaf.agent.readers.nvml.calls import Nvml, NvmlAnswer

OF_APPLICATIONS = frozenset({13, 31, 43, 45, 68, 109})
"""XIDs that an application causes on a sound device; NVIDIA's device plugin skips the same."""

MOST_EVENTS = 1000
"""Events that are taken in at once; what is left waits in the driver."""

ALL = ""
"""Stands for all devices, where the driver does not say which one."""


class Xids:
    """The XIDs of each device since the first `listen`, by UUID.

    They stay until the driver is loaded anew: nothing tells that a device has recovered.
    """

    def __init__(self, nvml: Nvml) -> None:
        self._nvml = nvml
        self._set: NvmlAnswer | None = None
        self._listening: set[str] = set()
        self._seen: dict[str, set[int]] = defaultdict(set)

    def listen(self, handles: Mapping[str, Any]) -> None:
        """Hear of these devices, by UUID, from now on. Devices too old to tell are skipped."""
        if self._set is None or not self._set.given:
            self._set = self._nvml.ask("nvmlEventSetCreate")
        if not self._set.given:
            return
        wanted = self._nvml.library.nvmlEventTypeXidCriticalError
        for uuid, handle in handles.items():
            if uuid in self._listening:
                continue
            supported = self._nvml.ask("nvmlDeviceGetSupportedEventTypes", handle).or_else(0)
            if supported & wanted:
                event_set = self._set.value
                done = self._nvml.ask("nvmlDeviceRegisterEvents", handle, wanted, event_set)
                if not done.given:
                    continue
            self._listening.add(uuid)

    def take(self) -> None:
        """Take in what has happened. Does not wait for anything."""
        if self._set is None or not self._set.given:
            return
        for _ in range(MOST_EVENTS):
            event = self._nvml.ask("nvmlEventSetWait_v2", self._set.value, 0)
            if not event.given:
                return
            if event.value.eventType != self._nvml.library.nvmlEventTypeXidCriticalError:
                continue
            number = int(event.value.eventData)
            if number not in OF_APPLICATIONS:
                uuid = self._nvml.ask("nvmlDeviceGetUUID", event.value.device)
                self._seen[str(uuid.or_else(ALL))].add(number)

    def of(self, uuid: str) -> list[int]:
        """The XIDs of a device, those of no device in particular included, in order."""
        return sorted(self._seen.get(uuid, set()) | self._seen.get(ALL, set()))

    def close(self) -> None:
        """Hear no more, and forget."""
        if self._set is not None and self._set.given:
            self._nvml.ask("nvmlEventSetFree", self._set.value)
        self._set = None
        self._listening.clear()
        self._seen.clear()
