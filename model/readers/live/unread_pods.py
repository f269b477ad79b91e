"""Unread pods: on a node, of a gang that is read later, and counted there until then.

A large gang is not read again for each of its pods that is bound. Which room is free must be known
at once all the same, and which pods that others want near, or not near, are where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from fourleaf.model.readers.gangs.read_gang import GangRead
from fourleaf.model.readers.live.object_cache import Address
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.pods.attached_volumes import AttachedVolumes
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.snapshot import RunningPod


@dataclass(frozen=True, slots=True)
class _Unread:
    """What such a pod says, and what it comes to, read alone."""

    body: Body
    read: GangRead


class UnreadPods:
    """These pods, as if each were of no gang: none of them is moved or evicted."""

    def __init__(self, neighbours: Neighbours, attached: AttachedVolumes) -> None:
        self._neighbours = neighbours
        self._attached = attached
        self._known: dict[Address, _Unread] = {}

    def keep(self, bodies: Mapping[Address, Body], read: Callable[[Address], GangRead]) -> bool:
        """Let these be all of them, each read alone by `read`; whether there are others now."""
        changed = False
        for at in [at for at, one in self._known.items() if bodies.get(at) is not one.body]:
            self._drop(self._known.pop(at).read)
            changed = True
        for at in bodies.keys() - self._known.keys():
            one = self._known[at] = _Unread(bodies[at], read(at))
            self._take(one.read)
            changed = True
        return changed

    def beside(self, running: Mapping[Address, RunningPod]) -> Iterator[RunningPod]:
        """Those that hold more than they do among `running`, where they may be as they were."""
        for at, unread in self._known.items():
            before = running.get(at)
            for _, one in unread.read.running:
                if before is None or (before.node, before.request) != (one.node, one.request):
                    yield replace(one, gang=None, ours=False, owner="")

    def _take(self, read: GangRead) -> None:
        for pod, one in read.running:
            self._neighbours.add(pod)
            self._attached.add(pod, one.node, pod.attached, one.ours)

    def _drop(self, read: GangRead) -> None:
        for pod, _ in read.running:
            self._neighbours.discard(pod)
            self._attached.discard(pod)
