"""What the replicas share of their own authority, and when it moves on: pure.

An authority is replaced in three steps, so that at every moment the API server trusts what any
replica shows: *announce* (a next authority, trusted beside the one that issues), *switch* (it
issues, the former one is still trusted), *drop* (it alone is trusted).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fourleaf.webhook.tls.issue import Authority, hosts_of, is_issued_by, issued, new_authority
from fourleaf.webhook.tls.pair import BrokenPair, Pair, context_of

DAY_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """Seconds.

    Certificates are replaced once two thirds of their time are over. `settle` passes between
    announce and switch, for API servers to hear of it; `overlap` between switch and drop, in
    which every replica reads the Secret many times or is out of service.
    """

    authority: float = 365 * DAY_SECONDS
    serving: float = 90 * DAY_SECONDS
    settle: float = 60.0
    overlap: float = 3600.0


@dataclass(frozen=True, slots=True)
class AuthorityState:
    """The authority that issues, what it issued, and the authorities before and after it.

    `generation` counts the changes of the bundle. `since` is when the last step was made, in
    seconds since the epoch.
    """

    generation: int
    authority: Authority
    serving: Pair
    since: float
    following: Authority | None = None
    former: bytes = b""

    @property
    def bundle(self) -> bytes:
        """All certificates that the API server is to trust; PEM."""
        more = self.following.certificate if self.following else b""
        return self.authority.certificate + more + self.former


def begun(now: float, hosts: Sequence[str], lives: Lifetimes, generation: int) -> AuthorityState:
    """A state with an authority that is not trusted yet."""
    authority = new_authority(now, lives.authority)
    pair = issued(authority, hosts, now, lives.serving)
    return AuthorityState(generation, authority, pair, now)


def advanced(
    state: AuthorityState, now: float, hosts: Sequence[str], lives: Lifetimes, *, in_place: bool
) -> AuthorityState:
    """The state as it should be at `now`; `in_place`: its bundle is what is trusted.

    Raises `BrokenPair` where what it holds cannot be read.
    """
    state = _stepped(state, now, hosts, lives, in_place)
    known = _hosts_served(state, now)
    if known is None or not known >= frozenset(hosts) or _is_due(state.serving, now, lives.serving):
        # Replicas of two versions may differ in their hosts while one takes the other's place.
        both = [*hosts, *sorted((known or frozenset()) - frozenset(hosts))]
        state = replace(state, serving=issued(state.authority, both, now, lives.serving))
    return state


def _stepped(
    state: AuthorityState, now: float, hosts: Sequence[str], lives: Lifetimes, in_place: bool
) -> AuthorityState:
    issuing = Pair(state.authority.certificate, b"")
    if state.following is not None:
        if not in_place or now - state.since < lives.settle:
            return state
        return AuthorityState(
            state.generation,
            state.following,
            issued(state.following, hosts, now, lives.serving),
            now,
            former=state.authority.certificate,
        )
    if state.former:
        if now - state.since < lives.overlap:
            return state
        return replace(state, generation=state.generation + 1, former=b"", since=now)
    if issuing.not_after <= now:
        return begun(now, hosts, lives, state.generation + 1)
    if _is_due(issuing, now, lives.authority):
        following = new_authority(now, lives.authority)
        return replace(state, generation=state.generation + 1, following=following, since=now)
    return state


def _is_due(pair: Pair, now: float, lifetime: float) -> bool:
    return pair.not_after - now <= lifetime / 3


def _hosts_served(state: AuthorityState, now: float) -> frozenset[str] | None:
    """The hosts of the serving certificate, None where it cannot serve."""
    try:
        context_of(state.serving, now)
        ours = is_issued_by(state.serving, state.authority.certificate)
        return hosts_of(state.serving) if ours else None
    except BrokenPair:
        return None
