"""`GpuNodeStatus` objects: the devices of nodes, and why one that cannot be trusted is held back.

An inventory is believed as a whole or not at all: a node whose devices are not known for sure
takes no pods, since a pod that came there could be given devices that are not there, or twice.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace

from pydantic import ValidationError

from fourleaf.model.crds.api import GROUP
from fourleaf.model.crds.node_status import FORMAT, GpuNodeStatus, NodeDevices
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.layout import Device, bits, layout_of
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report

STATUS = (GROUP, "GpuNodeStatus")
_ADVICE = "See what the agent of the node reports; it publishes anew when that changes."


@dataclass(frozen=True, slots=True)
class Host:
    """What a node says of itself: its UID and boot ("" where it does not), and its GPUs."""

    uid: str
    boot: str
    gpus: int


@dataclass(slots=True)
class DevicesRead:
    """The healthy devices of a node and the UUIDs of all, or why they are not believed."""

    free: FreeDevices | None = None
    uuids: tuple[str, ...] = ()
    fault: str = ""
    manifest: Manifest | None = None

    def on(self, report: Report) -> DevicesRead:
        """The same devices, whose doubts go to `report` and leave this one as it is."""
        return replace(self, manifest=self.manifest and self.manifest.on(report))

    def says_the_same_as(self, other: DevicesRead) -> bool:
        """Whether both are the same devices, or the same doubts."""
        mine, theirs = ((one.free, one.uuids, one.fault) for one in (self, other))
        return mine == theirs

    def doubt(self, field: str, value: object, message: str) -> None:
        """Believe nothing of this inventory, and say why."""
        self.free, self.fault = None, self.fault or f"its inventory {message}"
        if self.manifest is not None:
            self.manifest.warn(field, value, message, _ADVICE)


def read_devices(manifest: Manifest, node: Host) -> DevicesRead:
    """The devices that an inventory gives the node, as far as it agrees with the node."""
    found = DevicesRead(manifest=manifest)
    status = _status(manifest, found)
    if status is None or _disagrees(status, node, found):
        return found
    devices = [Device(gpu.index, gpu.product, gpu.memory_mib) for gpu in status.gpus]
    links = [(link.a, link.b, int(link.bandwidth_gbps * 1000)) for link in status.links]
    layout = layout_of(devices, links)
    found.free = FreeDevices(layout, bits(gpu.index for gpu in status.gpus if gpu.healthy))
    found.uuids = tuple(gpu.uuid for gpu in status.gpus)
    return found


def _status(manifest: Manifest, found: DevicesRead) -> NodeDevices | None:
    said = manifest.body.get("status")
    version = said.get("format", FORMAT) if isinstance(said, dict) else FORMAT
    if isinstance(version, int) and version > FORMAT:
        found.doubt("status.format", version, f"has format {version}, above {FORMAT}")
        return None
    try:
        status = GpuNodeStatus.model_validate({"status": said}).status
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "status"
        found.doubt(where, None, f"makes no sense: {where}: {first['msg']}")
        return None
    if status is None:
        found.doubt("status", None, "is empty")
    return status


def _disagrees(status: NodeDevices, node: Host, found: DevicesRead) -> bool:
    """Whether the inventory contradicts the node or itself; `found` then doubts it."""
    said_no = [one for one in status.conditions if one.type == "Ready" and one.status != "True"]
    healthy = sum(gpu.healthy for gpu in status.gpus)
    known = {gpu.index for gpu in status.gpus}
    twice = _twice(gpu.uuid for gpu in status.gpus)
    pairs = _twice((link.a, link.b) for link in status.links)
    if said_no:
        found.doubt("status.conditions", "Ready", f"is not ready: {said_no[0].message}")
    elif status.node_uid and node.uid and status.node_uid != node.uid:
        found.doubt("status.nodeUID", status.node_uid, "is stale: it speaks of an earlier node")
    elif status.boot_id and node.boot and status.boot_id != node.boot:
        found.doubt("status.bootID", status.boot_id, "is stale: the node has started anew since")
    elif len(known) < len(status.gpus):
        found.doubt("status.gpus", None, "gives two devices one number")
    elif twice:
        found.doubt("status.gpus", twice[0], f"names device {twice[0]} twice")
    elif pairs or any(link.a >= link.b for link in status.links):
        found.doubt("status.links", None, "names a link twice or backwards")
    elif any(not {link.a, link.b} <= known for link in status.links):
        found.doubt("status.links", None, "names links of devices that it does not have")
    elif healthy > node.gpus:
        message = f"has {healthy} healthy devices where the node offers {node.gpus}"
        found.doubt("status.gpus", healthy, message)
    elif not known and node.gpus:
        found.doubt("status.gpus", 0, f"is empty where the node offers {node.gpus} devices")
    return bool(found.fault)


def _twice(values: Iterable[object]) -> list[object]:
    return [value for value, times in Counter(values).items() if times > 1]


def doubt_twins(nodes: Iterable[tuple[str, DevicesRead]]) -> None:
    """Believe no inventory that names a device which another node names as well."""
    owners: dict[str, list[tuple[str, DevicesRead]]] = defaultdict(list)
    for name, devices in nodes:
        for uuid in devices.uuids:
            owners[uuid].append((name, devices))
    for uuid, both in owners.items():
        for name, devices in both if len(both) > 1 else ():
            other = next(there for there, _ in both if there != name)
            devices.doubt("status.gpus", uuid, f"names device {uuid}, and so does that of {other}")
