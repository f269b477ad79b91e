"""What the API does with a request: one atomic step each."""

from __future__ import annotations

from typing import Any

from tests.explorer.protocol.scope import Safeguards
from tests.explorer.protocol.state import (
    DYING,
    GONE,
    LIVE,
    Call,
    Lease,
    Member,
    Page,
    Pod,
    State,
)

CONFLICT = "conflict"
REFUSED = "refused"
WRITES = frozenset({"page", "lease", "delete", "bind", "fence", "evict"})


def served(state: State, call: Call, safe: Safeguards) -> tuple[State, Any]:
    """The state after a request, and its answer: what was written or read, or `CONFLICT`."""
    return _written(state, call, safe) if call[0] in WRITES else (state, _read(state, call))


def _read(state: State, call: Call) -> Any:
    match call:
        case ("pages", *_):
            return state.pages
        case ("leases", *_):
            return tuple(one for one in state.leases if one.phase)
        case ("read page", number, *_):
            return state.pages[number]
        case ("read lease", commit, *_):
            return state.lease(commit)
        case ("record", commit, *_):
            return _record(state, commit)
        case ("read pod" | "last look", _, member, *_):
            return state.pods[member.pod]
    raise ValueError(f"call {call!r} has no verb that the server knows")


def _written(state: State, call: Call, safe: Safeguards) -> tuple[State, Any]:
    match call:
        case ("page", number, page):
            return _write_page(state, number, page, safe)
        case ("lease", lease):
            return _write_lease(state, lease, safe)
        case ("delete", commit, version, _):
            return _delete(state, commit, version)
        case ("bind", _, member, version):
            return _bind(state, member, version, safe)
        case ("fence", commit, member):
            return _fence(state, commit, member)
        case ("evict", _, member):
            return _evict(state, member)
    raise ValueError(f"call {call!r} is no write that the server knows")


def _record(state: State, commit: str) -> tuple[int, str]:
    """The epoch and the phase of the record that decides a commit, "" where there is none."""
    lease = state.lease(commit)
    if lease is not None and lease.phase:
        return lease.epoch, lease.phase
    for page in state.pages:
        for entry in page.entries:
            if entry.commit == commit:
                return page.epoch, "" if entry.wide else entry.phase
    return 0, ""


def _write_page(state: State, number: int, page: Page, safe: Safeguards) -> tuple[State, Any]:
    """Write under the version that `page` says."""
    now = state.pages[number]
    if now.version != page.version and safe.page_version:
        return state, CONFLICT
    written = page._replace(version=now.version + 1)
    scar = state.scar
    if page.epoch < now.epoch:
        scar = f"the epoch of page {number} falls from {now.epoch} to {page.epoch}"
    pages = (*state.pages[:number], written, *state.pages[number + 1 :])
    return state._replace(pages=pages, scar=scar), written


def _write_lease(state: State, lease: Lease, safe: Safeguards) -> tuple[State, Any]:
    """Create where `lease` has version 0, else write under its version."""
    now = state.lease(lease.commit)
    creates = lease.version == 0
    if now is not None and now.phase and creates:
        return state, CONFLICT
    stale = now is None or not now.phase or now.version != lease.version
    if not creates and stale and safe.phase_version:
        return state, CONFLICT
    written = lease._replace(version=(now.version if now else 0) + 1)
    return _put_lease(state, written), written


def _put_lease(state: State, lease: Lease) -> State:
    others = [one for one in state.leases if one.commit != lease.commit]
    return state._replace(leases=tuple(sorted([*others, lease])))


def _delete(state: State, commit: str, version: int) -> tuple[State, Any]:
    now = state.lease(commit)
    if now is None or not now.phase:
        return state, "gone"
    if now.version != version:
        return state, CONFLICT
    gone = Lease(commit, now.version + 1, 0, "", ())
    return _put_lease(state, gone), "gone"


def _bind(state: State, member: Member, version: int, safe: Safeguards) -> tuple[State, Any]:
    pod = state.pods[member.pod]
    if pod.state != LIVE or pod.node >= 0:
        return state, CONFLICT
    if safe.uid and pod.uid != member.uid:
        return state, CONFLICT
    if safe.binding_version and pod.version != version:
        return state, CONFLICT
    return _put_pod(state, member.pod, pod._replace(node=member.node, version=pod.version + 1)), ""


def _fence(state: State, commit: str, member: Member) -> tuple[State, Any]:
    """Change the pod of that UID, whatever its version; what it is afterwards."""
    pod = state.pods[member.pod]
    if pod.state == GONE or pod.uid != member.uid:
        return state, CONFLICT
    if pod.fence == commit:
        return state, pod
    pod = pod._replace(fence=commit, version=pod.version + 1)
    return _put_pod(state, member.pod, pod), pod


def _evict(state: State, member: Member) -> tuple[State, Any]:
    """A pod that was never bound goes at once, a bound one when its kubelet has stopped it."""
    pod = state.pods[member.pod]
    if pod.state != LIVE or pod.uid != member.uid:
        return state, CONFLICT
    ends = DYING if pod.node >= 0 else GONE
    return _put_pod(state, member.pod, pod._replace(state=ends, version=pod.version + 1)), ""


def _put_pod(state: State, number: int, pod: Pod) -> State:
    return state._replace(pods=(*state.pods[:number], pod, *state.pods[number + 1 :]))


def stopped(state: State, number: int) -> State:
    """The kubelet has stopped a dying pod."""
    return _put_pod(state, number, state.pods[number]._replace(state=GONE, node=-1))


def replaced(state: State, number: int) -> State:
    """The owner deletes a pod, which stops at once, and makes another of that name."""
    old = state.pods[number]
    return _put_pod(state, number, Pod(uid=old.uid + 1, version=old.version + 1))


def is_gone(state: State, member: Member) -> bool:
    """Whether the member is proven to hold nothing."""
    pod = state.pods[member.pod]
    return pod.uid != member.uid or pod.state == GONE or (pod.state == DYING and pod.node < 0)


def is_bound(state: State, member: Member) -> bool:
    """Whether the member stands on its node."""
    pod = state.pods[member.pod]
    return pod.uid == member.uid and pod.node == member.node


def is_out(state: State, commit: str, member: Member) -> bool:
    """Whether no binding of a commit that goes back holds, or can take, the member any more."""
    pod = state.pods[member.pod]
    if is_gone(state, member):
        return True
    if pod.node >= 0:
        return pod.node != member.node
    return pod.fence == commit
