"""Trials of evictions: whether admission and budgets let pods go, asked before any of them goes.

A trial that hangs in a webhook goes on by itself: relocations of others do not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.election.request_turns import RequestTurns
from fourleaf.k8s_bridge.ledger.binding_trials import (
    TRIAL_PATIENCE_SECONDS,
    TRIAL_VALID_SECONDS,
    Spawn,
    StillAsked,
)
from fourleaf.k8s_bridge.relocation.evictions.dry_run import EvictionDryRun
from fourleaf.k8s_bridge.relocation.observer import RelocationObserver
from fourleaf.k8s_bridge.relocation.records import Leaver, Relocation
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import patiently
from fourleaf.model.running_gang import EvictionLimit, PodName

EVICTIONS_AT_ONCE = 40
"""Evictions and trials under way at a time, 16 of one namespace: of the writes that pass the gate
at a time, so that a webhook which lets them hang leaves some to bindings."""
EVICTION_TRIAL_SECONDS = 10.0
"""Seconds that the API has for the trial of a pod; who has no answer by then stays."""
REFUSED_FIRST_SECONDS = 60.0
"""Seconds for which no plan lets a pod go whose eviction was refused; they double each time."""
REFUSED_LIMIT_SECONDS = 600.0
"""Seconds to which they grow."""
KEPT_FIRST_SECONDS = 3600.0
"""Seconds for which no pod of a controller goes for others of which one was kept in spite of its
dry run; they double each time."""
KEPT_LIMIT_SECONDS = 86400.0
"""Seconds to which they grow, and for which it is remembered after that."""
SILENT_SECONDS = 20.0
"""The same where the API has not answered: that says more of the API than of the pod."""

_SILENT = "the API does not answer whether it may go"


@dataclass(frozen=True, slots=True)
class RefusedEviction:
    """The API would not let `leaver` go, as the relocation `of` asks."""

    of: Relocation
    leaver: Leaver
    why: str


@dataclass(frozen=True, slots=True)
class _Remembered:
    """`why`, which counts `until` on the monotonic clock; it was to count for `seconds`.

    In `spite` of a dry run that had passed: another one that passes says nothing then.
    """

    why: str
    until: float
    seconds: float
    spite: bool = False


@dataclass(slots=True, eq=False)
class _Question:
    """What was asked at once: trials that are `left` without an answer, and when the last had one.

    Of hundreds of pods only so many are asked about at a time: the first answers wait for the last.
    """

    left: int
    ended: float = 0.0


@dataclass(slots=True, eq=False)
class _EvictionTrial:
    """What the API says of one pod: `refusal`, as a part of what `of` asks.

    An answer counts once: it is forgotten where it was used.
    """

    of: _Question
    done: asyncio.Event = field(default_factory=asyncio.Event)
    refusal: str = ""


@dataclass(slots=True, eq=False)
class EvictionTrials:
    """Trials of one term, and what they said. `spawn` starts what ends with the term."""

    dry_run: EvictionDryRun
    cache: ClusterCache
    clock: Clock
    observer: RelocationObserver
    spawn: Spawn
    turns: RequestTurns = field(default_factory=lambda: RequestTurns(EVICTIONS_AT_ONCE))
    _trials: dict[str, _EvictionTrial] = field(default_factory=dict)
    _refused: dict[str, _Remembered] = field(default_factory=dict)
    _unending: dict[tuple[str, str], float] = field(default_factory=dict)
    """Namespace and UID of a controller -> until when none of its pods is evicted, monotonic."""
    _kept: dict[tuple[str, str], _Remembered] = field(default_factory=dict)
    """The same -> that a pod of it was kept in spite of its dry run."""

    def limits(self, pods: Iterable[PodName], unanswered: bool) -> list[EvictionLimit]:
        """No eviction of any of these pods that was refused lately.

        Nor, where `unanswered` is wanted, of those that the API has not answered about yet.
        """
        now, found = self.clock.monotonic(), []
        self._unending = {owner: until for owner, until in self._unending.items() if until > now}
        for pod in pods if self._refused or self._trials or self._unending else ():
            seen = self.cache.named(*pod)
            uid = seen.pod.uid if seen else ""
            if seen is not None and (pod[0], seen.controller) in self._unending:
                why = f"pod {pod[0]}/{pod[1]} (another one of its controller never ended)"
                found.append(EvictionLimit(why, frozenset([pod]), 0))
                continue
            refused = self._refused.get(uid)
            if refused is not None and refused.until > now:
                why = f"pod {pod[0]}/{pod[1]} ({refused.why})"
                found.append(EvictionLimit(why, frozenset([pod]), 0))
            elif unanswered and self.is_asked([uid]):
                why = f"pod {pod[0]}/{pod[1]} (the API has not answered yet whether it may go)"
                found.append(EvictionLimit(why, frozenset([pod]), 0))
        return found

    def kept_in_spite(self, pods: Iterable[PodName]) -> list[EvictionLimit]:
        """No eviction, for others, of pods of a controller of which one was kept lately.

        In spite of its dry run: which one is kept may depend on who has gone before, and then each
        dry run passes, and those before have gone for nothing.
        """
        now, found = self.clock.monotonic(), []
        self._kept = {
            owner: one for owner, one in self._kept.items() if one.until + KEPT_LIMIT_SECONDS > now
        }
        for pod in pods if self._kept else ():
            seen = self.cache.named(*pod)
            kept = None if seen is None else self._kept.get((pod[0], seen.controller))
            if kept is not None and kept.until > now:
                why = f"pod {pod[0]}/{pod[1]} (another one of its controller was kept: {kept.why})"
                found.append(EvictionLimit(why, frozenset([pod]), 0))
        return found

    def passed(self, one: Relocation) -> bool:
        """Whether the API would let all pods of a relocation go; its answers are used up then."""
        uids = [leaver.pod.uid for leaver in one.leavers if not leaver.lost]
        found = [self._trials.get(uid) for uid in uids]
        if not all(trial and trial.done.is_set() and not trial.refusal for trial in found):
            return False
        for uid in uids:
            del self._trials[uid]
        return True

    def is_asked(self, uids: Collection[str]) -> bool:
        """Whether the API is being asked about one of these pods."""
        return any((one := self._trials.get(uid)) and not one.done.is_set() for uid in uids)

    async def refusals(self, plan: Iterable[Relocation]) -> list[RefusedEviction]:
        """Which pods of a plan that live the API would not let go, and why; it is remembered.

        Raises `StillAsked` after `TRIAL_PATIENCE_SECONDS`, or at once where nothing new is asked,
        while none is refused and some are not answered.
        """
        self._forget()
        asked = [(one, leaver) for one in plan for leaver in one.leavers if not leaver.lost]
        new = {leaver.pod.uid: leaver.pod for _, leaver in asked}
        new = {uid: pod for uid, pod in new.items() if uid not in self._trials}
        question = _Question(len(new))
        self._trials |= {uid: _EvictionTrial(question) for uid in new}
        if new:
            tasks = [self.spawn(self._run(pod)) for pod in new.values()]
            await patiently(tasks, self.clock.sleep(TRIAL_PATIENCE_SECONDS))
        trials = [(one, leaver, self._trials[leaver.pod.uid]) for one, leaver in asked]
        found = [
            RefusedEviction(one, leaver, trial.refusal)
            for one, leaver, trial in trials
            if trial.refusal
        ]
        for refused in found:
            self._trials.pop(refused.leaver.pod.uid, None)
            if refused.why == _SILENT:
                self._remember_silence(refused.leaver.pod)
            else:
                self.remember(refused.leaver.pod, refused.why)
            self.observer.forbidden(refused.of, refused.leaver, refused.why)
        silent = sum(not trial.done.is_set() for _, _, trial in trials)
        if silent and not found:
            raise StillAsked(f"the API has not answered yet whether {silent} pods may be evicted")
        for _, leaver in () if found else asked:
            self._trials.pop(leaver.pod.uid, None)
        return found

    def was_refused(self, pod: Target) -> bool:
        """Whether the API has not let a pod go in spite of a dry run that passed."""
        known = self._refused.get(pod.uid)
        return known is not None and known.spite

    def remember(self, pod: Target, why: str, spite: bool = False) -> None:
        """Remember that the API did not let a pod go; longer where it was so not long ago.

        In `spite` of its dry run, where it was to go.
        """
        before, now = self._refused.get(pod.uid), self.clock.monotonic()
        again = before is not None and now < before.until + REFUSED_LIMIT_SECONDS
        seconds = (
            min(before.seconds * 2, REFUSED_LIMIT_SECONDS)
            if before is not None and again
            else REFUSED_FIRST_SECONDS
        )
        spite = spite or self.was_refused(pod)
        self._refused[pod.uid] = _Remembered(why, now + seconds, seconds, spite)

    def remember_kept(self, namespace: str, controller: str, why: str) -> None:
        """Remember that a pod of a controller, by its UID, was kept when others of it had gone."""
        owner = namespace, controller
        before, now = self._kept.get(owner), self.clock.monotonic()
        if not controller or (before is not None and before.until > now):
            return
        seconds = min(before.seconds * 2, KEPT_LIMIT_SECONDS) if before else KEPT_FIRST_SECONDS
        self._kept[owner] = _Remembered(why, now + seconds, seconds, True)

    def _remember_silence(self, pod: Target) -> None:
        """Leave the pod where it is for a moment; what was refused of it stays as it was."""
        until = self.clock.monotonic() + SILENT_SECONDS
        known = self._refused.get(pod.uid)
        if known is None or known.until < until:
            seconds = REFUSED_FIRST_SECONDS / 2 if known is None else known.seconds
            spite = known is not None and known.spite
            self._refused[pod.uid] = _Remembered(_SILENT, until, seconds, spite)

    def remember_owner(self, namespace: str, controller: str) -> None:
        """Remember that a pod of a controller, by its UID, was told to go and has not ended.

        A pod of another namespace may name it as well.
        """
        if controller:
            self._unending[namespace, controller] = self.clock.monotonic() + REFUSED_LIMIT_SECONDS

    async def _run(self, pod: Target) -> None:
        trial = self._trials[pod.uid]
        async with self.turns.turn(pod.namespace):
            await self._ask(pod, trial)
        if not trial.refusal and not self.was_refused(pod):
            self._refused.pop(pod.uid, None)
        trial.of.left -= 1
        trial.of.ended = self.clock.monotonic()
        trial.done.set()

    async def _ask(self, pod: Target, trial: _EvictionTrial) -> None:
        """Let the API answer; its time runs from when it is the trial's turn."""
        answer = asyncio.ensure_future(self.dry_run.refusal(pod))
        timer = asyncio.ensure_future(self.clock.sleep(EVICTION_TRIAL_SECONDS))
        try:
            await asyncio.wait({answer, timer}, return_when=asyncio.FIRST_COMPLETED)
            trial.refusal = answer.result() if answer.done() else _SILENT
        finally:
            answer.cancel()
            timer.cancel()

    def _forget(self) -> None:
        """Forget answers of questions that ended too long ago, and pods that are gone."""
        oldest = self.clock.monotonic() - TRIAL_VALID_SECONDS
        self._trials = {
            uid: one for uid, one in self._trials.items() if one.of.left or one.of.ended >= oldest
        }
        self._refused = {
            uid: one for uid, one in self._refused.items() if self.cache.seen(uid) is not None
        }
