"""The model as a system that can be searched.

Two reductions, both sound: what a leader concludes from an answer is done in the same step, for
nobody else can see it; and pods are seen as they stand, for all that is concluded from them
("gone", "bound here", "fenced for this commit and unbound, and so out of reach of every binding
that was sent") stays true, so that to see it later is to act later. Requests for several pages
or members wait side by side, and any of them may be next.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from tests.explorer.protocol.actions import commitments, duties
from tests.explorer.protocol.answers import answered
from tests.explorer.protocol.laws import breach
from tests.explorer.protocol.scope import Scope
from tests.explorer.protocol.server import CONFLICT, REFUSED, WRITES, replaced, served, stopped
from tests.explorer.protocol.state import (
    DYING,
    LEADING,
    LIVE,
    SETTLING,
    STOPPED,
    WAITING,
    Call,
    Leader,
    Lease,
    Left,
    Page,
    Pod,
    State,
)

Step = tuple[str, State]


@dataclass(frozen=True, slots=True)
class Protocol:
    """The model within `scope`."""

    scope: Scope

    def starts(self) -> Iterable[State]:
        """The first leader leads, all pods wait."""
        pages = tuple(Page(1, 1) for _ in range(self.scope.pages))
        pods = tuple(Pod() for _ in range(sum(map(len, self.scope.gangs))))
        old = Leader("old", 1, LEADING, pages)
        new = Leader("new", 0, WAITING)
        bounds = self.scope
        left = Left(bounds.faults, bounds.crashes, bounds.deaths, bounds.replaced)
        yield State(pages, (), pods, (old, new), (), left)

    def steps(self, state: State) -> Iterator[Step]:
        """Whatever anybody may do next."""
        if any(pod.version >= self.scope.writes for pod in state.pods):
            return
        for index in range(len(state.leaders)):
            yield from self._led(state, index)
        yield from self._around(state)

    def key(self, state: State) -> Hashable:
        """The whole state."""
        return state

    def breach(self, state: State) -> str:
        """What is wrong with the state."""
        return breach(state, self.scope)

    def _led(self, state: State, index: int) -> Iterator[Step]:
        leader = state.leaders[index]
        if leader.stage == WAITING:
            term = state.term + 1
            begun = Leader(leader.name, term, SETTLING, tries=leader.tries).asking(("pages",))
            yield f"{leader.name}: takes over", _with(state._replace(term=term), index, begun)
            return
        for label, after in (
            *duties(state, leader, self.scope),
            *commitments(state, leader, self.scope),
        ):
            yield f"{leader.name}: {label}", _with(state, index, after)
        for call in (*leader.calls, *leader.binds):
            yield from self._asked(state, index, call)
        if state.left.crashes and leader.stage != STOPPED:
            left = state.left._replace(crashes=state.left.crashes - 1)
            again = Leader(leader.name, 0, WAITING, tries=leader.tries)
            yield f"{leader.name}: CRASHES", _with(state._replace(left=left), index, again)

    def _asked(self, state: State, index: int, call: Call) -> Iterator[Step]:
        leader = state.leaders[index]
        name = f"{leader.name}: {_told(call)}"

        def after(now: State, answer: object) -> State:
            return _with(now, index, answered(leader, call, answer, self.scope))

        done, answer = served(state, call, self.scope.safe)
        if call == ("leases", "takeover"):
            done, leader = _above(done, leader, answer)
        yield name, after(done, answer)
        if call[0] == "bind" and state.left.deaths:
            left = state.left._replace(deaths=state.left.deaths - 1)
            binds = tuple(one for one in leader.binds if one != call)
            look = leader._replace(binds=binds).binding(("last look", *call[1:]))
            yield f"{name}: NODE IS DEAD", _with(state._replace(left=left), index, look)
        if state.left.faults and call[0] in WRITES:
            left = state.left._replace(faults=state.left.faults - 1)
            spoilt = state._replace(left=left)
            yield f"{name}: UNANSWERED", after(done._replace(left=left), None)
            late = spoilt._replace(net=tuple(sorted((*state.net, call), key=repr)))
            yield f"{name}: LATE", after(late, None)
            yield f"{name}: CONFLICTING", after(spoilt, CONFLICT)
            if call[0] == "bind" or leader.draft is not None:
                yield f"{name}: REFUSED", after(spoilt, REFUSED)

    def _around(self, state: State) -> Iterator[Step]:
        for call in state.net:
            net = list(state.net)
            net.remove(call)
            done, _ = served(state._replace(net=tuple(net)), call, self.scope.safe)
            yield f"network: late {_told(call)}", done
        for number, pod in enumerate(state.pods):
            if pod.state == DYING:
                yield f"kubelet: pod {number} has stopped", stopped(state, number)
            elif pod.state == LIVE and state.left.replaced:
                left = state.left._replace(replaced=state.left.replaced - 1)
                made = replaced(state._replace(left=left), number)
                yield f"owner: makes pod {number} anew", made


def _with(state: State, index: int, leader: Leader) -> State:
    leaders = (*state.leaders[:index], leader, *state.leaders[index + 1 :])
    return state._replace(leaders=leaders)


def _above(state: State, leader: Leader, leases: tuple[Lease, ...]) -> tuple[State, Leader]:
    """Go above the highest epoch found, with one that nobody else is given."""
    epochs = [page.epoch for page in leader.pages] + [lease.epoch for lease in leases]
    if max(epochs) < leader.epoch:
        return state, leader
    return state._replace(term=state.term + 1), leader._replace(epoch=state.term + 1)


def _told(call: Call) -> str:
    """A request in words, as short as the trace allows."""
    match call:
        case ("page", number, page, *_):
            held = ", ".join(
                f"{e.commit} {'by its lease' if e.wide else e.phase}" for e in page.entries
            )
            return f"write page {number} over version {page.version}: [{held}]"
        case ("lease", lease, *_):
            return f"write gang lease {lease.commit}: {lease.phase}"
        case (verb, commit, member, *more) if hasattr(member, "pod"):
            version = f" at version {more[0]}" if more else ""
            return f"{verb} {commit}, pod {member.pod}{version}, node {member.node}"
    return " ".join(str(part) for part in call[:2])
