"""The gangs that stand aside, and the queue that they stand in: kept up as they change.

They may be 10,000, in each cycle, so neither they nor the queue are gone through where few change.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, KeysView, Sequence
from itertools import compress, count
from operator import ne, not_

from fourleaf.k8s_bridge.scheduling.gang_kind import gang_kind
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind


class AsideGangs:
    """What each waits for, by identity of the gang.

    The cache keeps one object as long as nothing of it changes, and this keeps it alive. A gang's
    number is that identity.
    """

    def __init__(self) -> None:
        self._gangs: dict[int, Gang] = {}
        self._waiting: dict[int, Waiting] = {}
        self._kinds: dict[int, Hashable] = {}
        self._alike: dict[int, tuple[Reason, dict[int, None]]] = {}
        """Identity of a reason -> the reason, and who waits for it: many share one."""

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, number: object) -> bool:
        return number in self._waiting

    @property
    def numbers(self) -> KeysView[int]:
        """All of them, in the order in which they were set aside."""
        return self._waiting.keys()

    @property
    def answers(self) -> tuple[Waiting, ...]:
        """What they wait for."""
        return tuple(self._waiting.values())

    def gang(self, number: int) -> Gang:
        """The gang of a number."""
        return self._gangs[number]

    def kind(self, number: int) -> Hashable:
        """Its namespace and kind."""
        return self._kinds[number]

    def kinds(self) -> set[Hashable]:
        """The namespaces and kinds of all."""
        return set(self._kinds.values())

    def reason(self, number: int) -> Reason:
        """Why it waits."""
        return self._waiting[number].reason

    def by_reason(self) -> Iterator[tuple[Reason, Iterable[int]]]:
        """Every reason, and the numbers of those that wait for it."""
        yield from self._alike.values()

    def waiting_for(self, kind: ReasonKind) -> Iterator[int]:
        """The numbers of those whose reason is of that kind."""
        for reason, numbers in self._alike.values():
            if reason.kind is kind:
                yield from numbers

    def put(self, gang: Gang, waiting: Waiting) -> None:
        """Set a gang aside, or let it wait for something else."""
        number = id(gang)
        if number in self._waiting:
            self._leave(number)
        else:
            self._gangs[number] = gang
            self._kinds[number] = gang.key.namespace, gang_kind(gang)
        self._waiting[number] = waiting
        reason = waiting.reason
        self._alike.setdefault(id(reason), (reason, {}))[1][number] = None

    def pop(self, number: int) -> tuple[Gang, Waiting]:
        """Take it out; what was known of it."""
        self._leave(number)
        del self._kinds[number]
        return self._gangs.pop(number), self._waiting.pop(number)

    def _leave(self, number: int) -> None:
        reason = id(self._waiting[number].reason)
        numbers = self._alike[reason][1]
        del numbers[number]
        if not numbers:
            del self._alike[reason]


class QueueOrder:
    """Where in the queue stand those that are not aside.

    The numbers of one snapshot are compared with those of the last, which takes no loop in Python.
    """

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._others: list[int] | None = None
        """Places in it of those that were not aside; None where some may have come back."""

    def follow(self, gangs: Sequence[Gang]) -> list[int]:
        """Take the queue of the next snapshot; the numbers that are there no more."""
        before, now = self._numbers, list(map(id, gangs))
        first, last = _same(before, now)
        gone = set(before[first : len(before) - last]).difference(now[first : len(now) - last])
        if self._others is not None:
            longer = len(now) - len(before)
            self._others = [
                *(at for at in self._others if at < first),
                *range(first, len(now) - last),
                *(at + longer for at in self._others if at >= len(before) - last),
            ]
        self._numbers = now
        return list(gone)

    def come_back(self) -> None:
        """Some that stood aside do so no longer."""
        self._others = None

    def others(self, gangs: Sequence[Gang], aside: AsideGangs) -> list[Gang]:
        """Those of the snapshot that are not aside, in its order."""
        if self._others is None:
            are_others = map(not_, map(aside.numbers.__contains__, self._numbers))
            self._others = list(compress(range(len(gangs)), are_others))
        self._others = [at for at in self._others if self._numbers[at] not in aside]
        return [gangs[at] for at in self._others]


def _same(before: Sequence[int], now: Sequence[int]) -> tuple[int, int]:
    """How many are the same at the beginning, and of the others at the end."""
    shorter = min(len(before), len(now))
    first = _alike(before, now, shorter)
    return first, _alike(reversed(before), reversed(now), shorter - first)


def _alike(before: Iterable[int], now: Iterable[int], most: int) -> int:
    return min(most, next(compress(count(), map(ne, before, now)), most))
