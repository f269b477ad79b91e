"""A history judged by every law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.history.history import History
from tests.history.laws.bindings import Bindings
from tests.history.laws.budgets import Budgets
from tests.history.laws.capacity import Capacity
from tests.history.laws.deletes import Deletes
from tests.history.laws.devices import Devices
from tests.history.laws.epochs import Epochs
from tests.history.laws.law import Law
from tests.history.laws.leaks import Leaks
from tests.history.laws.loops import Loops
from tests.history.laws.requests import RequestsPerPod
from tests.history.laws.served import Evictions, Served, evictions
from tests.history.laws.topology import Topology
from tests.history.laws.whole import Whole
from tests.history.laws.work import Done, Work, done

SHOWN = 8
"""Breaches of one law that a verdict spells out."""


@dataclass(frozen=True, slots=True)
class Expectations:
    """What a run must have done at least, and may have cost at most.

    `requests_per_pod` None: a run under faults that repeat requests has no bound. `sizes` are
    the sizes of gangs, by NAMESPACE/NAME, whose pods do not say it. `notice` is how many
    seconds events may come late: what others did within it can be planned around by nobody.
    """

    bindings: int = 1
    commits: int = 1
    holding: int = 0
    requests_per_pod: float | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    notice: float = 10.0
    failures_a_second: int = 12
    failures_in_all: int = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """Breaches by law, in the order of the laws, what the run did, and what evictions came to."""

    breaches: Mapping[str, tuple[str, ...]]
    done: Done
    evictions: Evictions
    gaps: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no law is broken."""
        return not any(self.breaches.values())

    def lines(self) -> list[str]:
        """The verdict for people, a line for each law and each of its first breaches."""
        found = []
        for law, broken in self.breaches.items():
            found.append(f"{'BROKEN' if broken else 'holds '}  {law}")
            found += [f"        {one}" for one in broken[:SHOWN]]
            if len(broken) > SHOWN:
                found.append(f"        and {len(broken) - SHOWN} more")
        did = self.done
        found.append(
            f"{did.bindings} bindings, {did.commits} commits, {did.holding} pods hold nodes"
        )
        found += self.evictions.lines()
        found += [f"versions are missing: {gap}" for gap in self.gaps]
        return found


def laws(expected: Expectations) -> list[Law]:
    """Every law, with the bounds that a run was given."""
    found: list[Law] = [
        Work(expected.bindings, expected.commits, expected.holding),
        Devices(),
        Capacity(expected.notice),
        Whole(expected.sizes),
        Epochs(),
        Bindings(),
        Deletes(),
        Budgets(),
        Served(),
        Topology(expected.sizes),
        Leaks(),
        Loops(expected.failures_a_second, expected.failures_in_all),
    ]
    if expected.requests_per_pod is not None:
        found.append(RequestsPerPod(expected.requests_per_pod))
    return found


def check(history: History, expected: Expectations, more: Sequence[Law] = ()) -> Verdict:
    """Judge a history by every law, and by `more` of a scenario's own."""
    broken = {law.name: tuple(law.breaches(history)) for law in (*laws(expected), *more)}
    return Verdict(broken, done(history), evictions(history), history.gaps)
