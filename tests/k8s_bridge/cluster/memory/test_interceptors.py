"""Getting in the way of requests: before they are done, or before their answer arrives."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory import ApiRequest, MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import gang, submit
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target, WatchEvent


class Faults:
    """Raises what a test says, before or after bindings, and notes all requests."""

    def __init__(self, before: Exception | None = None, after: Exception | None = None) -> None:
        self.seen: list[ApiRequest] = []
        self.answers: list[Any] = []
        self._before, self._after = before, after

    async def before(self, request: ApiRequest) -> None:
        """Note the request; raise for a binding."""
        self.seen.append(request)
        if self._before and request.subresource == "binding":
            raise self._before

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Note the answer; raise for a binding."""
        self.answers.append(answer)
        if self._after and request.subresource == "binding":
            raise self._after


async def _bound(cluster: MemoryCluster) -> bool:
    found = await cluster.get(PODS, Target("ml", "g-0"))
    return "nodeName" in found["spec"]


async def test_a_request_that_gets_lost() -> None:
    """What raises before a request leaves it undone."""
    cluster = MemoryCluster()
    (pod,) = await submit(cluster, "ml", gang("g", 1))
    lost = cluster.client("scheduler", Faults(before=Throttled("lost", 429)))
    with pytest.raises(Throttled):
        await lost.bind(Binding(pod, "n1"))
    assert not await _bound(cluster)


async def test_an_answer_that_gets_lost() -> None:
    """What raises after a request leaves it done."""
    cluster = MemoryCluster()
    (pod,) = await submit(cluster, "ml", gang("g", 1))
    lost = cluster.client("scheduler", Faults(after=Ambiguous("lost")))
    with pytest.raises(Ambiguous):
        await lost.bind(Binding(pod, "n1"))
    assert await _bound(cluster)


async def test_what_an_interceptor_sees() -> None:
    """Every request is seen with who asks, the verb of RBAC, the subresource and the dry run."""
    faults = Faults()
    admin = MemoryCluster()
    pods = await submit(admin, "ml", gang("g", 2))
    cluster = admin.client("scheduler-a", faults)
    await cluster.list(PODS)
    await cluster.bind(Binding(pods[0], "n1"), dry_run=True)
    await cluster.bind(Binding(pods[0], "n1"))
    await cluster.patch(PODS, Target("ml", "g-0"), {"status": {"phase": "Running"}}, "status")
    await cluster.evict(pods[1])
    await cluster.get(PODS, pods[0])
    seen = [(r.verb, r.subresource, r.dry_run, r.writes) for r in faults.seen]
    assert seen == [
        ("list", "", False, False),
        ("create", "binding", True, False),
        ("create", "binding", False, True),
        ("patch", "status", False, True),
        ("create", "eviction", False, True),
        ("get", "", False, False),
    ]
    assert {r.identity for r in faults.seen} == {"scheduler-a"}


async def test_events_of_a_watch_pass_through() -> None:
    """An interceptor sees each event before the client does."""
    faults = Faults()
    cluster = MemoryCluster(interceptors=[faults])
    version = str(cluster.store.version)
    await submit(cluster, "ml", gang("g", 1))
    events = cluster.watch(PODS, version)
    await anext(events)
    event = await anext(events)
    assert isinstance(faults.answers[-1], WatchEvent)
    assert faults.answers[-1] is event


async def test_refusing_by_identity() -> None:
    """An interceptor can refuse one client what it lets another do."""

    class NoPods(Faults):
        async def before(self, request: ApiRequest) -> None:
            if request.kind == PODS and request.writes:
                raise Refused(f"{request.identity} may not write pods", 403, "Forbidden")

    admin = MemoryCluster()
    (pod,) = await submit(admin, "ml", gang("g", 1))
    tenant = admin.client("tenant", NoPods())
    with pytest.raises(Refused, match="tenant may not"):
        await tenant.delete(PODS, pod)
    assert len((await tenant.list(PODS)).items) == 1
