"""Relocations from their first version on: who went for them, who came, and what came between."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.history import pods
from tests.history.disturbances import changed_budget, changed_node, meddling
from tests.history.history import History
from tests.history.laws.bindings import binds_ours
from tests.history.records import (
    COMMITTED,
    PREPARED,
    RELOCATION,
    ROLLING_BACK,
    GangLease,
    Page,
    Record,
    Relocation,
    Row,
    kind_of,
)
from tests.history.replay import Change, State, replay

Body = dict[str, Any]


@dataclass(slots=True, eq=False)
class Case:
    """A relocation, as it stood last, from `revision` on until it was gone.

    `opened` and `closed` are in seconds since 1970. By UID: `evicted` has when the pods that lived
    and went for it began to end, `bound` the node and the commit of each pod of its gang that we
    bound since, `ending` those of the former that had not gone when it was. `commits` have put
    its gang onto all of its seats, `overtaking` others onto some of them, with the UIDs of their
    pods and whether they had been prepared before. `stayed` are leavers that stood when it was
    gone. `between` tells what others did to its gang and its seats.
    """

    one: Relocation
    revision: int
    opened: float
    closed: float = math.inf
    evicted: dict[str, float] = field(default_factory=dict)
    bound: dict[str, tuple[str, str]] = field(default_factory=dict)
    ending: dict[str, Body] = field(default_factory=dict)
    commits: set[str] = field(default_factory=set)
    overtaking: dict[str, tuple[frozenset[str], bool]] = field(default_factory=dict)
    stayed: tuple[str, ...] = ()
    between: list[str] = field(default_factory=list)
    gangs: set[str] = field(default_factory=set)
    owners: set[str] = field(default_factory=set)

    @property
    def seats(self) -> Counter[str]:
        """Node -> how many seats it has."""
        return Counter(seat.node for seat in self.one.seats)

    @property
    def ends(self) -> float:
        """Until when what comes between counts: for ever once a commit has taken the seats."""
        return math.inf if self.commits else self.closed

    def has(self, pod: Body) -> bool:
        """Whether the pod is of its gang, or is what its owner has made in the place of one."""
        return (
            (pods.gang(pod) or pods.named(pod)) in self.gangs
            or pods.uid(pod) in {seat.uid for seat in self.one.seats}
            or pods.controller(pod).get("uid") in self.owners
        )

    def rewrite(self, one: Relocation, known: dict[str, Body]) -> None:
        """Take a version of it; `known` has the pods by UID."""
        self.one = one
        self.gangs.add(one.gang)
        self.owners |= {one.owner} - {""}
        for body in (known[seat.uid] for seat in one.seats if seat.uid in known):
            self.gangs.add(pods.gang(body) or pods.named(body))
            self.owners |= {str(pods.controller(body).get("uid", ""))} - {""}


@dataclass(slots=True)
class Cases:
    """All that is to be judged.

    `unnamed` are evictions that nothing written down asked for, `whole` those of commits that
    went back though all their members stood, `unreadable` relocations that make no sense, a
    sentence each. `went_back` counts evictions because a commit went back. `undone` are the
    commits that did, `known` all pods that there were, as last seen, by UID.
    """

    cases: list[Case] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)
    whole: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    went_back: int = 0
    undone: set[str] = field(default_factory=set)
    known: dict[str, Body] = field(default_factory=dict)


def cases_of(history: History) -> Cases:
    """Follow every relocation, and every eviction of ours."""
    follower = _Follower(history)
    for change in replay(history):
        follower.take(change)
    return follower.end()


class _Follower:
    def __init__(self, history: History) -> None:
        self.found = Cases()
        self._open: dict[str, Case] = {}
        self._rows: dict[str, dict[str, Row]] = defaultdict(dict)
        self._prepared: dict[str, int] = {}
        self._taken: set[str] = set()
        self._state = State()
        self._seen = 0.0
        self._asked: dict[str, float] = {}
        self._created: dict[str, list[float]] = defaultdict(list)
        for one in history.our_requests:
            if one.is_eviction and one.ok:
                self._asked.setdefault(one.evicts, one.received)
            if (one.resource, one.verb, one.ok) == ("leases", "create", True):
                self._created[one.name].append(one.received)

    def take(self, change: Change) -> None:
        """Take the next change."""
        self._state, self._seen = change.state, change.version.seen
        if change.version.kind == "leases":
            self._lease(change)
        elif change.version.kind == "pods":
            self._pod(change)
        else:
            tell = changed_node if change.version.kind == "nodes" else changed_budget
            for case in self._watched():
                case.between += tell(change, case.one)

    def end(self) -> Cases:
        """The history is over, and what is open with it."""
        for case in self._open.values():
            self._close(case)
        return self.found

    def _watched(self) -> Iterator[Case]:
        """The cases in which what comes between still counts."""
        return (case for case in self.found.cases if case.ends == math.inf)

    def _lease(self, change: Change) -> None:
        version = change.version
        name = version.body["metadata"]["name"]
        record = change.state.records.get(name)
        if kind_of(version.body) != RELOCATION:
            for commit, phase, rows in _commits(record):
                self._commit(version.revision, commit, phase, rows)
        elif version.deleted:
            if (case := self._open.pop(name, None)) is not None:
                self._close(case)
        elif isinstance(record, Relocation):
            if name not in self._open:
                written = [at for at in self._created[name] if at <= version.seen]
                opened = max(written, default=version.seen)
                self._open[name] = Case(record, version.revision, opened)
                self.found.cases.append(self._open[name])
            self._open[name].rewrite(record, self.found.known)
        else:
            what = f"revision {version.revision}: relocation {name} cannot be read"
            self.found.unreadable.append(what)

    def _commit(self, revision: int, commit: str, phase: str, rows: tuple[Row, ...]) -> None:
        """Take note of a commit as a record has it."""
        self._rows[commit] |= {row.uid: row for row in rows}
        if phase == PREPARED:
            self._prepared.setdefault(commit, revision)
        elif phase == ROLLING_BACK:
            self.found.undone.add(commit)
        elif phase == COMMITTED and commit not in self._taken:
            self._taken.add(commit)
            for case in self._open.values():
                self._seat(case, commit, rows)

    def _seat(self, case: Case, commit: str, rows: tuple[Row, ...]) -> None:
        """A commit takes: onto the seats of its gang, or onto those of another."""
        nodes = Counter(row.node for row in rows)
        members = [self.found.known[row.uid] for row in rows if row.uid in self.found.known]
        if any(map(case.has, members)):
            if case.seats and case.seats <= nodes:
                case.commits.add(commit)
        elif not case.seats.keys().isdisjoint(nodes):
            before = self._prepared.get(commit, math.inf) < case.revision
            case.overtaking[commit] = frozenset(row.uid for row in rows), before

    def _pod(self, change: Change) -> None:
        pod, uid = change.version.body, pods.uid(change.version.body)
        self.found.known[uid] = pod
        evicted = self._is_eviction(change)
        if evicted:
            self._evict(change)
        bound = binds_ours(change)
        if bound:
            for case in filter(lambda one: one.has(pod), self.found.cases):
                case.bound[uid] = pods.node(pod), pods.annotation(pod, pods.COMMIT)
        if not (evicted or bound):
            for case in self._watched():
                case.between += meddling(change, case.has(pod), case.seats)

    def _is_eviction(self, change: Change) -> bool:
        """Whether a pod that lives begins to end here because we have asked for it."""
        version, before = change.version, change.before
        if before is None or pods.dying(before) or pods.ended(before):
            return False
        asked = self._asked.get(pods.uid(version.body), math.inf)
        return asked <= version.seen and (version.deleted or pods.dying(version.body))

    def _evict(self, change: Change) -> None:
        pod = change.version.body
        uid, what = pods.uid(pod), f"revision {change.version.revision}: {pods.named(pod)}"
        named = [
            (case, leaver)
            for case in self._open.values()
            for leaver in case.one.leavers
            if leaver.uid == uid
        ]
        for case, leaver in named:
            if not leaver.lost:
                case.evicted.setdefault(uid, change.version.seen)
        if named:
            return
        back = self._going_back(change.state, uid)
        self.found.went_back += bool(back)
        if not back:
            asks = "no relocation and no commit that goes back names it"
            self.found.unnamed.append(f"{what} was evicted, and {asks}")
        for commit in back:
            there = {**change.state.pods, uid: change.before or pod}
            if all(_stands(there.get(row.uid), row.node) for row in self._rows[commit].values()):
                self.found.whole.append(f"{what} was evicted, and all of commit {commit} stood")

    def _going_back(self, state: State, uid: str) -> list[str]:
        """The commits with the pod that go back at this revision."""
        return [
            commit
            for record in state.records.values()
            for commit, phase, rows in _commits(record)
            if phase == ROLLING_BACK and any(row.uid == uid for row in rows)
        ]

    def _close(self, case: Case) -> None:
        """It is gone, or is left at the end."""
        there = self._state.pods
        case.closed = self._seen
        case.stayed = tuple(
            leaver.pod
            for leaver in case.one.leavers
            if (pod := there.get(leaver.uid)) and _stands(pod, leaver.node) and not pods.dying(pod)
        )
        case.ending = {uid: there[uid] for uid in case.evicted if uid in there}


def _commits(record: Record | None) -> Iterator[tuple[str, str, tuple[Row, ...]]]:
    """Commits with phase and members, where the record says how far they are."""
    if isinstance(record, GangLease):
        yield record.commit, record.phase, record.rows
    elif isinstance(record, Page):
        yield from ((one.commit, one.phase, one.rows) for one in record.entries if not one.lease)


def _stands(pod: Body | None, node: str) -> bool:
    """Whether the pod is there, on that node, and has not ended."""
    return pod is not None and pods.node(pod) == node and not pods.ended(pod)
