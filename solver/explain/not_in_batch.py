"""Gangs that no plan considers: held back while reading, or left out of the batch."""

from __future__ import annotations

import time
from bisect import bisect_left
from dataclasses import replace
from functools import cached_property
from itertools import accumulate

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Plan, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.select_batch import select_batch
from fourleaf.solver.instance.gang_classes import dealt, gang_order


class NotInBatch:
    """The batch of a snapshot, and the reasons of the gangs that are not in it."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._spec = snapshot.config.spec
        self._of_namespaces: dict[tuple[str, int], Reason] = {}
        """Namespace and number of its gangs ahead -> the reason, one for all that share it."""
        self.selection = select_batch(snapshot)

    def reason(self, gang: Gang) -> Reason | None:
        """The reason of a gang that is on hold or not in the batch."""
        if gang.hold is not None:
            return gang.hold.reason
        kind = self.selection.left_out.get(gang.key)
        if kind is ReasonKind.NAMESPACE_LIMIT:
            return self._namespace_limit(gang)
        if kind is ReasonKind.NOT_IN_BATCH:
            return self._not_in_batch(gang)
        return None

    def batch_alone(self) -> Snapshot:
        """The snapshot without the gangs that are not in the batch, its gangs in their order."""
        left_out = self.selection.left_out
        if not left_out:
            return self._snapshot
        gangs = tuple(gang for gang in self._snapshot.gangs if gang.key not in left_out)
        return replace(self._snapshot, gangs=gangs)

    def completed(self, plan: Plan, until: float) -> Plan:
        """A plan for the batch alone with all who wait, in the order of the snapshot.

        From `until` on (monotonic seconds), reasons say what kind they are and no more.
        """
        left_out = self.selection.left_out
        if not left_out:
            return plan
        told = {one.gang: one for one in plan.waiting}
        for gang in self._snapshot.gangs:
            kind = left_out.get(gang.key)
            if kind is not None:
                whole = self.reason(gang) if time.monotonic() < until else None
                told[gang.key] = Waiting(gang.key, whole or Reason(kind))
        waiting = (told.get(gang.key) for gang in self._snapshot.gangs)
        return replace(plan, waiting=tuple(one for one in waiting if one is not None))

    @cached_property
    def _ahead(self) -> dict[GangKey, int]:
        """Gang in the batch, or left out as it is full -> how many of these come before it."""
        left_out = self.selection.left_out
        order = (
            gang.key
            for gang in dealt(self._snapshot.gangs)
            if left_out.get(gang.key, ReasonKind.NOT_IN_BATCH) is ReasonKind.NOT_IN_BATCH
        )
        return {gang: number for number, gang in enumerate(order)}

    @cached_property
    def _in_batch(self) -> dict[str, list[Gang]]:
        """Namespace -> its gangs of the batch, in order."""
        found: dict[str, list[Gang]] = {}
        for gang in self.selection.batch:
            found.setdefault(gang.key.namespace, []).append(gang)
        return found

    @cached_property
    def _members(self) -> dict[str, list[int]]:
        """Namespace -> the members of the first gangs of its batch: of none, one, two, and on."""
        return {
            namespace: list(accumulate(map(_size, gangs), initial=0))
            for namespace, gangs in self._in_batch.items()
        }

    def _not_in_batch(self, gang: Gang) -> Reason:
        ahead = self._ahead[gang.key]
        counts = (("ahead", ahead), ("batch", self._spec.batch.size))
        step = f"raise batch.size to {ahead + 1}"
        return Reason(ReasonKind.NOT_IN_BATCH, "", counts, unblock=(step,))

    def _namespace_limit(self, gang: Gang) -> Reason:
        namespace = gang.key.namespace
        policy = self._spec.namespace(namespace)
        same = self._in_batch.get(namespace, [])
        ahead = bisect_left(same, gang_order(gang), key=gang_order)
        if policy.max_gangs is not None and ahead >= policy.max_gangs:
            if (namespace, ahead) not in self._of_namespaces:
                of_gangs = (("limit", policy.max_gangs), ("gangs", ahead))
                step = f"raise namespaces.{namespace}.maxGangs above {policy.max_gangs}"
                reason = Reason(ReasonKind.NAMESPACE_LIMIT, "", of_gangs, unblock=(step,))
                self._of_namespaces[namespace, ahead] = reason
            return self._of_namespaces[namespace, ahead]
        members = self._members[namespace][ahead] if same else 0
        own = _size(gang)
        counts = (("limit", policy.max_members or 0), ("members", members), ("needed", own))
        step = f"raise namespaces.{namespace}.maxMembers to {members + own}"
        return Reason(ReasonKind.NAMESPACE_LIMIT, "", counts, unblock=(step,))


def _size(gang: Gang) -> int:
    return sum(len(role.pods) for role in gang.roles)
