"""A relocation that is ended while its record is being written: no pod goes for it afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.relocation.codec import relocation_name
from fourleaf.model.gang import GangKey
from tests.k8s_bridge.relocation.bench import TEAM, Bench
from tests.k8s_bridge.relocation.test_moves_that_serve_none import scattered
from tests.k8s_bridge.relocation.test_moving import ask, configure, drain

HANGS_SECONDS = 6.0


class Api:
    """One record of a move is refused, others are 6 s in being made; then deletes are throttled.

    No pod goes from `u`, so that its relocation stays open beside them.
    """

    def __init__(self, bench: Bench, deletes: int) -> None:
        self.bench, self.left = bench, deletes
        self.is_on = False
        self.hung: set[str] = set()
        self.evicted: list[str] = []

    async def before(self, request: ApiRequest) -> None:
        """Refuse it, or take a while."""
        if request.subresource == "eviction" and not request.dry_run:
            if request.target.name.startswith("u-"):
                raise Throttled("it would violate the pod's disruption budget", 1.0)
            self.evicted.append(request.target.name)
        body: Any = request.body if isinstance(request.body, dict) else {}
        name = request.target.name or body.get("metadata", {}).get("name", "")
        if not self.is_on or request.kind is not LEASES or not name.startswith("relocation-"):
            return
        if request.verb == "create":
            await self._create(name)
        elif request.verb == "delete" and self.left:
            self.left -= 1
            raise Throttled("too many requests", 1.0)

    async def _create(self, name: str) -> None:
        if name == relocation_name(GangKey(TEAM, "four")):
            raise Refused("exceeded quota", 403, "Forbidden")
        if name not in self.hung and not name.startswith("relocation-u-"):
            self.hung.add(name)
            await self.bench.clock.sleep(HANGS_SECONDS)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


@pytest.mark.parametrize("deletes", [0, 4])
async def test_nobody_goes_once_its_record_is_there_after_all(deletes: int) -> None:
    """Of moves that need each other one is refused, so the rest end, whose records come later.

    Deletes of these are throttled at first, while another relocation has steps run.
    """
    bench = Bench(1, 4)
    api = Api(bench, deletes)
    await bench.start(answers=api)
    await configure(bench)
    await bench.submit("u", 3)
    await bench.submit("w", 1)
    await scattered(bench)
    api.is_on = True
    await ask(bench)
    while not api.hung:
        await bench.clock.advance(0.1)
    await bench.clock.advance(0.5)
    await bench.end("w")
    await bench.clock.advance(1)
    await drain(bench, (await bench.places("u"))[0])
    await bench.clock.advance(50)
    assert api.evicted == []
    await bench.stop()
