"""A scenario as a system that can be searched, by replaying schedules from the start.

A process in the middle of its work cannot be copied, so a state is named by the schedule that
leads there: the list of choices. A step is tried in the run that stands where it begins; where
that run has gone on, the schedule is replayed on a copy of the ground. Runs are deterministic:
versions, UIDs and names depend on nothing else, clocks stand, and the event loop has no other
source of events.

Two moments count as one where the following agree, and then the same can follow:

- all Leases and pods, and how often each was written;
- of each leader, what it was told: the order, fate and answers of its requests and the pods
  that it saw then. Its code is deterministic, so that determines all its variables. Where
  nothing runs but its plan, its book and its place in the plan stand for all of that;
- the late requests that are still on their way, and what is left of the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.explorer.code.ground import Ground, ground
from tests.explorer.code.live import Choice, Live
from tests.explorer.code.rest import after_a_crash, always, at_rest
from tests.explorer.code.scenario import Bounds, Scenario


@dataclass(frozen=True, slots=True)
class Moment:
    """A state: the schedule that leads there, its key, and what is wrong with it."""

    schedule: tuple[Choice, ...]
    key: bytes
    wrong: str


@dataclass(slots=True, eq=False)
class CodeSystem:
    """The scenario under `bounds`. `schedules` counts runs from the start."""

    scenario: Scenario
    bounds: Bounds
    schedules: int = 0
    crashes: int = 0
    _ground: Ground = field(init=False)
    _live: Live | None = None
    _at: tuple[Choice, ...] = ()
    _judged: dict[bytes, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._ground = self._lay()

    def starts(self) -> Iterable[Moment]:
        """Before anybody has done anything."""
        live = self._stand(())
        yield self._moment((), live)

    def steps(self, state: Moment) -> Iterator[tuple[str, Moment]]:
        """Each choice, in the run that stands there or in a new one."""
        choices = list(self._stand(state.schedule).choices())
        for choice in choices:
            live = self._stand(state.schedule)
            label = live.go(choice)
            self._at = (*state.schedule, choice)
            yield label, self._moment(self._at, live)

    def key(self, state: Moment) -> bytes:
        """What tells this moment from others."""
        return state.key

    def breach(self, state: Moment) -> str:
        """What is wrong here, now or after a crash of all leaders."""
        return state.wrong

    def close(self) -> None:
        """End the last run."""
        if self._live is not None:
            self._live.loop.end()
            self._live = None

    def _stand(self, schedule: tuple[Choice, ...]) -> Live:
        """A run that stands at the end of `schedule`."""
        if self._live is not None and self._at == schedule:
            return self._live
        self.close()
        self._live = live = self._begin()
        self.schedules += 1
        for choice in schedule:
            live.go(choice)
        self._at = schedule
        return live

    def _moment(self, schedule: tuple[Choice, ...], live: Live) -> Moment:
        return Moment(schedule, live.key, self._wrong(live))

    def _wrong(self, live: Live) -> str:
        if why := self._now(live):
            return why
        digest = live.store.digest()
        if digest not in self._judged:
            self.crashes += 1
            self._judged[digest] = self._crashed(live)
        return self._judged[digest]

    def _lay(self) -> Ground:
        return ground(self.scenario)

    def _begin(self) -> Live:
        return Live(self.scenario, self._ground, self.bounds)

    def _now(self, live: Live) -> str:
        """What is wrong at this moment."""
        why = always(live.store)
        return why or (at_rest(live.store, self.scenario) if live.at_rest else "")

    def _crashed(self, live: Live) -> str:
        """What is wrong once everybody has died here."""
        return after_a_crash(live.store, self._ground, self.scenario)
