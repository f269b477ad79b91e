"""Pods by the controller that made them: those of one are counted without a look at all others."""

from __future__ import annotations

from collections import defaultdict


class PodsByController:
    """UIDs of pods by the UID of their controller."""

    def __init__(self) -> None:
        self._controller: dict[str, str] = {}
        self._pods: dict[str, set[str]] = defaultdict(set)

    def add(self, pod: str, controller: str) -> None:
        """The pod was made by `controller`, "" where by none."""
        if self._controller.get(pod, "") == controller:
            return
        self.discard(pod)
        if controller:
            self._controller[pod] = controller
            self._pods[controller].add(pod)

    def discard(self, pod: str) -> None:
        """The pod is gone."""
        controller = self._controller.pop(pod, "")
        if controller:
            self._pods[controller].discard(pod)
            if not self._pods[controller]:
                del self._pods[controller]

    def of(self, controller: str) -> frozenset[str]:
        """The pods of a controller."""
        return frozenset(self._pods.get(controller, ()))
