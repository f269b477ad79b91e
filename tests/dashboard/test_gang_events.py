"""Events of one gang, among all that tenants may write."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from fourleaf.dashboard.sources import gang_events
from fourleaf.dashboard.sources.gang_events import GangEvents
from fourleaf.dashboard.sources.lease_records import MOST_EVENTS, events_of
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.gang import GangKey

GANG = GangKey("ml", "train")


def event(number: int, **about: Any) -> dict[str, Any]:
    """An event about the gang's pod, or what `about` says instead."""
    return {
        "metadata": {"name": f"e{number}", "namespace": "ml"},
        "regarding": {"kind": "Pod", "namespace": "ml", "name": "train-0", **about},
        "eventTime": f"2026-01-01T00:{number // 60:02}:{number % 60:02}Z",
        "reason": f"r{number}",
    }


def test_events_about_pods_of_others_are_none_of_the_gang() -> None:
    """Another namespace, kind or pod of nearly the same name, and nothing at all."""
    others = [
        event(1, namespace="evil"),
        event(2, kind="Job"),
        event(3, name="train-00"),
        {"metadata": {"name": "e4"}, "reason": "r4"},
    ]
    found = events_of(GANG, ["train-0"], [*others, event(5)])
    assert [one.reason for one in found] == ["r5"]


def test_the_newest_events_are_shown() -> None:
    """Fifty of sixty, however many a tenant writes about its own pod."""
    found = events_of(GANG, ["train-0"], [event(number) for number in range(60)])
    assert [one.reason for one in found] == [f"r{59 - number}" for number in range(MOST_EVENTS)]


class Pages(MemoryCluster):
    """Counts the events that are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    async def pages(
        self, kind: Kind, namespace: str, size: int, fields: str = ""
    ) -> AsyncIterator[Sequence[Body]]:
        """The same pages, counted."""
        async for page in super().pages(kind, namespace, size, fields):
            self.sizes.append(len(page))
            yield page


@pytest.fixture
async def cluster(monkeypatch: pytest.MonkeyPatch) -> Pages:
    """Events about four pods, as many as a hundred about the first; no more than 60 are read."""
    monkeypatch.setattr(gang_events, "MOST_EVENTS_READ", 60)
    made = Pages()
    await add_namespace(made, "ml")
    for number in range(100):
        await made.create(EVENTS, "ml", event(number))
    for number in range(100, 103):
        await made.create(EVENTS, "ml", event(number, name=f"train-{number - 99}"))
    return made


async def test_of_few_pods_their_own_events_are_read(cluster: Pages) -> None:
    """One of a hundred and three, by the name of the pod."""
    unknown: list[str] = []
    found = await GangEvents(cluster).of(GANG, ["train-2"], unknown.append)
    assert [one.reason for one in found] == ["r101"]
    assert (cluster.sizes, unknown) == ([1], [])


@pytest.mark.parametrize("pods", [1, 9])
async def test_of_very_many_events_some_are_read_a_few_at_a_time(cluster: Pages, pods: int) -> None:
    """However many pods are asked about; that others were not read is said."""
    unknown: list[str] = []
    names = [f"train-{number}" for number in range(pods)]
    found = await GangEvents(cluster).of(GANG, names, unknown.append)
    assert cluster.sizes == [20, 20, 20]
    assert unknown == ["events beyond 60 of its namespace"]
    assert len(found) == MOST_EVENTS
