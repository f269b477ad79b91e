"""The others in the twin's cluster."""

from __future__ import annotations

import orjson

from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import Kubelets, add_nodes, gang, nodes, submit
from fourleaf.k8s_bridge.cluster.protocol import Binding, Body, Target
from fourleaf.model.readers import Source, read


async def _phases(cluster: MemoryCluster) -> dict[str, str]:
    items = (await cluster.list(PODS)).items
    return {item["metadata"]["name"]: item["status"]["phase"] for item in items}


async def test_kubelets_run_what_is_bound_to_them() -> None:
    """Pods on nodes that are there run; on silent or absent nodes, or none, they wait."""
    cluster = MemoryCluster()
    await add_nodes(cluster, nodes(1, 1, 2))
    pods = await submit(cluster, "ml", gang("g", 4))
    for pod, node in zip(pods, ("n-0-0-0", "n-0-0-1", "absent"), strict=False):
        await cluster.bind(Binding(pod, node))
    kubelets = Kubelets(cluster.store)
    kubelets.silent.add("n-0-0-1")
    assert kubelets.step() == 1
    phases = await _phases(cluster)
    assert phases == {"g-0": "Running", "g-1": "Pending", "g-2": "Pending", "g-3": "Pending"}
    assert kubelets.step() == 0


async def test_kubelets_stop_what_is_deleted() -> None:
    """An evicted pod stays until its kubelet has stopped it."""
    cluster = MemoryCluster()
    await add_nodes(cluster, nodes(1, 1, 1))
    (pod,) = await submit(cluster, "ml", gang("g", 1))
    await cluster.bind(Binding(pod, "n-0-0-0"))
    kubelets = Kubelets(cluster.store)
    kubelets.step()
    await cluster.evict(pod)
    assert await _phases(cluster) == {"g-0": "Running"}
    kubelets.step()
    assert await _phases(cluster) == {}


async def test_pods_that_end() -> None:
    """A pod that ends is no longer ready."""
    cluster = MemoryCluster()
    await add_nodes(cluster, nodes(1, 1, 1))
    (pod,) = await submit(cluster, "ml", gang("g", 1))
    await cluster.bind(Binding(pod, "n-0-0-0"))
    kubelets = Kubelets(cluster.store)
    kubelets.step()
    kubelets.finish("ml", ["g-0"], "Failed")
    found = await cluster.get(PODS, Target("ml", "g-0"))
    ready = {c["type"]: c["status"] for c in found["status"]["conditions"]}
    assert (found["status"]["phase"], ready["Ready"]) == ("Failed", "False")


async def test_the_model_reads_them() -> None:
    """The readers find the fabric and the gang that the actors meant, without complaint."""
    cluster = MemoryCluster()
    await add_nodes(cluster, nodes(2, 3, 4))
    await submit(cluster, "ml", gang("g", 2))

    def named(kind: str, items: list[Body]) -> list[Body]:
        return [{"apiVersion": "v1", "kind": kind, **item} for item in items]

    items = named("Node", (await cluster.list(NODES)).items)
    items += named("Pod", (await cluster.list(PODS)).items)
    reading = read([Source("twin", orjson.dumps(items))], strict=True)
    fabric = reading.snapshot.fabric
    assert len(fabric.leaves) == 6
    assert {len(leaf.nodes) for leaf in fabric.leaves} == {4}
    (found,) = reading.snapshot.gangs
    assert found.key.name == "g"
    assert sum(role.size for role in found.roles) == 2
