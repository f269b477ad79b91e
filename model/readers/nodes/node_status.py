"""`GpuNodeStatus` objects: the devices of nodes, and why one that cannot be trusted is held back.

An inventory is believed as a whole or not at all: a node whose devices are not known for sure
takes no pods, since a pod that came there could be given devices that are not there, or twice.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

from pydantic import ValidationError

from fourleaf.model.crds.api import GROUP
from fourleaf.model.crds.node_status import FORMAT, GpuNodeStatus, NodeDevices
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.layout import Device, bits, layout_of
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.objects.timestamps import created_at
from fourleaf.model.topology import natural_key

STATUS = (GROUP, "GpuNodeStatus")
_ADVICE = "See what the agent of the node reports; it publishes anew when that changes."


@dataclass(frozen=True, slots=True)
class Host:
    """What a node says of itself: its UID and boot ("" where it does not), and its GPUs.

    `gpus` are those that it offers, None where no device plugin announces any, not even that there
    are none; `most` those that it may have, healthy or not.
    """

    uid: str
    boot: str
    gpus: int | None
    most: float


@dataclass(slots=True)
class DevicesRead:
    """The healthy devices of a node and the UUIDs of all, or why they are not believed.

    `since` is when the API server took the inventory first, in seconds since the epoch.
    """

    free: FreeDevices | None = None
    uuids: tuple[str, ...] = ()
    since: float = math.inf
    fault: str = ""
    manifest: Manifest | None = None

    def on(self, report: Report) -> DevicesRead:
        """The same devices, whose doubts go to `report` and leave this one as it is."""
        return replace(self, manifest=self.manifest and self.manifest.on(report))

    def says_the_same_as(self, other: DevicesRead) -> bool:
        """Whether both are the same devices, or the same doubts."""
        mine, theirs = ((one.free, one.uuids, one.since, one.fault) for one in (self, other))
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
    created = created_at(manifest)
    found.since = math.inf if created is None else created
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
    elif node.gpus is not None and healthy > node.gpus:
        message = f"has {healthy} healthy devices where the node offers {node.gpus}"
        found.doubt("status.gpus", healthy, message)
    elif len(known) > node.most:
        message = f"names {len(known)} devices, healthy or not, where the node has {node.most}"
        found.doubt("status.gpus", len(known), message)
    elif not known and node.gpus:
        found.doubt("status.gpus", 0, f"is empty where the node offers {node.gpus} devices")
    return bool(found.fault)


def _twice(values: Iterable[object]) -> list[object]:
    return [value for value, times in Counter(values).items() if times > 1]


def doubt_twins(nodes: Iterable[tuple[str, DevicesRead]]) -> None:
    """Of inventories that name one device believe all but the one that seems to have taken it.

    One agent may name devices of many nodes, whose objects may be younger than its own. So the one
    that shares most devices is believed least, and among equals the one that the API server took
    last. What agents say of themselves counts for nothing, so every replica finds the same.
    """
    named: dict[str, DevicesRead] = {}
    claimants: dict[str, list[str]] = defaultdict(list)
    for name, devices in nodes:
        named[name] = devices
        for uuid in devices.uuids:
            claimants[uuid].append(name)
    disputed = {uuid: set(names) for uuid, names in claimants.items() if len(names) > 1}
    shared = Counter(name for names in disputed.values() for name in names)
    oldest_first = sorted(shared, key=lambda name: (named[name].since, natural_key(name)))
    age = {name: -place for place, name in enumerate(oldest_first)}
    least_believed = [(-shared[name], age[name], name) for name in oldest_first]
    heapify(least_believed)
    while least_believed:
        count, _, name = heappop(least_believed)
        if -count != shared[name]:
            continue
        mine = [uuid for uuid in named[name].uuids if name in disputed.get(uuid, ())]
        _doubt_twin(named[name], mine, max(disputed[mine[0]] - {name}, key=age.__getitem__))
        for uuid in mine:
            disputed[uuid].discard(name)
            if len(disputed[uuid]) == 1:
                (left,) = disputed.pop(uuid)
                shared[left] -= 1
                if shared[left]:
                    heappush(least_believed, (-shared[left], age[left], left))


def _doubt_twin(devices: DevicesRead, uuids: Sequence[str], other: str) -> None:
    """Doubt an inventory with these devices of others, the first of which is that of `other`."""
    more = f", and {len(uuids) - 1} more of other nodes" if len(uuids) > 1 else ""
    devices.doubt("status.gpus", uuids[0], f"names device {uuids[0]} of {other}{more}")
