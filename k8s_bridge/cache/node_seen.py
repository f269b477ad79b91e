"""What is known of a node beside what the model reads: its conditions, its end, marks of ours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.readers.nodes.nodes import ready_status
from fourleaf.model.readers.objects.annotations import PREFIX

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
"""Key of the taint of a node that is shut down for good."""


@dataclass(frozen=True, slots=True)
class NodeSeen:
    """A node, read once for each version of it: it is asked for many times a second.

    `ready` is the status of its condition `Ready`, `true` are the conditions that are true, in
    their order, `marks` its annotations `topology.scheduler/*`.
    """

    ready: str
    true: tuple[str, ...]
    out_of_service: bool
    marks: Mapping[str, str]


def node_seen(body: Body) -> NodeSeen:
    """What a Node object says."""
    conditions = (body.get("status") or {}).get("conditions") or ()
    taints = (body.get("spec") or {}).get("taints") or ()
    annotations = body["metadata"].get("annotations") or {}
    return NodeSeen(
        ready_status(body),
        tuple(str(one.get("type")) for one in conditions if one.get("status") == "True"),
        any(taint.get("key") == OUT_OF_SERVICE for taint in taints),
        {name: said for name, said in annotations.items() if name.startswith(PREFIX)},
    )
