"""Where verbs look for the scheduler when they are not told."""

from __future__ import annotations

import pytest

from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace
from fourleaf.k8s_bridge.cluster.memory.client import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.ledger.names import LEADER
from fourleaf.model.problems import BadInput


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
        renewed = "2026-01-01T00:00:00.000000Z" if namespace == killed else "2026-01-01T00:09:00Z"
        spec = {"holderIdentity": "" if namespace == left else "a", "renewTime": renewed}
        body = {"metadata": {"name": LEADER}, "spec": spec}
        await cluster.create(LEASES, namespace, body)
        await cluster.create(LEASES, namespace, {"metadata": {"name": "another"}, "spec": {}})
    return cluster


@pytest.mark.parametrize(
    ("held", "left", "killed", "home"),
    [
        (("gpu",), "", "", "gpu"),
        (("gpu",), "kube-system", "", "gpu"),
        (("gpu",), "", "kube-system", "gpu"),
        ((), "gpu", "", "gpu"),
        ((), "", "gpu", "gpu"),
        ((), "", "", "kube-system"),
    ],
    ids=["leads", "moved", "another killed", "given up", "killed", "never was"],
)
async def test_the_scheduler_is_where_its_leader_holds_its_lease(
    held: tuple[str, ...], left: str, killed: str, home: str
) -> None:
    """One that has gone counts where there is no other; without any it is kube-system."""
    cluster = await cluster_with(*held, left=left, killed=killed)
    assert await ClusterAccess().home(cluster) == home


async def test_of_two_schedulers_one_has_to_be_named() -> None:
    """The error names both, and the option; with it, nothing is looked for."""
    cluster = await cluster_with("gpu", "kube-system")
    with pytest.raises(BadInput, match="gpu, kube-system") as caught:
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
