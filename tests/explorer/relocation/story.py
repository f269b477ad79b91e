"""What stands, what waits, what goes wrong, and what has to come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.explorer.code.scenario import Act, Scenario, TakeOver


@dataclass(frozen=True, slots=True)
class Lead:
    """Repair, preempt, reserve, plan, bind and tidy, whenever something has changed."""


@dataclass(frozen=True, slots=True)
class Job:
    """A gang of `size` pods of one device, which stands on `nodes`, or waits where it has none.

    A member that is to go is made up for: at once under another name, as a Job does it, or,
    with `same_name`, once it is gone, as a StatefulSet does. With `late` it is submitted when
    the first relocation is written, at any moment from then on; with `ends` its pods come to
    their end at any moment.
    """

    name: str
    size: int = 1
    nodes: tuple[str, ...] = ()
    priority: str = ""
    same_name: bool = False
    movable: bool = False
    late: bool = False
    ends: bool = False

    def pod(self, index: int, count: int) -> str:
        """The name of the member of this index that `count` others have been before."""
        return f"{self.name}-{index}" if self.same_name else f"{self.name}-{index}-{count}"


@dataclass(frozen=True)
class Story(Scenario):
    """Two leaders, one after the other, over `leaves` of so many nodes of one device each.

    `dead` nodes are known to be dead, but those that have `returned` to the old leader alone;
    the `doubted` one becomes unusable to the old leader alone, once the new one leads;
    `draining` ones are to be emptied. `targets` say where the
    planner sends members, by gang and index, where there is room. At rest the gangs `whole` run,
    each on its own nodes and none on a dead or emptied one, and at most `evictions` pods were
    told to go. Places are reserved for gangs that wait where it `reserves`. Where it `is_hurried`,
    leaders wait for no answer about a relocation: its requests go on beside all else.
    """

    jobs: tuple[Job, ...] = ()
    leaves: tuple[int, ...] = (2,)
    dead: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    doubted: str = ""
    draining: frozenset[str] = frozenset()
    targets: Mapping[tuple[str, int], str] = field(default_factory=dict)
    whole: tuple[str, ...] = ()
    evictions: int = 0
    reserves: bool = False
    is_hurried: bool = False

    @property
    def lost(self) -> frozenset[str]:
        """The nodes that are dead for good."""
        return self.dead - self.returned

    def job(self, name: str) -> Job:
        """The job of that name."""
        return next(job for job in self.jobs if job.name == name)


OLD: tuple[Act | Lead, ...] = (Lead(),)
NEW: tuple[Act | Lead, ...] = (TakeOver(), Lead())


def story(name: str, why: str, **rest: object) -> Story:
    """A story in which the old leader leads and the new one takes over."""
    return Story(name, {}, OLD, NEW, "", why, **rest)  # type: ignore[arg-type]
