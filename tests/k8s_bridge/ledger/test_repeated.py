"""Requests that the network delivers twice: at once, or when what they made is long gone."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.errors import AlreadyExists, Conflict
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Body
from tests.k8s_bridge.ledger.harness import SYSTEM, Leader, World, on


class Repeating:
    """Does every write of a Lease, then answers as the server does when it comes once more."""

    def __init__(self) -> None:
        self.repeated = 0
        self.created: list[Body] = []

    async def before(self, request: ApiRequest) -> None:
        """Let it through."""

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answer to the second one."""
        if request.kind is not LEASES or request.verb not in ("create", "update"):
            return
        self.repeated += 1
        if request.verb == "create":
            self.created.append(request.body)
            raise AlreadyExists("it already exists", 409, "AlreadyExists")
        raise Conflict("the object has been modified", 409, "Conflict")


async def test_a_write_that_arrives_twice_is_one_write() -> None:
    """Every answer is that to the second delivery: the gangs are bound, and nothing is left over.

    A wide gang takes its gang lease (create, commit) and two pages, a narrow one a page more;
    four pages were created and given nodes before, and two are written when the wide gang is
    bound.
    """
    world = await World().start()
    leader = Leader(world, "a")
    network = Repeating()
    leader.cluster.interceptors.append(network)
    await leader.take_over()
    wanted = [await world.gang("wide", on(0, 1)), await world.gang("narrow", on(2))]
    outcome = await leader.commit(*wanted)
    await leader.rest()
    assert not outcome.rejected
    assert network.repeated == 8 + 2 + 3 + 2
    world.check(wanted)


async def test_a_gang_lease_that_is_made_again_is_swept() -> None:
    """The request that created it arrives again, after the gang was bound and it was deleted."""
    world = await World().start()
    leader = Leader(world, "a")
    network = Repeating()
    leader.cluster.interceptors.append(network)
    await leader.take_over()
    wide = await world.gang("wide", on(0, 1))
    await leader.commit(wide)
    await leader.rest()
    body = next(one for one in network.created if one["metadata"]["name"].startswith("gang-"))
    await world.cluster.create(LEASES, SYSTEM, body)
    assert len(world.gang_leases()) == 1
    await leader.keeping.sweep()
    await leader.rest()
    world.check([wide])


async def test_a_gang_lease_in_use_is_not_swept() -> None:
    """A gang that is decided and not yet bound keeps its gang lease, and goes forward."""
    world = await World().start()
    leader = await Leader(world, "a").take_over()
    wide = await world.gang("wide", on(0, 1))
    await leader.decide(wide)
    await leader.keeping.sweep()
    assert len(world.gang_leases()) == 1
    await leader.rest()
    world.check([wide])
    assert all(body["spec"].get("nodeName") for body in world.pods())
