"""Trials of bindings: dry runs of whole gangs and what plugins say, which go on by themselves.

A webhook that lets one gang's dry run hang would else keep every other gang waiting with it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.ledger.dry_run import DryRun, Unanswered, throttles
from fourleaf.k8s_bridge.ledger.ledger import Commit
from fourleaf.k8s_bridge.ledger.plugins.binding_plugins import BindingPlugins
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.gang import GangKey

TRIAL_PATIENCE_SECONDS = 1.0
"""Seconds for which everything waits for one gang's dry run."""
TRIAL_VALID_SECONDS = 60.0
"""Seconds for which an answer that came later is good for the gang."""
REFUSAL_REMEMBERED_SECONDS = 600.0
"""Seconds for which it is known what was refused, for a gang that is asked about again."""

Spawn = Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]]


Places = frozenset[tuple[str, str]]
"""Pods by their UIDs, and the nodes that they are to be bound to."""


class StillAsked(Exception):
    """There is no answer yet; the gang's next trial gets it."""


@dataclass(frozen=True, slots=True)
class Pending:
    """No answer yet: what was refused `before`, or "", and whether it is the API server that waits.

    It `is_throttled` where the API server has too much to do, be webhooks as fast as they may.
    """

    before: str = ""
    is_throttled: bool = False


@dataclass(slots=True, eq=False)
class _Trial:
    """Of these pods and nodes: `refusal`, or `silent`, from `ended` on the monotonic clock.

    `before` is what was refused the last time. An answer counts once, and is `used` then; it
    `is_late` where who asked did not wait for it. `throttled`: so the API server said last.
    """

    places: Places
    before: str = ""
    throttled: bool = False
    used: bool = False
    is_late: bool = False
    done: asyncio.Event = field(default_factory=asyncio.Event)
    refusal: str = ""
    silent: bool = False
    ended: float = 0.0

    def unsaid(self, error: ClusterError) -> None:
        """This came in place of an answer."""
        self.throttled = throttles(error)


@dataclass(frozen=True, slots=True)
class _Failed:
    """The binding of these pods (UIDs) was refused, `at` on the monotonic clock."""

    pods: frozenset[str]
    why: str
    at: float


@dataclass(slots=True, eq=False)
class BindingTrials:
    """Tries out bindings in one term.

    `spawn` starts what ends with the term; `answered` hears of each late answer.
    """

    dry_run: DryRun
    clock: Clock
    spawn: Spawn
    answered: Callable[[], None]
    plugins: BindingPlugins | None = None
    _trials: dict[GangKey, _Trial] = field(default_factory=dict)
    _failed: dict[GangKey, _Failed] = field(default_factory=dict)
    _late: Counter[str] = field(default_factory=Counter)
    """Namespace -> its trials without an answer, for which nothing waits any more."""

    def went_back(self, commit: Commit, why: str, is_refused: bool) -> None:
        """A commit went back: its dry run, where there was one, has not told what would come.

        Where the API refuses it, whatever a dry run says, no pod is worth evicting for its gang.
        """
        self.dry_run.rolled_back(commit.gang.namespace)
        if is_refused:
            pods = frozenset(member.pod.uid for member in commit.members)
            self._failed[commit.gang] = _Failed(pods, why, self.clock.monotonic())

    def pending(self) -> dict[GangKey, Pending]:
        """The gangs about which there is no answer yet."""
        return {
            gang: Pending(one.before, one.throttled)
            for gang, one in self._trials.items()
            if not one.done.is_set()
        }

    async def refusal(self, gang: GangKey, members: Sequence[Member], ask: bool = False) -> str:
        """Why the members cannot be bound, "" where they can; see `DryRun.refusal`.

        With `ask`, which is about pods that would be evicted for them, what the API has refused
        lately counts too.

        Raises `StillAsked` after `TRIAL_PATIENCE_SECONDS`, or at once where the gang is being
        asked about already, or was asked about in vain.
        """
        self._forget()
        places = frozenset((member.pod.uid, member.node) for member in members)
        failed = self._failed.get(gang) if ask else None
        if failed is not None and any(uid in failed.pods for uid, _ in places):
            return f"it was refused in spite of a dry run: {failed.why}"
        trial = self._trials.get(gang)
        if trial is None or (trial.done.is_set() and not self._counts(trial, places, ask)):
            if not self._is_due(gang.namespace, ask):
                return ""
            # A tenant may make a gang a second of those that keep a plugin or a webhook busy.
            is_slow = bool(self._late[gang.namespace]) or (trial is not None and trial.silent)
            patience = 0.0 if is_slow else TRIAL_PATIENCE_SECONDS
            # Silence leaves what was refused before; an answer replaces it.
            before = "" if trial is None else trial.before if trial.silent else trial.refusal
            throttled = trial is not None and trial.silent and trial.throttled
            trial = self._trials[gang] = _Trial(places, before, throttled)
            await self._wait(self.spawn(self._run(trial, gang, members, ask)), patience)
            trial.is_late = not trial.done.is_set()
            if trial.is_late:
                self._late[gang.namespace] += 1
        if trial.silent or not trial.done.is_set():
            raise StillAsked(_still(gang))
        trial.used = True
        return trial.refusal

    def _is_due(self, namespace: str, ask: bool) -> bool:
        plugins = self.plugins
        return self.dry_run.is_due(namespace, ask) or (plugins is not None and plugins.may_refuse)

    def _counts(self, trial: _Trial, places: Places, ask: bool) -> bool:
        """Whether an answer is about these pods, and where others would go for them, these nodes.

        A gang that starts takes the answer about other nodes: its webhook may be slower than plans
        change, and would be asked for ever. A plugin may have got just those nodes ready.
        """
        late = self.clock.monotonic() - trial.ended > TRIAL_VALID_SECONDS
        exact = ask or (self.plugins is not None and self.plugins.may_refuse)
        same = trial.places == places if exact else _pods(trial.places) == _pods(places)
        return same and not (trial.used or trial.silent or late)

    async def _wait(self, task: asyncio.Task[None], seconds: float) -> None:
        timer = asyncio.ensure_future(self.clock.sleep(seconds))
        try:
            await asyncio.wait({task, timer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()

    async def _run(
        self, trial: _Trial, gang: GangKey, members: Sequence[Member], ask: bool
    ) -> None:
        try:
            trial.refusal = await self.dry_run.refusal(members, ask, trial.unsaid)
            trial.throttled = False
            if not trial.refusal and self.plugins is not None:
                trial.refusal = await self.plugins.refusal(gang, members)
        except Unanswered as error:
            trial.silent = True
            structlog.get_logger(__name__).warning("dry_run_unanswered", why=str(error))
        trial.ended = self.clock.monotonic()
        trial.done.set()
        if trial.is_late:
            self._late -= Counter((gang.namespace,))
        # However soon: with no patience at all, an answer at once is late.
        if trial.is_late or trial.silent:
            self.answered()

    def _forget(self) -> None:
        oldest = self.clock.monotonic() - REFUSAL_REMEMBERED_SECONDS
        for gang, one in list(self._trials.items()):
            if one.done.is_set() and one.ended < oldest:
                del self._trials[gang]
        self._failed = {gang: one for gang, one in self._failed.items() if one.at >= oldest}


def _pods(places: Places) -> set[str]:
    return {uid for uid, _ in places}


def _still(gang: GangKey) -> str:
    return f"there is no answer yet whether the pods of gang {gang} may be bound"
