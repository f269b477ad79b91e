"""Gangs that are bound in part when their record becomes one that no one here can read."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Ambiguous
from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.names import FORMAT, GANGS
from fourleaf.model.reasons.kinds import ReasonKind
from tests.k8s_bridge.relocation.bench import TEAM, Bench


class BindsFew:
    """The API answers nothing about bindings after so many of them."""

    def __init__(self, most: int) -> None:
        self.left = most

    async def before(self, request: ApiRequest) -> None:
        """Count them."""
        if request.subresource == "binding" and not request.dry_run:
            self.left -= 1
            if self.left < 0:
                raise Ambiguous("no answer", 500)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let what was done stand."""


async def test_members_that_stay_unbound_are_told_why() -> None:
    """3 of 8 run, and a later version has written the gang's record: each of the 5 says that."""
    bench = Bench()
    await bench.start(answers=BindsFew(3))
    await bench.submit("g", 8)
    bench.tasks.pop().cancel()
    (lease,) = (await bench.cluster.list(LEASES, "kube-system", GANGS)).items
    name = lease["metadata"]["name"]
    patch = {"metadata": {"annotations": {FORMAT: "9"}}}
    await bench.cluster.patch(LEASES, Target("kube-system", name), patch)
    await bench.start("b")
    await bench.clock.advance(60)
    waits = [
        pod
        for pod in (await bench.cluster.list(PODS, TEAM)).items
        if not pod["spec"].get("nodeName")
    ]
    said = [
        condition["message"]
        for pod in waits
        for condition in pod["status"]["conditions"]
        if condition["type"] == "PodScheduled"
    ]
    assert len(waits) == len(said) == 5
    assert all(
        one.startswith(f"{ReasonKind.RECORD_UNREADABLE}: a lease is about it") for one in said
    )
    assert all("Run the version of the scheduler that wrote it" in one for one in said)
    await bench.stop()
