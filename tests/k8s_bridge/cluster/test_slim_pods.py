"""Slim pods hold what is read of them as a whole: what they hold, and disks that they name."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.readers.objects.inline_disks import ATTACHED_DISKS
from tests.k8s_bridge.cluster.test_slim import _all_slim, _reading
from tests.model.readers import made as objects

Body = dict[str, Any]
DRIVERS = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
}


@pytest.mark.parametrize("told", [("4", "1"), ("1", "4"), ("1", "1")])
def test_a_resize_of_a_pod_as_a_whole_is_kept(told: tuple[str, str]) -> None:
    """What a pod holds is there to read while it is not what it asks for, and else takes no memory.

    Of a resize that its node can never make, the condition says so.
    """
    allocated, in_force = told
    body = objects.pod("p", None, nodeName="n1", phase="Running")
    body["spec"]["resources"] = {"requests": {"cpu": "1"}}
    condition = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    body["status"] |= {
        "allocatedResources": {"cpu": allocated},
        "resources": {"requests": {"cpu": in_force}},
        "conditions": [condition],
    }
    whole, slim = _reading([objects.node("n1"), body]), _all_slim([body])
    assert whole.snapshot.used["n1"].cpu == (4000 if "4" in told else 1000)
    assert _reading([objects.node("n1"), *slim]).snapshot.used == whole.snapshot.used
    kept = {"allocatedResources", "resources"} & slim[0]["status"].keys()
    assert bool(kept) is ("4" in told)


@pytest.mark.parametrize("source", ATTACHED_DISKS)
def test_a_disk_of_the_pod_itself_that_is_attached_is_kept(source: str) -> None:
    """Two pods of one disk each, and a node that attaches one: slim or whole, there is room for 0.

    What else a volume says goes.
    """
    spec: Body = {"drivers": [{"name": DRIVERS[source], "allocatable": {"count": 1}}]}
    limit = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "spec": spec}
    limit["metadata"] = {"name": "n1"}
    volumes = [{"name": "d", source: {ATTACHED_DISKS[source]: "d-1", "fsType": "ext4"}}]
    there = objects.pod("p", 1, nodeName="n1", phase="Running", volumes=volumes)
    items = [objects.node("n1"), limit]
    amount = f"attachable-volumes-csi-{DRIVERS[source]}"
    slim = _all_slim([there])
    for body in (there, *slim):
        assert _reading([*items, body]).snapshot.free["n1"].amount(amount) == 0
    assert slim[0]["spec"]["volumes"] == [{"name": "d", source: {ATTACHED_DISKS[source]: "d-1"}}]


def test_the_kind_of_a_disk_is_kept() -> None:
    """That no driver attaches it is refused of the pod as it is kept too."""
    disk = {"diskURI": "https://a.blob.core.windows.net/c/d.vhd", "kind": "Shared", "fsType": "x"}
    waits = objects.pod("p", 1, volumes=[{"name": "d", "azureDisk": disk}])
    (slim,) = _all_slim([waits])
    for body in (waits, slim):
        (gang,) = _reading([objects.node("n1"), body]).snapshot.gangs
        assert gang.hold is not None
        assert "azureDisk.kind Shared" in gang.hold.detail
