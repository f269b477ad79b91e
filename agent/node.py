"""The node that the agent runs on, as its kubelet reported it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Cluster, Target
from fourleaf.model.config.spec import Spec
from fourleaf.model.readers.objects.amounts import most_devices
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report

GPU_RESOURCES = Spec().gpu_resources
"""Under these names kubelets offer devices where the config, which no agent reads, names none."""

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """One life of a node: another UID is another node, another boot may have other devices.

    An inventory of more than `most` devices is not believed; infinite where no kubelet tells.
    """

    name: str
    uid: str = ""
    boot_id: str = ""
    most: float = math.inf


async def node_identity(cluster: Cluster, name: str) -> NodeIdentity:
    """Who the node is. Raises `NotFound` until its kubelet has registered it."""
    body = await cluster.get(NODES, Target("", name))
    status = body.get("status") or {}
    info = status.get("nodeInfo") or {}
    uid, boot = str(body["metadata"].get("uid", "")), str(info.get("bootID", ""))
    manifest = Manifest(Report(), "", "", NODES.name, "", name, body)
    return NodeIdentity(name, uid, boot, most_devices(manifest, status, GPU_RESOURCES))


def placeholder(index: int) -> str:
    """A UUID for a device that has never told its own; no other node has the same."""
    return f"unknown-{index}-{own_boot_id()}"


def own_boot_id(file: Path = BOOT_ID) -> str:
    """What the kernel calls this boot, "" where it does not say."""
    try:
        return file.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
