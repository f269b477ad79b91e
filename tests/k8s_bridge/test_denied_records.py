"""Records that admission denies by 409, as if another had written them: they are no storm."""

from __future__ import annotations

from collections.abc import Callable

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.record_store import Formats
from tests.k8s_bridge.ledger.harness import Leader, World, on
from tests.k8s_bridge.relocation.bench import Bench
from tests.k8s_bridge.test_odd_answers import DENIED, OddAnswers, _name

STORM = 200
"""Denials after which a test has failed, and need not go on."""


def deletions(prefix: str) -> Callable[[ApiRequest], bool]:
    """Those of Leases of such names."""
    return lambda request: request.verb == "delete" and _name(request).startswith(prefix)


class Denies(OddAnswers):
    """Counts what it denies, and lets a storm be: it would last for as long as it is denied."""

    def __init__(self, matches: Callable[[ApiRequest], bool]) -> None:
        super().__init__(DENIED, matches)
        self.on = True
        self.denied = 0

    async def before(self, request: ApiRequest) -> None:
        """Count it."""
        self.denied += self.on and self.matches(request)
        self.on = self.on and self.denied < STORM
        await super().before(request)


async def test_a_gang_lease_whose_deletion_is_denied_is_no_storm() -> None:
    """The gang runs; its lease is asked to go a dozen times in a minute, and goes once it may."""
    bench = Bench(1, 3)
    denies = Denies(deletions("gang-"))
    await bench.start(answers=denies)
    await bench.submit("g", 8)
    await bench.clock.advance(65)
    assert len(await bench.places("g")) == 8
    assert 2 <= denies.denied <= 20
    denies.on = False
    await bench.clock.advance(40)
    leases = (await bench.cluster.list(LEASES, "kube-system")).items
    assert not [one for one in leases if one["metadata"]["name"].startswith("gang-")]
    await bench.stop()


async def test_a_prepared_lease_whose_deletion_is_denied_is_no_storm() -> None:
    """The gang did not take, as its lease may not be written either."""
    bench = Bench(1, 3)
    denies = Denies(lambda request: request.verb != "create" and _name(request)[:5] == "gang-")
    denies.error = Refused("no", 403, "Forbidden")
    await bench.start(answers=denies)
    await bench.submit("g", 8)
    denies.error = DENIED
    await bench.clock.advance(65)
    assert 2 <= denies.denied <= 30
    assert not await bench.places("g")
    denies.on = False
    await bench.clock.advance(120)
    assert len(await bench.places("g")) == 8
    await bench.stop()


async def test_a_relocation_whose_deletion_is_denied_is_no_storm() -> None:
    """Its gang has moved and runs; the record is asked to go ever less, and goes once it may."""
    bench = Bench(1, 3)
    denies = Denies(deletions("relocation-"))
    await bench.start(answers=denies)
    await bench.submit("g", 4)
    bench.lose((await bench.places("g"))[0])
    await bench.clock.advance(160)
    assert len(await bench.places("g")) == 4
    assert 2 <= denies.denied <= 30
    denies.on = False
    await bench.clock.advance(40)
    assert not await bench.open_relocations()
    await bench.stop()


async def test_a_prepared_lease_that_may_not_go_at_a_takeover_is_no_storm() -> None:
    """The new leader waits for it: ten deletions or so in a minute."""
    bench = Bench(1, 3)
    refuses = Denies(lambda request: request.verb != "create" and _name(request)[:5] == "gang-")
    refuses.error = Refused("no", 403, "Forbidden")
    await bench.start(answers=refuses)
    await bench.submit("g", 8)
    bench.tasks.pop().cancel()
    await bench.clock.advance(1)
    denies = Denies(deletions("gang-"))
    await bench.start("b", answers=denies)
    await bench.clock.advance(80)
    assert 2 <= denies.denied <= 60
    denies.on = False
    await bench.clock.advance(30)
    assert len(await bench.places("g")) == 8
    await bench.stop()


async def test_a_lease_that_may_not_be_converted_waits() -> None:
    """It is committed, in an old format: of five looks within a moment one tries to write it."""
    world, wish = await World().start(), [1]
    leader = Leader(world, "a", None, Formats(configured=lambda: wish[0]))
    denies = Denies(lambda request: request.verb == "update" and _name(request)[:5] == "gang-")
    denies.on = False
    leader.cluster.interceptors.append(denies)
    await leader.take_over()
    await leader.decide(await world.gang("wide", on(0, 1)))
    denies.on, wish[0] = True, 2
    began = world.clock.now
    for _ in range(5):
        await leader.keeping.convert()
        world.clock.now = began
    assert denies.denied == 1
    await leader.stop()
