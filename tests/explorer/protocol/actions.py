"""What a leader that waits for nothing may do next."""

from __future__ import annotations

from collections.abc import Iterator

from tests.explorer.protocol.answers import pages_of
from tests.explorer.protocol.knowledge import commits, held, plan, planned, tidied
from tests.explorer.protocol.scope import Scope
from tests.explorer.protocol.server import is_bound, is_gone, is_out
from tests.explorer.protocol.state import (
    BACK,
    COMMITTED,
    LEADING,
    LIVE,
    PREPARED,
    Draft,
    Leader,
    Lease,
    Member,
    Page,
    State,
)

Action = tuple[str, Leader]


def duties(state: State, leader: Leader, scope: Scope) -> Iterator[Action]:
    """What brings the records and the pods to rest."""
    if leader.stage != LEADING or leader.calls:
        return
    for commit in commits(leader):
        yield from _duty(state, leader, commit, scope)
    for number, page in enumerate(leader.pages):
        entries = tidied(state, leader, number, scope.safe)
        if entries != page.entries:
            clean = Page(page.version, leader.epoch, entries)
            yield f"tidies page {number}", leader.asking(("page", number, clean))
    unknown = [one.commit for one in state.leases if one.phase and not leader.lease(one.commit)]
    if unknown:
        yield "sweeps", leader.asking(("leases", "sweep"))


def _duty(state: State, leader: Leader, commit: str, scope: Scope) -> Iterator[Action]:
    if any(call[1] == commit for call in leader.binds):
        return
    phase, members = plan(leader, commit)
    if phase == COMMITTED and commit in leader.doomed:
        yield f"gives up {commit}", _gives_up(leader, commit)
    elif phase == COMMITTED:
        left = [m for m in members if not is_gone(state, m) and not is_bound(state, m)]
        calls = [("bind", commit, member, member.version) for member in left]
        if calls:
            yield f"binds {commit}", leader.binding(*calls)
    elif phase == BACK:
        calls = [call for m in members for call in _let_go(state, commit, m, scope)]
        if calls:
            yield f"lets {commit} go", leader.asking(*calls)
    lease = leader.lease(commit)
    if lease is not None and _has_served(state, leader, lease, scope):
        yield f"drops {commit}", leader.asking(("delete", commit, lease.version, None))


def _gives_up(leader: Leader, commit: str) -> Leader:
    lease = leader.lease(commit)
    if lease is not None:
        return leader.asking(("lease", lease._replace(phase=BACK, epoch=leader.epoch)))
    for number, page in enumerate(leader.pages):
        if any(entry.commit == commit for entry in page.entries):
            entries = tuple(
                e._replace(phase=BACK) if e.commit == commit else e for e in page.entries
            )
            leader = leader.asking(("page", number, Page(page.version, leader.epoch, entries)))
    return leader


def _let_go(
    state: State, commit: str, member: Member, scope: Scope
) -> Iterator[tuple[str, str, Member]]:
    pod = state.pods[member.pod]
    if is_out(state, commit, member) or pod.state != LIVE:
        return
    if pod.node >= 0:
        yield ("evict", commit, member)
    elif scope.safe.fence:
        yield ("fence", commit, member)


def _has_served(state: State, leader: Leader, lease: Lease, scope: Scope) -> bool:
    """Whether nobody needs a gang lease any more."""
    entries = [e for page in leader.pages for e in page.entries if e.commit == lease.commit]
    if lease.phase == PREPARED:
        return True
    if lease.phase == BACK:
        free = all(_is_free(state, lease.commit, m, scope) for m in lease.members)
        return free and not entries
    settled = all(is_gone(state, m) or is_bound(state, m) for m in lease.members)
    return settled and not any(entry.wide for entry in entries)


def _is_free(state: State, commit: str, member: Member, scope: Scope) -> bool:
    unbound = state.pods[member.pod].node < 0
    return is_out(state, commit, member) or (unbound and not scope.safe.fence)


def commitments(state: State, leader: Leader, scope: Scope) -> Iterator[Action]:
    """Gangs that may be placed now: their pods wait, the nodes are free, as far as is known."""
    if leader.stage != LEADING or leader.calls:
        return
    which = next(i for i, other in enumerate(state.leaders) if other.name == leader.name)
    for number, (gang, nodes) in enumerate(scope.places[which]):
        pods = scope.gangs[gang]
        taken = planned(leader)
        waits = all(
            state.pods[pod].state == LIVE
            and state.pods[pod].node < 0
            and (pod, state.pods[pod].uid) not in taken
            for pod in pods
        )
        if number in leader.tries or not waits or held(state, leader) & set(nodes):
            continue
        members = tuple(
            Member(pod, state.pods[pod].uid, state.pods[pod].version, node)
            for pod, node in zip(pods, nodes, strict=True)
        )
        draft = Draft(f"{leader.name}{leader.epoch}-{number}", members)
        begun = leader._replace(draft=draft, tries=(*leader.tries, number))
        yield f"places gang {gang} on nodes {nodes}", _begin(begun, draft, scope)


def _begin(leader: Leader, draft: Draft, scope: Scope) -> Leader:
    if len({scope.page_of[member.node] for member in draft.members}) == 1:
        return leader.asking(*pages_of(leader, draft, wide=False, scope=scope))
    lease = Lease(draft.commit, 0, leader.epoch, PREPARED, draft.members)
    return leader.asking(("lease", lease))
