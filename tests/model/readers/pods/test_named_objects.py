"""How much a pod that waits may name: disks, ports, resources."""

from __future__ import annotations

import pytest

from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import only
from tests.model.readers.made import Body, node, pod, reading

DISKS = "disks that the pod itself names"


def disks(count: int) -> Body:
    """Make the part of a spec that names so many disks, of two sources."""
    sources = (("gcePersistentDisk", "pdName"), ("iscsi", "iqn"))
    named = [(f"v{i}", *sources[i % 2]) for i in range(count)]
    return {"volumes": [{"name": one, source: {key: one}} for one, source, key in named]}


def ports(count: int, on_host: bool = False) -> Body:
    """Make the part of a spec that asks for so many ports, half of them in init containers."""
    key = "containerPort" if on_host else "hostPort"
    some = [{"name": f"c{i}", "ports": [{key: i + 1}, {"name": "x"}]} for i in range(count)]
    return {"containers": some[::2], "initContainers": some[1::2], "hostNetwork": on_host}


def resources(count: int) -> Body:
    """Make the part of a spec that asks for so many resources, in requests and in limits."""
    amounts = [{f"example.com/{i}": "1"} for i in range(count)]
    asked = [{"requests": one, "limits": one} for one in amounts]
    return {"containers": [{"name": f"c{i}", "resources": one} for i, one in enumerate(asked)]}


@pytest.mark.parametrize(
    ("most", "above", "what"),
    [
        (disks(32), disks(33), f"spec.volumes, with more than 32 {DISKS},"),
        (ports(64), ports(65), "spec.containers[*].ports, with more than 64 ports of the node,"),
        (
            ports(64, on_host=True),
            ports(65, on_host=True),
            "spec.containers[*].ports, with more than 64 ports of the node,",
        ),
        (
            resources(64),
            resources(65),
            "spec.containers[*].resources, with more than 64 names of resources,",
        ),
    ],
)
def test_a_pod_that_names_too_much_is_held_by_name(most: Body, above: Body, what: str) -> None:
    """One more than there may be, and what to do about it; as many as there may be are read."""
    held = only(node(), pod(**above)).hold
    assert held is not None
    assert held.kind is ReasonKind.UNSUPPORTED
    assert held.detail == f"Pod ml/p: {what} cannot be honoured"
    assert held.unblock == ("Ask for fewer of them.",)
    assert only(node(), pod(**most)).hold is None


def test_disks_of_a_pod_that_runs_count_however_many_they_are() -> None:
    """It writes to 500 of them: one more pod that names the last of them has no room beside it."""
    stands = pod("old", 0, nodeName="n1", phase="Running", **disks(501))
    found = reading(node(), stands, pod("p", 0, **disks(1))).snapshot
    names = [name for name, left in found.free["n1"].extra if left == 0]
    assert len(names) == 501
