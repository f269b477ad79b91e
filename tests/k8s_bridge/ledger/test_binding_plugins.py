"""Steps before and after bindings: what goes wrong in one is the answer for one gang."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.election.gate import NotLeader
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
