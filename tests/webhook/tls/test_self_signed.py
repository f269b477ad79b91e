"""Several replicas share one certificate, and the API server trusts it at every moment."""

from __future__ import annotations

import asyncio
import base64
import random
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, Refused, Throttled
from fourleaf.k8s_bridge.cluster.kinds import MUTATING_WEBHOOKS, SECRETS, VALIDATING_WEBHOOKS, Kind
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.webhook.configurations import Deployment, configurations
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.names import NAME
from fourleaf.webhook.names import SECRET as KEPT
from fourleaf.webhook.serve import STALE_SECONDS
from fourleaf.webhook.tls.authority_state import Lifetimes
from fourleaf.webhook.tls.bundles import GENERATION
from fourleaf.webhook.tls.certificate import Certificate
from fourleaf.webhook.tls.issue import is_issued_by
from fourleaf.webhook.tls.pair import Pair
from fourleaf.webhook.tls.self_signed import SecretPlace, SelfSigned
from tests.webhook.tls.made import DAY, HOSTS, SetClock

KINDS = {one.name: one for one in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)}
LIVES = Lifetimes(authority=30 * DAY, serving=3 * DAY, settle=60, overlap=3600)
PLACE = SecretPlace("kube-system", KEPT, NAME, HOSTS)
END = "-----END CERTIFICATE-----\n"


def empty_secret() -> dict[str, Any]:
    """The Secret as it is installed."""
    return {"metadata": {"name": KEPT}, "type": "Opaque"}


class World:
    """A cluster with the configurations installed, and replicas."""

    def __init__(self, replicas: int, seed: int = 0, trouble: float = 0.0) -> None:
        self.clock = SetClock()
        self.cluster = MemoryCluster(clock=self.clock)
        self.cluster.store.create(SECRETS, PLACE.namespace, empty_secret())
        self.chance = random.Random(seed)  # noqa: S311 - to be repeated
        self.trouble = trouble
        self.installed = False
        self.replicas: list[Replica] = [Replica(self, i) for i in range(replicas)]

    async def install(self) -> None:
        """Create both configurations, which trust nobody yet."""
        for body in configurations(Deployment()):
            await self.cluster.create(KINDS[body["kind"]], "", body)
        self.installed = True

    async def trusted(self) -> list[set[bytes]]:
        """For each configuration the certificates that it trusts in all of its webhooks."""
        found = []
        for kind in KINDS.values() if self.installed else ():
            body = await self.cluster.get(kind, Target("", NAME))
            bundles = {hook["clientConfig"].get("caBundle", "") for hook in body["webhooks"]}
            assert len(bundles) == 1
            text = base64.b64decode(bundles.pop()).decode()
            found.append({(one + END).encode() for one in text.split(END) if one})
        return found

    async def check(self) -> None:
        """Whoever is in service shows what every configuration trusts, and what has not ended."""
        bundles = await self.trusted()
        for replica in self.replicas:
            if not replica.in_service:
                continue
            pair = replica.pair
            assert pair.not_after > self.clock.now
            for bundle in bundles:
                assert any(is_issued_by(pair, one) for one in bundle), "shows what nobody trusts"


class Replica:
    """One of the processes."""

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        self.certificate = Certificate(world.clock, WebhookMetrics())
        self.client = world.cluster.client(f"replica-{number}", self)
        self.own = SelfSigned(
            self.client, PLACE, self.certificate, world.clock, WebhookMetrics(), LIVES
        )

    @property
    def pair(self) -> Pair:
        """What it shows."""
        assert self.certificate.pair is not None
        return self.certificate.pair

    @property
    def in_service(self) -> bool:
        """Whether clients come to it."""
        return self._world.clock.monotonic() - self.own.synced <= STALE_SECONDS

    async def before(self, request: ApiRequest) -> None:
        """Let others go first now and then; fail now and then."""
        for _ in range(self._world.chance.randint(0, 3) if self._world.trouble else 0):
            await asyncio.sleep(0)
        if self._world.chance.random() < self._world.trouble:
            raise self._world.chance.choice([Ambiguous("lost"), Throttled("later", 429)])

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Lose an answer now and then, once the world is found in order."""
        if request.writes:
            await self._world.check()
        if self._world.chance.random() < self._world.trouble:
            raise Ambiguous("lost")


async def test_replicas_agree_from_the_start() -> None:
    """Three begin at once: one Secret, one certificate, which both configurations trust."""
    world = World(3)
    await world.install()
    await asyncio.gather(*(one.own.sync() for one in world.replicas))
    await asyncio.gather(*(one.own.sync() for one in world.replicas))
    assert len({one.pair.certificate for one in world.replicas}) == 1
    first, second = await world.trusted()
    assert first == second
    assert len(first) == 1
    await world.check()


async def test_a_look_that_finds_all_well_writes_nothing() -> None:
    """The versions of all three objects stay."""
    world = World(1)
    await world.install()
    await world.replicas[0].own.sync()
    version = world.cluster.store.version
    for _ in range(5):
        world.clock.now += 15
        await world.replicas[0].own.sync()
    assert world.cluster.store.version == version


@pytest.mark.parametrize("seed", range(6))
async def test_trust_never_breaks(seed: int) -> None:
    """Months pass, requests and answers get lost, replicas sleep: checked after every write."""
    world = World(3, seed, trouble=0.03)
    await world.install()
    generations, shown = set(), set()
    for _ in range(120):
        world.clock.now += world.chance.choice([1, 15, 61, 600, 3600, 3700, DAY, 5 * DAY])
        some = world.chance.sample(world.replicas, world.chance.randint(1, 3))
        ends = await asyncio.gather(*(one.own.sync() for one in some), return_exceptions=True)
        for end in ends:
            if end is not None and not isinstance(end, ClusterError):
                raise end
        await world.check()
        shown |= {one.certificate.pair.certificate for one in some if one.certificate.pair}
        body = await world.cluster.get(MUTATING_WEBHOOKS, Target("", NAME))
        generations.add((body["metadata"].get("annotations") or {}).get(GENERATION))
    assert len(shown) > 10
    assert len(generations) > 3


async def test_nobody_shows_what_was_announced_in_vain() -> None:
    """An announcement that never reached the configurations is no reason to switch."""
    world = World(1)
    await world.install()
    (one,) = world.replicas
    await one.own.sync()
    world.clock.now += 20 * DAY - 60
    await one.own.sync()
    (former,) = (await world.trusted())[0]
    world.clock.now += 120
    hold = Hold(MUTATING_WEBHOOKS, refuse=True)
    one.client.interceptors.append(hold)
    for _ in range(4):
        with pytest.raises(Throttled):
            await one.own.sync()
        await world.check()
        world.clock.now += LIVES.settle + 1
    one.client.interceptors.remove(hold)
    await one.own.sync()
    assert len((await world.trusted())[0]) == 2
    assert is_issued_by(one.pair, former)
    world.clock.now += LIVES.settle + 1
    await one.own.sync()
    assert not is_issued_by(one.pair, former)


async def test_who_was_asleep_takes_nothing_back() -> None:
    """A replica that read the Secret before an announcement does not undo it after."""
    world = World(2)
    await world.install()
    awake, asleep = world.replicas
    await awake.own.sync()
    world.clock.now += 20 * DAY - 60
    await asyncio.gather(awake.own.sync(), asleep.own.sync())
    hold = Hold(MUTATING_WEBHOOKS)
    asleep.client.interceptors.append(hold)
    late = asyncio.create_task(asleep.own.sync())
    await hold.reached.wait()
    world.clock.now += 120
    await awake.own.sync()
    both = await world.trusted()
    assert [len(one) for one in both] == [2, 2]
    seen: list[list[set[bytes]]] = []

    async def note(request: ApiRequest, answer: Any) -> None:
        if request.writes:
            seen.append(await world.trusted())

    hold.after = note  # type: ignore[method-assign]
    hold.released.set()
    await late
    assert all(found == both for found in [*seen, await world.trusted()])


class Hold:
    """Keeps requests about one kind waiting until released, or refuses its writes."""

    def __init__(self, kind: Kind, *, refuse: bool = False) -> None:
        self._kind, self._refuse = kind, refuse
        self.reached, self.released = asyncio.Event(), asyncio.Event()

    async def before(self, request: ApiRequest) -> None:
        """Wait, or refuse."""
        if request.kind != self._kind:
            return
        if not self._refuse:
            self.reached.set()
            await self.released.wait()
        elif request.writes:
            raise Throttled("later", 429)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Let pass."""


async def test_somebody_resets_the_configuration() -> None:
    """The next look puts the bundle back."""
    world = World(1)
    await world.install()
    await world.replicas[0].own.sync()
    for body in configurations(Deployment()):
        kind = KINDS[body["kind"]]
        there = await world.cluster.get(kind, Target("", NAME))
        target = Target("", NAME, version=there["metadata"]["resourceVersion"])
        await world.cluster.replace(kind, target, body)
    world.replicas[0].own.synced = float("-inf")
    await world.replicas[0].own.sync()
    await world.check()


async def test_a_broken_secret_is_made_anew() -> None:
    """Whoever finds it first replaces it; the others follow."""
    world = World(2)
    await world.install()
    for one in world.replicas:
        await one.own.sync()
    for data in ({}, {"ca.crt": "eA=="}):
        target = Target("kube-system", KEPT)
        body = await world.cluster.get(SECRETS, target)
        exact = Target("kube-system", KEPT, version=body["metadata"]["resourceVersion"])
        await world.cluster.replace(SECRETS, exact, {**body, "data": data})
        world.replicas[0].own.synced = world.replicas[1].own.synced = float("-inf")
        for one in world.replicas:
            await one.own.sync()
        await world.check()
        assert world.replicas[0].pair == world.replicas[1].pair


async def test_without_configurations_there_is_nobody_to_tell() -> None:
    """The certificate is there before the webhook is installed, and is trusted after."""
    world = World(1)
    await world.replicas[0].own.sync()
    assert world.replicas[0].certificate.usable
    await world.install()
    world.replicas[0].own.synced = float("-inf")
    await world.replicas[0].own.sync()
    await world.check()


async def test_a_missing_right_is_no_crash() -> None:
    """The error of the cluster comes out, and what was shown stays."""
    world = World(1)
    await world.install()
    await world.replicas[0].own.sync()
    pair = world.replicas[0].pair

    async def forbid(request: ApiRequest) -> None:
        raise Refused("secrets is forbidden", 403)

    world.replicas[0].before = forbid  # type: ignore[method-assign]
    with pytest.raises(Refused):
        await world.replicas[0].own.sync()
    assert world.replicas[0].pair == pair
