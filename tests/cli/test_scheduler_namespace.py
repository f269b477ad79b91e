"""Where verbs look for the scheduler when they are not told."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace
from fourleaf.k8s_bridge.cluster.memory.client import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.names import LEADER
from fourleaf.model.problems import BadInput

LONG_AGO = "2026-01-01T00:00:00.000000Z"


class NoListing:
    """An account that may list no Leases, and get those of one namespace."""

    def __init__(self, namespace: str, status: int = 403) -> None:
        self._namespace = namespace
        self._status = status

    async def before(self, request: ApiRequest) -> None:
        """Refuse the rest."""
        if request.verb == "list" or request.target.namespace != self._namespace:
            raise Refused("may not", self._status, "Forbidden")

    async def after(self, request: ApiRequest, answer: object) -> None:
        """Nothing."""


async def cluster_with(*held: str, left: str = "", killed: str = "") -> MemoryCluster:
    """A cluster in which leaders hold Leases in these namespaces.

    One was given up where its leader `left`, and one that was `killed` has renewed no more.
    """
    cluster = MemoryCluster()
    for namespace in filter(None, (*held, left, killed)):
        if namespace != "kube-system":
            await add_namespace(cluster, namespace)
        renewed = LONG_AGO if namespace == killed else datetime.now(UTC).isoformat()
        spec = {"holderIdentity": "" if namespace == left else "a", "renewTime": renewed}
        body = {"metadata": {"name": LEADER}, "spec": spec}
        await cluster.create(LEASES, namespace, body)
        await cluster.create(LEASES, namespace, {"metadata": {"name": "another"}, "spec": {}})
    return cluster


@pytest.mark.parametrize(
    ("held", "left", "killed", "home"),
    [
        (("gpu",), "", "", "gpu"),
        ((), "gpu", "", "gpu"),
        ((), "", "gpu", "gpu"),
        ((), "", "", "kube-system"),
        (("kube-system",), "", "gpu", "kube-system"),
        (("fourleaf-system", "tenant"), "", "", "fourleaf-system"),
    ],
    ids=["leads", "given up", "killed", "never was", "another killed", "beside a tenant's"],
)
async def test_the_scheduler_is_where_its_leader_holds_its_lease(
    held: tuple[str, ...], left: str, killed: str, home: str
) -> None:
    """The only one there is, or the one that is renewed in a usual namespace."""
    cluster = await cluster_with(*held, left=left, killed=killed)
    assert await ClusterAccess().home(cluster) == home


@pytest.mark.parametrize(
    ("held", "left"),
    [(("gpu", "tenant"), ""), (("tenant",), "gpu"), (("tenant",), "kube-system")],
    ids=["both lead", "it was given up", "so was the usual one"],
)
async def test_a_lease_of_a_tenant_is_not_followed(held: tuple[str, ...], left: str) -> None:
    """Where it could be that of the scheduler, both are named, and nothing is guessed."""
    cluster = await cluster_with(*held, left=left)
    with pytest.raises(BadInput, match="tenant") as caught:
        await ClusterAccess().home(cluster)
    assert "--scheduler-namespace" in str(caught.value)
    assert await ClusterAccess(scheduler_namespace="gpu").home(cluster) == "gpu"


async def test_who_may_not_list_leases_is_answered_from_the_usual_namespaces() -> None:
    """Rights in fourleaf-system are enough; any other refusal is told."""
    cluster = await cluster_with("fourleaf-system")
    client = cluster.client("user", NoListing("fourleaf-system"))
    assert await ClusterAccess().home(client) == "fourleaf-system"
    assert await ClusterAccess().home(cluster.client("user", NoListing("x"))) == "kube-system"
    with pytest.raises(BadInput, match="these credentials"):
        await ClusterAccess().home(cluster.client("user", NoListing("x", 401)))
