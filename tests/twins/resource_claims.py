"""The others around ResourceClaims: drivers that publish devices, and the claims' controller."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import PODS, RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body, Target

DRIVER = "gpu.nvidia.com"
FINALIZER = "resource.kubernetes.io/delete-protection"


def device_class(name: str = DRIVER) -> Body:
    """A class of GPUs, as NVIDIA's driver installs it."""
    expression = f"device.driver == '{name}' && device.attributes['{name}'].type == 'gpu'"
    return {
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def resource_slice(
    node: str, devices: Sequence[str], generation: int = 1, driver: str = DRIVER
) -> Body:
    """All devices of a node, which are of one kind, in one slice."""
    listed = [
        {
            "name": name,
            "attributes": {"type": {"string": "gpu"}, "productName": {"string": "H100"}},
            "capacity": {"memory": {"value": "80Gi"}},
        }
        for name in devices
    ]
    pool = {"name": node, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": listed}
    return {"metadata": {"name": f"{node}-{driver}"}, "spec": spec}


def claim_spec(count: int = 1, name: str = DRIVER) -> Body:
    """The spec of a claim for `count` devices of a class."""
    exactly = {"deviceClassName": name, "allocationMode": "ExactCount", "count": count}
    return {"devices": {"requests": [{"name": "gpus", "exactly": exactly}]}}


COMPUTE_DOMAIN = "compute-domain.nvidia.com"
"""The driver of IMEX channels: NVLink between nodes, such as those of a GB200 rack."""
CHANNEL_CLASS = "compute-domain-default-channel.nvidia.com"
DAEMON_CLASS = "compute-domain-daemon.nvidia.com"


def compute_domain_classes() -> list[Body]:
    """The classes of daemons and of first channels, as the driver installs them."""
    its = f"device.attributes['{COMPUTE_DOMAIN}']"
    driver = f"device.driver == '{COMPUTE_DOMAIN}'"
    selectors = {
        CHANNEL_CLASS: f"{driver} && {its}.type == 'channel' && {its}.id == 0",
        DAEMON_CLASS: f"{driver} && {its}.type == 'daemon'",
    }
    return [
        {
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        }
        for name, expression in selectors.items()
    ]


def compute_domain_slice(node: str) -> Body:
    """What the driver publishes of a node: its daemon and its first channel."""
    listed = [
        {"name": f"{kind}-0", "attributes": {"type": {"string": kind}, "id": {"int": 0}}}
        for kind in ("channel", "daemon")
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": COMPUTE_DOMAIN, "nodeName": node, "pool": pool, "devices": listed}
    return {"metadata": {"name": f"{node}-{COMPUTE_DOMAIN}"}, "spec": spec}


def channel_spec(domain: str = "11111111-2222-3333-4444-555555555555") -> Body:
    """The spec of the claims that the template of a ComputeDomain of that UID makes."""
    parameters = {
        "apiVersion": "resource.nvidia.com/v1beta1",
        "kind": "ComputeDomainChannelConfig",
        "domainID": domain,
        "allocationMode": "Single",
    }
    exactly = {"deviceClassName": CHANNEL_CLASS, "allocationMode": "ExactCount", "count": 1}
    config = {
        "requests": ["channel"],
        "opaque": {"driver": COMPUTE_DOMAIN, "parameters": parameters},
    }
    return {"devices": {"requests": [{"name": "channel", "exactly": exactly}], "config": [config]}}


class ClaimController:
    """The resource claim controller: makes claims from templates, and frees those of dead pods."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    async def run(self, seconds: float = 0.1) -> None:
        """Step for ever, with `seconds` of the store's clock in between."""
        while True:
            self.step()
            await self._store.clock.sleep(seconds)

    def step(self) -> None:
        """Do what there is to do."""
        for pod in list(self._store.records(PODS)):
            if not _done(pod.body):
                self._make(pod)
        for claim in list(self._store.records(RESOURCE_CLAIMS)):
            self._look_after(claim)

    def _make(self, pod: StoredObject) -> None:
        """Make the claims that a pod is to have from templates."""
        status = pod.whole()["status"]
        made = list(status.get("resourceClaimStatuses") or ())
        known = {one["name"] for one in made}
        for one in pod.body["spec"].get("resourceClaims") or ():
            template = one.get("resourceClaimTemplateName")
            if not template or one["name"] in known:
                continue
            try:
                found = self._store.find(RESOURCE_CLAIM_TEMPLATES, Target(pod.namespace, template))
            except NotFound:
                continue
            name = f"{pod.metadata['name']}-{one['name']}-"
            owner = {
                "apiVersion": "v1",
                "kind": "Pod",
                "name": pod.metadata["name"],
                "uid": pod.metadata["uid"],
                "controller": True,
            }
            body: Body = {
                "metadata": {"generateName": name, "ownerReferences": [owner]},
                "spec": found.body["spec"]["spec"],
            }
            claim = self._store.create(RESOURCE_CLAIMS, pod.namespace, body)
            made.append({"name": one["name"], "resourceClaimName": claim.metadata["name"]})
        if len(made) > len(known):
            body = pod.whole()
            body["status"]["resourceClaimStatuses"] = made
            self._store.update(PODS, pod, body, "status")

    def _look_after(self, claim: StoredObject) -> None:
        """Take dead pods off a claim, free what is no longer used, delete what may go."""
        body = claim.whole()
        status = body.get("status") or {}
        users = status.get("reservedFor") or []
        alive = [one for one in users if self._lives(claim.namespace, one["name"], one["uid"])]
        dying = "deletionTimestamp" in claim.metadata
        if len(alive) < len(users) or (dying and not alive and status.get("allocation")):
            body["status"] = {**status, "reservedFor": alive}
            if not alive:
                body["status"] = {}
            claim = self._store.update(RESOURCE_CLAIMS, claim, body, "status")
            body = claim.whole()
        held = (body.get("status") or {}).get("allocation")
        finalizers = body["metadata"].get("finalizers") or []
        if FINALIZER in finalizers and not held and (dying or len(alive) < len(users)):
            body["metadata"]["finalizers"] = [one for one in finalizers if one != FINALIZER]
            claim = self._store.update(RESOURCE_CLAIMS, claim, body)
        owners = claim.metadata.get("ownerReferences") or ()
        if not alive and not dying and owners:
            owner = owners[0]
            if not self._lives(claim.namespace, owner["name"], owner["uid"]):
                self._store.remove(claim)

    def _lives(self, namespace: str, name: str, uid: str) -> bool:
        try:
            pod = self._store.find(PODS, Target(namespace, name))
        except NotFound:
            return False
        return pod.metadata["uid"] == uid and not _done(pod.body)


def _done(pod: Body) -> bool:
    """Whether a pod will not run any more."""
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    dies = "deletionTimestamp" in pod["metadata"]
    return ended or (dies and not pod["spec"].get("nodeName"))
