"""Binding plugins at work: what they refuse, and what they say once a gang is bound.

Whatever one does wrong is an answer in words: it refuses the gang that it was asked about, and
nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from fourleaf.k8s_bridge.ledger.plugins.thread_calls import NoThread, ThreadCalls
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.extensions import BindingPlugin, GangBinding, PodBinding
from fourleaf.model.gang import GangKey
from fourleaf.model.problems import shown

ANSWER_SECONDS = 10.0
"""Seconds until a plugin that has not answered has refused."""
CALLS_AT_ONCE = 8
"""Calls under way at a time for the gangs of one namespace."""
_WORDS_BYTES = 300

Step = Callable[[GangBinding], object]


class BindingPlugins:
    """Calls `plugins` in turn, in the term of `epoch`.

    `check` raises `NotLeader` where the lead is lost: then none is called.
    """

    def __init__(
        self,
        plugins: Sequence[BindingPlugin],
        clock: Clock,
        epoch: int,
        check: Callable[[], None],
    ) -> None:
        self._before = _steps(plugins, "before")
        self._after = _steps(plugins, "after")
        self._epoch = epoch
        self._check = check
        self._calls = ThreadCalls(clock, ANSWER_SECONDS, CALLS_AT_ONCE)

    @property
    def may_refuse(self) -> bool:
        """Whether any takes a step before bindings."""
        return bool(self._before)

    @property
    def hear(self) -> bool:
        """Whether any takes a step after bindings."""
        return bool(self._after)

    async def refusal(self, gang: GangKey, members: Sequence[Member]) -> str:
        """Why the first plugin that refuses does so, "" where none does."""
        for name, step in self._before:
            if why := await self._said(name, step, gang, members):
                return why
        return ""

    async def bound(self, gang: GangKey, members: Sequence[Member]) -> list[str]:
        """Tell that all of `members` are bound; what plugins have to say of it."""
        said = [await self._said(name, step, gang, members) for name, step in self._after]
        return [one for one in said if one]

    async def _said(self, name: str, step: Step, gang: GangKey, members: Sequence[Member]) -> str:
        self._check()
        pods = (PodBinding(m.pod.name, m.pod.uid, m.node, m.devices) for m in members)
        binding = GangBinding(gang, tuple(pods), self._epoch)
        try:
            said = await self._calls.call(gang.namespace, partial(_answer, step, binding))
        except TimeoutError:
            said = f"has not answered within {ANSWER_SECONDS:g} s"
        except NoThread as error:
            said = f"could not be asked: {error}"
        return said and f"binding plugin {name}: {clipped(said.strip(), _WORDS_BYTES)}"


def _steps(plugins: Sequence[BindingPlugin], method: str) -> list[tuple[str, Step]]:
    return [(one.name, getattr(one, method)) for one in plugins if hasattr(one, method)]


def _answer(step: Step, binding: GangBinding) -> str:
    """What a step says, whatever happens in it: not even `SystemExit` ends more than the step."""
    try:
        said = step(binding)
        if said is None or isinstance(said, str):
            return said or ""
        return f"gave {shown(said)}; a text, or None, is an answer"
    except BaseException as wrong:  # noqa: BLE001 - it is told
        return f"raised {_described(wrong)}"


def _described(wrong: BaseException) -> str:
    name = type(wrong).__name__
    try:
        return f"{name}: {wrong}"
    except BaseException:  # noqa: BLE001 - its text is code of the plugin's, too
        return name
