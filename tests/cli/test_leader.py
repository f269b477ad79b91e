"""Whether somebody leads, where the clocks of two machines differ."""

from __future__ import annotations

import asyncio

from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.verbs.status import leader_of
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import target
from fourleaf.k8s_bridge.cluster.protocol import Target

NAME = "fourleaf-scheduler"


async def leased(holder: str = "a") -> MemoryCluster:
    """A cluster whose leader renewed last in 2020, by its own clock."""
    cluster = MemoryCluster()
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": 2,
        "leaseTransitions": 4,
        "renewTime": "2020-01-01T00:00:00.000000Z",
    }
    await cluster.create(LEASES, "kube-system", {"metadata": {"name": NAME}, "spec": spec})
    return cluster


async def write(cluster: MemoryCluster, **spec: str) -> None:
    """Write the Lease once more, after a moment."""
    await asyncio.sleep(0.2)
    body = await cluster.get(LEASES, Target("kube-system", NAME))
    await cluster.replace(LEASES, target(body), {**body, "spec": {**body["spec"], **spec}})


async def test_a_renewal_that_is_seen_counts() -> None:
    """A clock years behind still leads, for it renews while we look."""
    cluster = await leased()
    renewal = asyncio.create_task(write(cluster, renewTime="2020-01-01T00:00:01.000000Z"))
    told = await leader_of(cluster, ClusterAccess(), "kube-system")
    await renewal
    assert told["valid"]
    assert (told["holder"], told["epoch"]) == ("a", 4)


async def test_a_lead_given_back_while_we_look() -> None:
    """A write that gives the lead back is no renewal."""
    cluster = await leased()
    release = asyncio.create_task(write(cluster, holderIdentity=""))
    told = await leader_of(cluster, ClusterAccess(), "kube-system")
    await release
    assert not told["valid"]


async def test_nobody_holds_it() -> None:
    """A Lease without a holder, and no Lease at all, are no lead."""
    assert not (await leader_of(await leased(""), ClusterAccess(), "kube-system"))["valid"]
    assert not (await leader_of(await leased(), ClusterAccess(), "default"))["valid"]
