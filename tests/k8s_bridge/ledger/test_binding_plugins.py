"""Steps before and after bindings: what goes wrong in one is the answer for one gang."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.election.gate import NotLeader
from fourleaf.k8s_bridge.ledger.binding_trials import BindingTrials, StillAsked
from fourleaf.k8s_bridge.ledger.dry_run import DryRun
from fourleaf.k8s_bridge.ledger.plugins import thread_calls
from fourleaf.k8s_bridge.ledger.plugins.binding_plugins import CALLS_AT_ONCE, BindingPlugins
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.gang import GangKey
from fourleaf.plugins import GangBinding, PodBinding
from tests.twins.virtual_clock import VirtualClock

GANG, OTHER = GangKey("ml", "g"), GangKey("web", "g")
MEMBERS = (Member(Target("ml", "g-0", "uid"), "n1", (2, 3)),)


@dataclass
class Plugin:
    """Answers as it is told to, and remembers what it was asked."""

    step: Callable[[GangBinding], Any] = repr
    name: str = "ours"
    asked: list[GangBinding] = field(default_factory=list)

    def before(self, binding: GangBinding) -> Any:
        """Take the step."""
        self.asked.append(binding)
        return self.step(binding)


def held() -> None:
    """The lead is."""


def _ends(_: GangBinding) -> str:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("step", "refusal"),
    [
        (lambda _: None, ""),
        (lambda _: "", ""),
        (lambda _: "no licence\n", "binding plugin ours: no licence"),
        (lambda _: 1 // 0, "binding plugin ours: raised ZeroDivisionError: "),
        (_ends, "binding plugin ours: raised SystemExit: 3"),
        (lambda _: 7, "binding plugin ours: gave 7; a text, or None, is an answer"),
    ],
)
async def test_whatever_a_step_does_is_an_answer(
    step: Callable[[GangBinding], Any], refusal: str
) -> None:
    """Of those that are asked, the first refusal counts."""
    last = Plugin(lambda _: None)
    found = await BindingPlugins([Plugin(step), last], VirtualClock(), 9, held).refusal(
        GANG, MEMBERS
    )
    assert found.startswith(refusal)
    assert bool(found) == bool(refusal)
    assert found == found.strip(), "no line ends in the middle of a reason"
    asked = GangBinding(GANG, (PodBinding("g-0", "uid", "n1", (2, 3)),), 9)
    assert last.asked == ([] if refusal else [asked])


@pytest.fixture
def hanging() -> Iterator[threading.Event]:
    """What steps wait for; they are let go in the end."""
    event = threading.Event()
    yield event
    event.set()


async def test_one_that_hangs_refuses_and_takes_turns_from_its_namespace_alone(
    hanging: threading.Event,
) -> None:
    """After ten seconds; with all turns of `ml` taken, `web` is answered, and later `ml` too."""

    def hang(binding: GangBinding) -> None:
        if binding.gang == GANG:
            hanging.wait()

    clock = VirtualClock()
    runner = BindingPlugins([Plugin(hang)], clock, 9, held)
    asking = [asyncio.ensure_future(runner.refusal(GANG, MEMBERS)) for _ in range(9)]
    assert len(asking) > CALLS_AT_ONCE
    await clock.advance(9.9)
    assert not any(one.done() for one in asking)
    await clock.advance(0.2)
    late = "binding plugin ours: has not answered within 10 s"
    assert await asyncio.gather(*asking) == [late] * 9
    assert await runner.refusal(OTHER, MEMBERS) == ""
    hanging.set()
    assert await runner.refusal(GANG, MEMBERS) == ""


async def test_none_is_called_without_the_lead() -> None:
    """As no write is sent."""

    def lost() -> None:
        raise NotLeader("gone")

    plugin = Plugin()
    with pytest.raises(NotLeader):
        await BindingPlugins([plugin], VirtualClock(), 9, lost).refusal(GANG, MEMBERS)
    assert plugin.asked == []


class Mute(Exception):
    """Cannot even say what it is."""

    def __str__(self) -> str:
        raise ValueError("no words")


def _mute(_: GangBinding) -> str:
    raise Mute


def _unshown(_: GangBinding) -> object:
    class Unshown:
        def __repr__(self) -> str:
            raise RuntimeError("no picture")

    return Unshown()


@pytest.mark.parametrize(
    ("step", "refusal"), [(_mute, "raised Mute"), (_unshown, "raised RuntimeError: no picture")]
)
async def test_what_cannot_be_told_is_an_answer_too(
    step: Callable[[GangBinding], Any], refusal: str
) -> None:
    """At once, and as often as it is asked: no turn is lost."""
    runner = BindingPlugins([Plugin(step)], VirtualClock(), 9, held)
    for _ in range(CALLS_AT_ONCE + 1):
        found = await asyncio.wait_for(runner.refusal(GANG, MEMBERS), 5)
        assert found == f"binding plugin ours: {refusal}"


async def test_where_no_thread_starts_the_gang_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The term goes on, and once there are threads again all turns are there."""
    runner = BindingPlugins([Plugin(lambda _: None)], VirtualClock(), 9, held)
    with monkeypatch.context() as patch:

        def start(_: threading.Thread) -> None:
            raise RuntimeError("can't start new thread")

        patch.setattr(threading.Thread, "start", start)
        for _ in range(CALLS_AT_ONCE + 1):
            why = "binding plugin ours: could not be asked: can't start new thread"
            assert await runner.refusal(GANG, MEMBERS) == why
    assert await asyncio.wait_for(runner.refusal(GANG, MEMBERS), 5) == ""


async def test_threads_that_hang_are_not_without_end(
    hanging: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two in all, those of two namespaces hang: a third is refused, and answered later."""
    monkeypatch.setattr(thread_calls, "MOST_THREADS", 2)
    clock = VirtualClock()
    runner = BindingPlugins([Plugin(lambda _: hanging.wait() and None)], clock, 9, held)
    others = (GangKey(name, "g") for name in "ab")
    asking = [asyncio.ensure_future(runner.refusal(one, MEMBERS)) for one in others]
    await clock.advance(11)
    await asyncio.gather(*asking)
    why = "binding plugin ours: could not be asked: 2 calls have not come back"
    assert await asyncio.wait_for(runner.refusal(GANG, MEMBERS), 5) == why
    hanging.set()
    while await runner.refusal(GANG, MEMBERS):
        await asyncio.sleep(0.01)


async def test_nothing_is_kept_of_namespaces_whose_gangs_are_answered() -> None:
    """A hundred of them come and go."""
    calls = thread_calls.ThreadCalls(VirtualClock(), 10.0, 8)
    for number in range(100):
        await calls.call(f"ns-{number}", lambda: "")
    gc.collect()
    assert len(calls._turns) <= 1


async def test_a_gang_is_bound_to_no_places_that_a_plugin_was_not_asked_about() -> None:
    """Its answer about `n1` comes late; by then the plan has `n2`, about which it is asked anew."""
    clock, let_go = VirtualClock(), threading.Event()
    plugin = Plugin(lambda _: let_go.wait() and None)
    trials = BindingTrials(
        DryRun(MemoryCluster(), clock),
        clock,
        asyncio.ensure_future,
        lambda: None,
        BindingPlugins([plugin], clock, 9, held),
    )
    asking = asyncio.ensure_future(trials.refusal(GANG, MEMBERS))
    await clock.advance(2)
    with pytest.raises(StillAsked):
        await asking
    let_go.set()
    while trials.pending():
        await asyncio.sleep(0.01)
    other = (replace(MEMBERS[0], node="n2"),)
    assert await trials.refusal(GANG, other) == ""
    assert [one.pods[0].node for one in plugin.asked] == ["n1", "n2"]


async def test_who_makes_a_plugin_hang_keeps_others_waiting_now_and_then(
    hanging: threading.Event,
) -> None:
    """Of twelve gangs of `ml`, a new one every second, all that is committed waits for the first.

    Each hangs. Once they have their answers, and there are turns again, one is waited for.
    """
    clock = VirtualClock()
    trials = BindingTrials(
        DryRun(MemoryCluster(), clock),
        clock,
        asyncio.ensure_future,
        lambda: None,
        BindingPlugins([Plugin(lambda _: hanging.wait() and None)], clock, 9, held),
    )
    waited = []
    for number in range(12):
        asking = asyncio.ensure_future(trials.refusal(GangKey("ml", f"g-{number}"), MEMBERS))
        began = clock.monotonic()
        while not asking.done():
            await clock.advance(0.1)
        with pytest.raises(StillAsked):
            await asking
        waited.append(clock.monotonic() - began > 0.5)
        await clock.advance(1.0)
    assert waited == [True] + [False] * 11
    await clock.advance(11.0)
    assert not trials.pending()
    hanging.set()
    assert await asyncio.wait_for(trials.refusal(GANG, MEMBERS), 5) == ""
