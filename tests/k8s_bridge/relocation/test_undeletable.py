"""A relocation that is over, and whose Lease the API does not let go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS, REPLICA_SETS, STATEFUL_SETS, Kind
from fourleaf.k8s_bridge.cluster.memory.actors import pod, submit
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_replicas import drain, nodes_of, owner, replica


class Refusing:
    """Answers deletions of Leases with an error, once it `is_on`, and counts them by Lease."""

    def __init__(self, error: Callable[[], ClusterError]) -> None:
        self._error = error
        self.is_on = False
        self.turned_away: Counter[str] = Counter()

    async def before(self, request: ApiRequest) -> None:
        """Refuse it."""
        if self.is_on and request.verb == "delete" and request.kind is LEASES:
            self.turned_away[request.target.name] += 1
            raise self._error()

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Leave it alone."""


@pytest.mark.parametrize(
    "error",
    [
        lambda: Ambiguous("failed calling webhook", 500, "InternalError"),
        lambda: Throttled("too many requests", 429, "TooManyRequests", 5.0),
        lambda: Refused("a policy forbids it", 403, "Forbidden"),
    ],
    ids=["500", "429", "403"],
)
async def test_others_start_meanwhile(error: Callable[[], ClusterError]) -> None:
    """Three of eight make room for more important ones; a ninth pod finds a free node after that.

    Each Lease is asked for ever less, and goes as soon as the API lets it.
    """
    bench, refusing = Bench(1, 4), Refusing(error)
    await bench.config("{preemption: {afterSeconds: 1}}")
    await bench.classes(low=1, high=10)
    await bench.start(answers=refusing)
    low = [pod(f"low-{i}", 8) for i in range(16)]
    high = [pod(f"high-{i}", 8) for i in range(3)]
    for body in low:
        body["spec"]["priorityClassName"] = "low"
    for body in high:
        body["spec"]["priorityClassName"] = "high"
    await submit(bench.cluster, "other", low)
    await bench.clock.advance(3)
    refusing.is_on = True
    await submit(bench.cluster, TEAM, high)
    await bench.clock.advance(10)
    stay = [
        one["metadata"]["name"]
        for one in (await bench.cluster.list(PODS, "other")).items
        if "deletionTimestamp" not in one["metadata"]
    ]
    await bench.cluster.delete(PODS, Target("other", stay[-1]))
    await submit(bench.cluster, "third", [pod("unrelated", 8)])
    refusing.turned_away.clear()
    await bench.clock.advance(30)
    body = await bench.cluster.get(PODS, Target("third", "unrelated"))
    assert body["spec"].get("nodeName")
    assert 1 <= max(refusing.turned_away.values()) < 10
    refusing.is_on = False
    await bench.clock.advance(40)
    assert await bench.reservations() == []
    await bench.stop()


@pytest.mark.parametrize("kind", [REPLICA_SETS, STATEFUL_SETS], ids=["a sibling", "its own name"])
async def test_replicas_that_are_made_later_start(kind: Kind) -> None:
    """A replica has left a drained node, and the Lease of that stays for ever.

    Neither one that is made beside it is held for its place, nor one that is made in its place,
    a quarter of an hour later.
    """
    bench, refusing = Bench(1, 2), Refusing(lambda: Refused("a policy forbids it", 403, "No"))
    await bench.start(answers=refusing)
    uid = await owner(bench, kind)
    await submit(bench.cluster, TEAM, [replica("r-0", kind, uid)])
    await bench.clock.advance(20)
    refusing.is_on = True
    await drain(bench, (await nodes_of(bench))["r-0"])
    while "r-0" in await nodes_of(bench):
        await bench.clock.advance(0.1)
    again = "r-0" if kind is STATEFUL_SETS else "r-1"
    await submit(bench.cluster, TEAM, [replica(again, kind, uid)])
    await bench.clock.advance(1000)
    assert (await nodes_of(bench))[again]
    if kind is STATEFUL_SETS:
        await bench.cluster.delete(PODS, Target(TEAM, again))
        await bench.clock.advance(2)
    last = "r-0" if kind is STATEFUL_SETS else "r-2"
    await submit(bench.cluster, TEAM, [replica(last, kind, uid)])
    await bench.clock.advance(10)
    assert (await nodes_of(bench))[last]
    assert await bench.open_relocations() == ["r-0"]
    await bench.stop()
