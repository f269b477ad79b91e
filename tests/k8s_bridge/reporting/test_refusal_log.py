"""What the log says of writes that the API refuses: once for each change."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.reporting.recorder.refusal_log import (
    MOST_REFUSALS,
    REFUSAL_SECONDS,
    RefusalLog,
)
from fourleaf.k8s_bridge.reporting.recorder.write_queue import QueueLimits, WriteQueue
from tests.k8s_bridge.reporting.test_write_queue import FAST, running
from tests.twins.virtual_clock import VirtualClock

ENDS = "because it is being terminated"


def terminating(pod: str) -> Refused:
    """What the API says of an event for a pod of a namespace that is being deleted."""
    said = f'events "{pod}.66" is forbidden: unable to create new content in namespace ml {ENDS}'
    return Refused(f"create /apis/events.k8s.io/v1/namespaces/ml/events: 403 {said}", 403)


async def test_a_namespace_that_ends_has_one_line_for_all_its_pods() -> None:
    """Of 50 pods whose events are refused in the same words, the first has a line."""
    clock = VirtualClock()

    async def write(item: str) -> None:
        raise terminating(item)

    with capture_logs() as said:
        async with running(clock, FAST, write) as lane:
            for number in range(50):
                lane.put(number, f"pod-{number}")
            await clock.advance(5)
            assert lane.counts.failed == 50
    (line,) = [one for one in said if one["event"] == "not_told"]
    assert line["log_level"] == "warning"
    assert 'events "pod-0.66" is forbidden' in line["why"]


async def test_the_namespace_is_that_of_the_item() -> None:
    """Two namespaces that refuse in the same words have a line each."""
    clock = VirtualClock()

    async def write(item: str) -> None:
        raise Refused("create x: 403 no", 403)

    limits = QueueLimits(waiting=100, rate=1000, burst=1000)
    lane = WriteQueue("test", clock, limits, write, namespace_of=lambda item: item[:1])
    with capture_logs() as said:
        for text in ("a1", "a2", "b1", "b2"):
            lane.put(text, text)
            await lane._attempt(text)
    assert [one["item"] for one in said] == ["a1", "b1"]


@pytest.mark.parametrize("status", [403, 422])
async def test_another_refusal_is_said_at_once(status: int) -> None:
    """Other words, or another status, are news; the same is said again after ten minutes."""
    clock = VirtualClock()
    log = RefusalLog("test", clock)
    other = Refused("create x: 403 the webhook denies it", status)
    with capture_logs() as said:
        for error in (terminating("a"), other, terminating("b"), other):
            log.refused("ml", "item", error)
        assert [one["why"] for one in said] == [str(terminating("a")), str(other)]
        await clock.advance(REFUSAL_SECONDS)
        log.refused("ml", "item", terminating("c"))
    assert len(said) == 3
    assert said[-1]["more_before"] == 1


def test_so_many_refusals_are_remembered_at_most() -> None:
    """A webhook that gives each write other words fills no memory; each of them is said."""
    log = RefusalLog("test", VirtualClock())
    with capture_logs() as said:
        for number in range(MOST_REFUSALS + 9):
            log.refused("ml", "item", Refused(f"create x: 403 no {number}", 403))
    assert len(said) == MOST_REFUSALS + 9
    assert len(log._known) == MOST_REFUSALS
