"""Gangs read from what is known of their pods: only those that have changed are decoded."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.model.readers.gangs.minimum_size import MinimumSizes
from fourleaf.model.readers.gangs.names import Identity
from fourleaf.model.readers.gangs.read_gang import GangRead, Situation, identity_of, read_gang
from fourleaf.model.readers.live.gang_cache import NOTHING, Kept
from fourleaf.model.readers.live.known_problems import KnownProblems
from fourleaf.model.readers.live.object_cache import Address, ObjectCache, ObjectView
from fourleaf.model.readers.live.pod_cache import PodCache
from fourleaf.model.readers.objects.report import MOST_OF_ONE_OBJECT, Report


class GangReads:
    """Reads one gang, or one pod alone. `problems` are those of gangs as they were read last."""

    def __init__(self, table: PodCache, bodies: ObjectCache, problems: KnownProblems) -> None:
        self._table = table
        self._bodies = bodies
        self._problems = problems

    def whole(self, identity: Identity, situation: Situation) -> Kept:
        """Read one gang, and nothing that was wrong with it before sticks.

        Members that did not change are not decoded again where nothing is wrong with any
        member. Else all are, because objects remember what is wrong with them.
        """
        members = self._table.members(identity)
        if not members:
            return NOTHING
        if not self._problems.has(identity):
            kept = self._members(identity, members, situation, False)
            if not kept.problems:
                return kept
        return self._members(identity, members, situation, True)

    def _members(
        self, identity: Identity, members: Iterable[Address], situation: Situation, anew: bool
    ) -> Kept:
        report = Report(MOST_OF_ONE_OBJECT)
        view = ObjectView(self._bodies, report)
        owners = self._table.owners_in(view)
        pods = []
        for at in members:
            known = self._table.known(at)
            if anew or known.is_outdated or known.pod is None or known.pod.stale:
                pod = self._table.read(at, report, owners)
                if known.pod is not None:
                    pod.keep_read(known.pod)
                known.pod, known.is_outdated = pod, False
                # Also says what is wrong with how the pod names its gang.
                identity_of(known.pod)
            else:
                known.pod.read_on(report)
            pods.append(known.pod)
        sizes = MinimumSizes(view, situation.priorities, True)
        read = read_gang(identity, pods, sizes, situation)
        return Kept(read, report.problems)

    def alone(self, at: Address, situation: Situation) -> GangRead:
        """Read a pod as if it were all of its gang, whatever is wrong with it.

        So it stands with its gang from then on, and it is read again together with that.
        """
        view = ObjectView(self._bodies, report := Report())
        pod = self._table.read(at, report, self._table.owners_in(view))
        known = self._table.known(at)
        if known.pod is not None:
            pod.keep_read(known.pod)
        known.pod = pod
        sizes = MinimumSizes(view, situation.priorities, True)
        return read_gang(identity_of(pod), [pod], sizes, situation)
