"""Volumes that take long: what a gang is told that holds its nodes, or has given them back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import cycle
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, PODS, VOLUME_CLAIMS, VOLUMES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.volumes.awaited_volumes import LATE_SECONDS, RETELL_SECONDS
from fourleaf.k8s_bridge.ledger.volumes.volume_provisioning import (
    LONGEST_LOOK_SECONDS,
    PROVISION_LIMIT_SECONDS,
    RELEASE_LIMIT_SECONDS,
)
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.reasons.pod_condition import ConditionReason, said
from tests.k8s_bridge.scheduling.test_volumes import StorageBench
from tests.k8s_bridge.test_scheduler import TEAM

SOON = LATE_SECONDS + LONGEST_LOOK_SECONDS + 1


@pytest.fixture
async def bench() -> AsyncIterator[StorageBench]:
    """A cluster with storage and a scheduler; volumes do not come for an hour."""
    bench = StorageBench()
    bench.provisioner._seconds = 3600.0
    await bench.set_up()
    yield bench
    await bench.stop()


async def pod(bench: StorageBench, name: str) -> Body:
    """A pod as it is."""
    return await bench.cluster.get(PODS, Target(TEAM, name))


async def told(bench: StorageBench, name: str) -> ConditionReason | None:
    """What the condition of a pod says."""
    return said([await pod(bench, name)])


async def test_a_gang_says_soon_which_volume_it_waits_for(bench: StorageBench) -> None:
    """Every member names one claim, its provisioner, the moment, and where to look."""
    await bench.submit("g", 2)
    await bench.clock.advance(2)
    assert await told(bench, "g-0") is None
    await bench.clock.advance(SOON)
    first, second = await told(bench, "g-0"), await told(bench, "g-1")
    assert first is not None
    assert first == second
    assert first.kind is ReasonKind.VOLUMES_AWAITED
    claim = "data-g-0" if "data-g-0" in first.sentence else "data-g-1"
    node = (await bench.claim(claim))["metadata"]["annotations"].popitem()[1]
    assert first.sentence.startswith(
        f"PersistentVolumeClaim ml/{claim} has no volume for {node} yet: "
        "provisioner disk.example.org is awaited since "
    )
    assert first.unblock == (
        f"see the events of the claim (kubectl -n ml describe pvc {claim}) and the pods of its "
        "provisioner",
    )
    events = [one for one in (await bench.cluster.list(EVENTS)).items if "awaited" in str(one)]
    assert [one["reason"] for one in events] == ["FailedScheduling"]
    versions = [(await pod(bench, name))["metadata"]["resourceVersion"] for name in ("g-0", "g-1")]
    await bench.clock.advance(2 * RETELL_SECONDS)
    assert versions == [
        (await pod(bench, name))["metadata"]["resourceVersion"] for name in ("g-0", "g-1")
    ], "it is said once"


async def test_a_gang_that_was_told_starts_once_its_volumes_come(bench: StorageBench) -> None:
    """What was written to the pods meanwhile keeps none of them from being bound."""
    await bench.submit("g", 2)
    await bench.clock.advance(SOON)
    assert await told(bench, "g-0") is not None
    bench.provisioner._seconds = 0.0
    await bench.clock.advance(LONGEST_LOOK_SECONDS + 5)
    assert set(await bench.places()) == {"g-0", "g-1"}
    assert await told(bench, "g-0") is None


async def test_another_claim_is_told_when_the_first_has_its_volume(bench: StorageBench) -> None:
    """The text does not go on about a claim that is served; it changes once a minute at most."""
    await bench.submit("g", 2)
    await bench.clock.advance(SOON)
    first = await told(bench, "g-0")
    assert first is not None
    served, late = ("g-0", "g-1") if "data-g-0" in first.sentence else ("g-1", "g-0")
    await bench.cluster.create(VOLUMES, "", {"metadata": {"name": "v"}, "spec": {}})
    bound = {"spec": {"volumeName": "v"}, "status": {"phase": "Bound"}}
    for subresource in ("", "status"):
        await bench.cluster.patch(VOLUME_CLAIMS, Target(TEAM, f"data-{served}"), bound, subresource)
    await bench.clock.advance(RETELL_SECONDS + 2 * LONGEST_LOOK_SECONDS)
    second = await told(bench, "g-0")
    assert second is not None
    assert f"ml/data-{late} has no volume" in second.sentence


async def test_a_volume_that_did_not_come_is_no_refusal(bench: StorageBench) -> None:
    """After ten minutes the provisioner is named that has not answered, and where to look."""
    await bench.submit("g", 2)
    await bench.clock.advance(PROVISION_LIMIT_SECONDS + LONGEST_LOOK_SECONDS + 5)
    one = await told(bench, "g-0")
    assert one is not None
    assert one.kind is ReasonKind.VOLUMES_AWAITED
    assert "after 600 s: provisioner disk.example.org has not answered" in one.sentence
    assert one.unblock[0].startswith("see the events of the claim (kubectl -n ml describe pvc")
    assert "Allow it where it is refused" not in str(one)


class BusyWithClaims:
    """An API server that throttles all writes to claims, and refuses some in between."""

    def __init__(self, *between: ClusterError) -> None:
        busy = Throttled("429 too many requests", 429, "TooManyRequests")
        self._answers = cycle((*between, busy))

    async def before(self, request: ApiRequest) -> None:
        """Refuse for now."""
        if request.kind is VOLUME_CLAIMS and request.writes:
            raise next(self._answers)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_an_api_server_that_takes_no_node_is_no_slow_provisioner(
    bench: StorageBench,
) -> None:
    """A claim that could not be told its node for ten minutes says what the API answered."""
    bench.tasks[-1].cancel()
    await bench.start("b", client=bench.cluster.client("b", BusyWithClaims()))
    await bench.submit("g", 2)
    await bench.clock.advance(PROVISION_LIMIT_SECONDS + LONGEST_LOOK_SECONDS + 5)
    await bench.clock.advance(RELEASE_LIMIT_SECONDS)
    one = await told(bench, "g-0")
    assert one is not None
    assert "could not be told" in one.sentence
    assert "429 too many requests" in one.sentence
    assert "provisioner" not in one.sentence


async def test_a_claim_that_is_refused_and_put_off_in_turn_is_refused(bench: StorageBench) -> None:
    """A 429 says nothing of it: the refusal is told within two minutes, not what ten are up for."""
    bench.tasks[-1].cancel()
    refused = Refused("403 a policy says no", 403, "Forbidden")
    await bench.start("b", client=bench.cluster.client("b", BusyWithClaims(refused)))
    await bench.submit("g", 1)
    await bench.clock.advance(120)
    one = await told(bench, "g-0")
    assert one is not None
    assert one.kind is ReasonKind.REFUSED
    assert "403 a policy says no" in one.sentence
