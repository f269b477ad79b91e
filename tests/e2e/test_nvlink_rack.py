"""A job over 17 of the 18 nodes of an NVLink rack, its channels and the daemons of its domain.

Slices, classes and claims are as NVIDIA's driver for DRA publishes and makes them: a node offers
one daemon and its first channel, a ComputeDomain makes a claim of a channel for each member, and
once a channel has been given the driver wants a daemon on that node.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.controlplane.api import Api
from tests.controlplane.fixtures import Plane
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches
from tests.e2e.replica import grant
from tests.e2e.test_claims import CONTROLLERS, RESOURCES, claims, clear, leads, scheduler
from tests.e2e.test_compute_domain import (
    NATIVE,
    OURS,
    YAML,
    create_template,
    places,
    submit,
    typed,
)
from tests.twins.resource_claims import (
    DAEMON_CLASS,
    claim_spec,
    compute_domain_classes,
    compute_domain_slice,
)

RACK = Fleet(18, per_leaf=18, gpus=4)
MEMBERS = 17
DAEMON = "compute-domain-daemon"


@pytest.fixture(scope="module")
def plane(module_control_plane: Plane) -> Plane:
    """The rack, the controller of claims, and kube-scheduler."""
    plane = module_control_plane
    if not plane.managed:
        pytest.skip("the cluster that the environment names has controllers of its own")
    create_fleet(plane.kubeconfig(), RACK)
    grant(plane, "scheduler-a")
    plane.controller_manager(controllers=CONTROLLERS)
    plane.scheduler()
    with plane.api() as api:
        for body in compute_domain_classes():
            text = json.dumps(body | typed("DeviceClass"))
            api.request("POST", f"{RESOURCES}/deviceclasses", text, YAML)
        for name in RACK.names():
            api.create(f"{RESOURCES}/resourceslices", compute_domain_slice(name))
    return plane


@pytest.mark.parametrize("who", [NATIVE, OURS])
def test_seventeen_nodes_of_eighteen(plane: Plane, tmp_path: Path, who: str) -> None:
    """All members start, each with its channel, and each node gets its daemon from either."""
    process = scheduler(plane, "scheduler-a", tmp_path)
    process.start()
    try:
        with plane.api() as api:
            eventually(lambda: leads(process), "it leads")
            space = api.new_namespace()
            create_template(api, space)
            source = {"resourceClaimTemplateName": "imex-channel"}
            submit(api, space, "train", OURS, 4, MEMBERS, **source)
            eventually(lambda: len(places(api, space)) == MEMBERS, "all members run", 60)
            nodes = set(places(api, space).values())
            assert len(nodes) == MEMBERS
            _create_daemons(api, space, who, nodes)
            eventually(lambda: len(places(api, space)) == 2 * MEMBERS, "all daemons run", 60)
            assert _devices(api, space) == {
                (node, f"{kind}-0") for node in nodes for kind in ("channel", "daemon")
            }
            clear(api, space)
            eventually(lambda: not breaches(api), "nothing is left on the pages")
    finally:
        process.kill()


def _create_daemons(api: Api, space: str, scheduler_name: str, nodes: set[str]) -> None:
    """A pod for each node with a claim of the daemon there, as a DaemonSet ties it to its node."""
    spec = {"spec": claim_spec(name=DAEMON_CLASS)}
    body = {"metadata": {"name": DAEMON}, "spec": spec} | typed("ResourceClaimTemplate")
    path = f"{RESOURCES}/namespaces/{space}/resourceclaimtemplates"
    api.request("POST", path, json.dumps(body), YAML)
    for node in sorted(nodes):
        api.create(f"/api/v1/namespaces/{space}/pods", _daemon(node, scheduler_name))


def _daemon(node: str, scheduler_name: str) -> dict[str, Any]:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    terms = [{"matchFields": [field]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    spec = {
        "schedulerName": scheduler_name,
        "terminationGracePeriodSeconds": 0,
        "affinity": {"nodeAffinity": required},
        "resourceClaims": [{"name": "daemon", "resourceClaimTemplateName": DAEMON}],
        "containers": [
            {"name": "main", "image": "daemon", "resources": {"claims": [{"name": "daemon"}]}}
        ],
    }
    return {"metadata": {"name": f"daemon-{node}"}, "spec": spec}


def _devices(api: Api, space: str) -> set[tuple[str, str]]:
    """(node, device) of all allocated claims."""
    return {
        (one["pool"], one["device"])
        for claim in claims(api, space)
        for one in claim["status"]["allocation"]["devices"]["results"]
    }
