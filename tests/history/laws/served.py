"""Each eviction of a pod that lived has served a gang by the end of the history."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from tests.history import pods
from tests.history.cases import Case, Cases, cases_of
from tests.history.excuses import excuses
from tests.history.history import History

PREEMPTION, RESTART = "preemption", "restart"


@dataclass(frozen=True, slots=True)
class Evictions:
    """What came of the evictions of pods that lived.

    So many `served` a gang, and so many were asked for by commits that `went_back`. `excused` has,
    for each relocation that served none and could not help it, how many went and why.
    """

    served: int = 0
    went_back: int = 0
    excused: tuple[tuple[int, str], ...] = ()
    breaches: tuple[str, ...] = ()

    @property
    def not_served(self) -> int:
        """How many are excused."""
        return sum(count for count, _ in self.excused)

    def lines(self) -> list[str]:
        """The counts, and each excuse, so that none is taken for service."""
        return [
            tally(self.served, self.not_served, self.went_back),
            *(f"        {count} excused: {why}" for count, why in self.excused),
        ]


def tally(served: int, excused: int, went_back: int) -> str:
    """The counts of evictions in words."""
    return f"{served} evictions served, {excused} excused, {went_back} for commits that went back"


@dataclass(frozen=True, slots=True)
class Served:
    """Asks of each relocation for which we have evicted pods that lived what came of it.

    - Its gang, or what its owner has made in its place, was bound by us to all its seats since it
      was written, by commits that did not go back.
    - Of a preemption: each gang that made way stood on a node where the other has a seat.
    - Of a restart: every member has gone by the time that it is over.

    One that has not served is a breach, unless something came between that no scheduler decides
    (`excuses`). An eviction that neither a relocation nor a commit that goes back names is a
    breach, and so is one of a commit all of whose members stood. Lost pods run nowhere.
    """

    name: str = "an eviction serves a gang"

    def breaches(self, history: History) -> list[str]:
        """The evictions that served no gang, and that nothing excuses."""
        return list(evictions(history).breaches)


def evictions(history: History) -> Evictions:
    """Judge all evictions of pods that lived."""
    cases = cases_of(history)
    breaches = [*cases.unreadable, *cases.unnamed, *cases.whole]
    served = 0
    excused = []
    for case in (one for one in cases.cases if one.evicted):
        count = len(case.evicted)
        what = f"revision {case.revision}: {case.one.purpose} for {case.one.gang}"
        breaches += [f"{what}: {trouble}" for trouble in _beside(case, cases)]
        trouble = _trouble(case, cases)
        if not trouble:
            served += count
        elif why := next(excuses(case, cases, history), ""):
            excused.append((count, f"{what}: {trouble}: {why}"))
        else:
            breaches.append(f"{what}, {count} evicted: {trouble}")
    return Evictions(served, cases.went_back, tuple(excused), tuple(breaches))


def _trouble(case: Case, cases: Cases) -> str:
    """Why it has served no gang, "" where it has."""
    if case.one.purpose == RESTART:
        return f"{', '.join(case.stayed)} stayed" if case.stayed else ""
    if not case.seats:
        return "no seat is kept"
    came = Counter(node for node, commit in case.bound.values() if commit not in cases.undone)
    missing = case.seats - came
    return f"none came to {', '.join(sorted(missing))}" if missing else ""


def _beside(case: Case, cases: Cases) -> Iterator[str]:
    """The gangs that make way in a preemption and stood on no node with a seat."""
    if case.one.purpose != PREEMPTION:
        return
    nodes: dict[str, set[str]] = defaultdict(set)
    gone: set[str] = set()
    for leaver in case.one.leavers:
        pod = cases.known.get(leaver.uid)
        victim = (pods.gang(pod) if pod else "") or leaver.pod
        nodes[victim].add(leaver.node)
        gone |= {victim} if leaver.uid in case.evicted else set()
    for victim in sorted(gone):
        if nodes[victim].isdisjoint(case.seats):
            where = ", ".join(sorted(nodes[victim]))
            yield f"{victim} made way on {where}, and no seat is there"
