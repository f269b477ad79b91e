"""The state of the model: a server, two leaders, requests on their way. All of it is immutable."""

from __future__ import annotations

from typing import Any, NamedTuple

PREPARED, COMMITTED, BACK = "Prepared", "Committed", "RollingBack"
LIVE, DYING, GONE = "live", "dying", "gone"
WAITING, SETTLING, CLAIMING = "waiting", "settling", "claiming"
LEADING, STOPPED = "leading", "stopped"

Call = tuple[Any, ...]
"""A request: its verb, what it is about, and what its answer is for."""


class Member(NamedTuple):
    """A pod of a plan: which one (name and UID), at which version, on which node."""

    pod: int
    uid: int
    version: int
    node: int


class Entry(NamedTuple):
    """What a commit holds on a page. A `wide` one counts for what its gang lease says."""

    commit: str
    members: tuple[Member, ...]
    wide: bool
    phase: str = COMMITTED


class Page(NamedTuple):
    """A page as it stands."""

    version: int
    epoch: int
    entries: tuple[Entry, ...] = ()


class Lease(NamedTuple):
    """A gang lease; one that is not there has no phase, and its version is that of its end."""

    commit: str
    version: int
    epoch: int
    phase: str
    members: tuple[Member, ...]


class Pod(NamedTuple):
    """The pod that has a name now. `node` is -1 while it is unbound."""

    uid: int = 0
    version: int = 0
    node: int = -1
    fence: str = ""
    state: str = LIVE


def _sorted(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """Each once, in one order, so that equal states compare equal."""
    return calls if len(calls) == 1 else tuple(sorted(set(calls), key=repr))


class Draft(NamedTuple):
    """A commit on its way."""

    commit: str
    members: tuple[Member, ...]
    failed: bool = False


class Leader(NamedTuple):
    """What one process knows and waits for.

    `calls` are requests for records; the answer of each is awaited before anything else is
    decided. `binds` run beside them. `doomed` commits can go forward no more. `tries` are the
    places that were tried, `unclaimed` the pages that a takeover still has to write.
    """

    name: str
    epoch: int
    stage: str
    pages: tuple[Page, ...] = ()
    leases: tuple[Lease, ...] = ()
    calls: tuple[Call, ...] = ()
    binds: tuple[Call, ...] = ()
    draft: Draft | None = None
    doomed: tuple[str, ...] = ()
    tries: tuple[int, ...] = ()
    unclaimed: tuple[int, ...] = ()

    def asking(self, *calls: Call) -> Leader:
        """Wait for the answers to `calls` as well."""
        return self._replace(calls=_sorted((*self.calls, *calls))) if calls else self

    def binding(self, *calls: Call) -> Leader:
        """Wait for the answers to `calls` for members as well."""
        return self._replace(binds=_sorted((*self.binds, *calls))) if calls else self

    def giving_up(self, commit: str) -> Leader:
        """A member of `commit` can never be bound."""
        return self._replace(doomed=tuple(sorted({*self.doomed, commit})))

    def stopped(self) -> Leader:
        """Another leader has taken over: the process ends."""
        return Leader(self.name, self.epoch, STOPPED)

    def lease(self, commit: str) -> Lease | None:
        """The gang lease of a commit, as it is known here."""
        return next((one for one in self.leases if one.commit == commit), None)

    def with_lease(self, lease: Lease) -> Leader:
        """Know `lease`; one without a phase is not there."""
        others = [one for one in self.leases if one.commit != lease.commit]
        return self._replace(leases=tuple(sorted([*others, lease] if lease.phase else others)))

    def with_page(self, number: int, page: Page) -> Leader:
        """Know page `number`."""
        return self._replace(pages=(*self.pages[:number], page, *self.pages[number + 1 :]))


class Left(NamedTuple):
    """How much may still go wrong."""

    faults: int
    crashes: int
    deaths: int
    replaced: int


class State(NamedTuple):
    """Everything. `term` is the last epoch that anybody was given.

    `scar` says what happened on the way here that must never happen.
    """

    pages: tuple[Page, ...]
    leases: tuple[Lease, ...]
    pods: tuple[Pod, ...]
    leaders: tuple[Leader, ...]
    net: tuple[Call, ...]
    left: Left
    term: int = 1
    scar: str = ""

    def lease(self, commit: str) -> Lease | None:
        """The gang lease of a commit, or what is left of it."""
        return next((one for one in self.leases if one.commit == commit), None)
