"""Bindings without a yes or no: since when, what the API said last, and when to give them up.

A dry run may pass where the binding itself gets no answer, for a webhook may tell the two apart.
The gang holds its nodes meanwhile and is planned no more, so no cycle says why it does not start.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.cluster.errors import BY_ADMISSION, ClusterError
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.api_text import second
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.reasons.kinds import Reason, ReasonKind

LATE_SECONDS = 5.0
"""Seconds of answers that say neither after which that is told: most pass within them."""

SILENT_SECONDS = 10.0
"""Seconds without any answer after which that is told: in a rush, requests wait for their turn."""

GIVE_UP_SECONDS = 120.0
"""Seconds for which a binding is sent again while the API answers reads of its pod: until then the
other members run in part, and nodes idle."""

THROTTLED_GIVE_UP_SECONDS = 900.0
"""The same where the API server has no turn for it all the while, though it has for reads."""

RETELL_SECONDS = 60.0
"""Seconds, at least, until another answer is told of the same commit."""

REQUEST_WAIT_LIMIT_SECONDS = 30.0
"""Seconds to which the waits between two requests for one pod grow, as long as it can be read."""

LAST_WAIT_SECONDS = 2.0
"""Seconds from the last request to the read that shows whether it has arrived after all."""

STEP = "look for a webhook on pods/binding, or for what keeps the API server from answering"

OVERLOADED = 429
"""The status by which an API server puts off requests that it has no turn for."""

SUSPECTS_LIMIT = 10_000
"""How many members that could not be bound are remembered; the oldest are forgotten first."""


class BindingAttempt:
    """The requests to bind one member, those about its claims too, until one gets a yes or no."""

    def __init__(self, commit: str, member: Member, clock: Clock) -> None:
        self.commit = commit
        self.member = member
        self.said = ""
        self.what = "the binding"
        self.step = STEP
        self.sent = clock.monotonic()
        self._at = clock.wall()
        self._clock = clock
        self._failing_since: float | None = None
        self._failed_at = -math.inf
        self._throttled_since: float | None = None
        self._met: ClusterError | None = None
        self._backoff = Backoff(clock, most=REQUEST_WAIT_LIMIT_SECONDS)

    def unsaid(self, error: ClusterError) -> None:
        """This came in place of an answer.

        An API server without a turn for it takes others first, and it some time.
        """
        self.said, self.step = str(error), STEP
        if error.status == OVERLOADED and BY_ADMISSION not in self.said:
            if self._throttled_since is None:
                self._throttled_since = self._clock.monotonic()
            return
        self._throttled_since = None
        self._failed_at = self._clock.monotonic()
        if self._failing_since is None:
            self._failing_since = self._failed_at

    def unread(self) -> None:
        """The pod cannot be read either: it is not this binding that gets no answer."""
        self._failing_since = self._throttled_since = None
        self._backoff.reset()

    def answered(self) -> None:
        """The API has looked at it, and found that the pod has changed."""
        self._failing_since = self._throttled_since = None

    def met(self, error: ClusterError) -> None:
        """It met a pod that is another by now, or gone, as far as the status says."""
        self._met = error

    def is_denied(self, has_changed: bool) -> bool:
        """Whether the last request met a pod that proves to be there as it was.

        Then admission has denied it by a status of the API's own, and that is no answer about it.
        """
        met, self._met = self._met, None
        if met is None:
            return False
        if has_changed:
            self.answered()
            return False
        self.unsaid(met)
        return True

    def doubted(self) -> None:
        """It is not sent for now: it is unknown whether its node lives."""
        self._failing_since = self._throttled_since = None
        self.said = f"node {self.member.node} is not ready, and may come back"
        self.step = f"bring {self.member.node} back to ready, or delete it if it is surely off"

    def next_wait(self, least: float | None) -> float:
        """Seconds until the next request, no less than `least`: the last one is in time."""
        wait = self._backoff.next(least)
        if self._failing_since is None:
            return wait
        left = self._failing_since + GIVE_UP_SECONDS - self._clock.monotonic()
        return max(least or 0.0, min(wait, max(left, LAST_WAIT_SECONDS)))

    @property
    def is_failing(self) -> bool:
        """Whether the last answer said neither, and the API answers reads of the pod."""
        return self._failing_since is not None

    @property
    def is_late(self) -> bool:
        """Whether answers have said neither for a while, so that the pod is worth a read."""
        return self._has_failed_for(LATE_SECONDS) or self._is_put_off

    @property
    def is_hopeless(self) -> bool:
        """Whether they have for so long that its gang goes back, the API answering all else."""
        return self._has_failed_for(GIVE_UP_SECONDS) or self._is_put_off

    @property
    def _is_put_off(self) -> bool:
        """Whether the API server has had no turn for it for so long that it is none to wait for."""
        since, now = self._throttled_since, self._clock.monotonic()
        return since is not None and now - since >= THROTTLED_GIVE_UP_SECONDS

    def _has_failed_for(self, seconds: float) -> bool:
        since = self._failing_since
        return since is not None and self._failed_at - since >= seconds

    def is_to_be_told(self, now: float) -> bool:
        """Whether it has taken long enough; `now` on the monotonic clock."""
        return now - self.sent >= (LATE_SECONDS if self.said else SILENT_SECONDS)

    def awaited(self, others: int, size: int) -> Reason:
        """Why its gang of `size` pods does not start, of which it is so with `others` besides."""
        detail = (
            f"{self._what()} has not taken since {second(self._at)}, and so it is with "
            f"{others + 1:,} of its {size:,} pods: {self.said or 'no answer has come'}"
        )
        return Reason(ReasonKind.UNANSWERED, detail, unblock=(f"{self.step}; it is sent again",))

    def given_up(self) -> str:
        """Why its gang goes back."""
        seconds = THROTTLED_GIVE_UP_SECONDS if self._is_put_off else GIVE_UP_SECONDS
        return f"{self._what()} has not taken in {seconds:.0f} s: {self.said}"

    def _what(self) -> str:
        return f"{self.what} of pod {self.member.pod} to {self.member.node}"


def _tell_nothing(_commit: Commit, _why: Reason) -> None:
    """Nothing hears of it."""


@dataclass(slots=True)
class _SaidOfCommit:
    """What the API `said`, told `at` on the monotonic clock."""

    said: str
    at: float


@dataclass(slots=True, eq=False)
class UnansweredBindings:
    """Tells of each commit when bindings of it take long, and again when the answer changes."""

    tell: Callable[[Commit, Reason], None] = _tell_nothing
    _open: dict[str, BindingAttempt] = field(default_factory=dict)
    """By the UID of the pod; the one that was sent first comes first."""
    _told: dict[str, _SaidOfCommit] = field(default_factory=dict)
    _given_up: dict[str, str] = field(default_factory=dict)
    """UID of a pod -> the node to which its binding got no answer."""
    _suspects: dict[str, None] = field(default_factory=dict)
    """UIDs of pods that could not be bound once, and were not since."""

    @contextmanager
    def under_way(self, attempt: BindingAttempt) -> Iterator[None]:
        """A binding is sent, and no more at the end, whatever came of it."""
        uid = attempt.member.pod.uid
        self._given_up.pop(uid, None)
        self._open[uid] = attempt
        try:
            yield
        finally:
            self._open.pop(uid, None)

    def give_up(self, attempt: BindingAttempt) -> None:
        """Its commit goes back for want of an answer."""
        self._given_up[attempt.member.pod.uid] = attempt.member.node

    def impossible(self, member: Member) -> None:
        """A member was refused, or got no answer, so that its commit goes back.

        A dry run of it had passed, and may pass again.
        """
        self._suspects[member.pod.uid] = None
        while len(self._suspects) > SUSPECTS_LIMIT:
            del self._suspects[next(iter(self._suspects))]

    def bound(self, member: Member) -> None:
        """A member stands on its node."""
        self._suspects.pop(member.pod.uid, None)

    def in_turn(self, members: Iterable[Member]) -> list[list[Member]]:
        """Members to bind at once, then those to bind once all before are.

        First those that could not be bound the last time: where it is so again, no other has to go.
        """
        every = list(members)
        first = [one for one in every if one.pod.uid in self._suspects]
        rest = [one for one in every if one.pod.uid not in self._suspects]
        return [some for some in (first, rest) if some]

    def gave_up(self, commit: Commit) -> frozenset[str]:
        """The nodes for want of whose answers a commit goes back; said once."""
        found = (self._given_up.pop(member.pod.uid, "") for member in commit.members)
        return frozenset(filter(None, found))

    def look(self, ledger: Ledger, now: float) -> None:
        """Tell of what has taken long by `now`, on the monotonic clock."""
        late: dict[str, list[BindingAttempt]] = {}
        for one in self._open.values():
            if now - one.sent < LATE_SECONDS:
                break
            if one.is_to_be_told(now):
                late.setdefault(one.commit, []).append(one)
        self._told = {name: told for name, told in self._told.items() if name in late}
        for name, attempts in late.items():
            commit = ledger.commit(name)
            # What the API has answered says more than its silence.
            first = next((one for one in attempts if one.said), attempts[0])
            told = self._told.get(name)
            if told is not None and (told.said == first.said or now - told.at < RETELL_SECONDS):
                continue
            if commit is not None:
                self._told[name] = _SaidOfCommit(first.said, now)
                self.tell(commit, first.awaited(len(attempts) - 1, len(commit.members)))
