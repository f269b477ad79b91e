"""The node that the agent runs on, as its kubelet reported it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Cluster, Target

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class NodeIdentity:
    """One life of a node: another UID is another node, another boot may have other devices."""

    name: str
    uid: str = ""
    boot_id: str = ""


async def node_identity(cluster: Cluster, name: str) -> NodeIdentity:
    """Who the node is. Raises `NotFound` until its kubelet has registered it."""
    body = await cluster.get(NODES, Target("", name))
    info = (body.get("status") or {}).get("nodeInfo") or {}
    return NodeIdentity(name, str(body["metadata"].get("uid", "")), str(info.get("bootID", "")))


def placeholder(index: int) -> str:
    """A UUID for a device that has never told its own; no other node has the same."""
    return f"unknown-{index}-{own_boot_id()}"


def own_boot_id(file: Path = BOOT_ID) -> str:
    """What the kernel calls this boot, "" where it does not say."""
    try:
        return file.read_text("ascii").strip()
    except (OSError, ValueError):
        return ""
