"""What a pod's object says, and what gang it belongs to."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]

PREFIX = "alloc.gpu.scheduling/"
DEVICES = PREFIX + "devices"
GPUS = PREFIX + "gpus"
COMMIT = PREFIX + "commit"
FENCE = PREFIX + "fence"
GANG = "topology.scheduler/gang"
POD_GROUP = "scheduling.x-k8s.io/pod-group"
GANG_SIZE = "topology.scheduler/gang-size"
POLICY = "topology.scheduler/topology-policy"
GPU = "nvidia.com/gpu"


def uid(pod: Body) -> str:
    """Its UID."""
    return str(pod["metadata"]["uid"])


def named(pod: Body) -> str:
    """NAMESPACE/NAME."""
    return f"{pod['metadata'].get('namespace', '')}/{pod['metadata']['name']}"


def annotation(body: Body, key: str) -> str:
    """An annotation, "" where there is none."""
    return str((body["metadata"].get("annotations") or {}).get(key, ""))


def node(pod: Body) -> str:
    """The node that it is bound to, "" while it is unbound."""
    return str(pod["spec"].get("nodeName") or "")


def phase(pod: Body) -> str:
    """Its phase."""
    return str((pod.get("status") or {}).get("phase", ""))


def ended(pod: Body) -> bool:
    """Whether it ran to its end, well or badly."""
    return phase(pod) in ("Succeeded", "Failed")


def holds(pod: Body) -> bool:
    """Whether it is bound and has not ended: it holds what it was given."""
    return bool(node(pod)) and not ended(pod)


def dying(pod: Body) -> bool:
    """Whether it is being deleted."""
    return pod["metadata"].get("deletionTimestamp") is not None


def ready(pod: Body) -> bool:
    """Whether its condition Ready is true."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)


def devices(pod: Body) -> list[int]:
    """The numbers of its devices, as its binding told them."""
    return [int(number) for number in annotation(pod, DEVICES).split(",") if number]


def gpus(pod: Body) -> int:
    """How many GPUs it asks for or was given, whichever is more: what it holds is never less."""
    return max(asked(pod), len(devices(pod)), int(annotation(pod, GPUS) or 0))


def asked(pod: Body) -> int:
    """How many GPUs its containers ask for. Init containers of ours ask for none."""
    total = 0
    for container in pod["spec"].get("containers") or ():
        resources = container.get("resources") or {}
        amounts = resources.get("limits") or resources.get("requests") or {}
        total += int(amounts.get(GPU, 0))
    return total


def gang(pod: Body) -> str:
    """NAMESPACE/GANG by annotation, label or owning Job; "" where it is alone."""
    name = annotation(pod, GANG) or (pod["metadata"].get("labels") or {}).get(POD_GROUP, "")
    if not name:
        owners = pod["metadata"].get("ownerReferences") or ()
        name = next((owner["name"] for owner in owners if owner.get("kind") == "Job"), "")
    return f"{pod['metadata'].get('namespace', '')}/{name}" if name else ""


def controller(pod: Body) -> Body:
    """The owner reference of what made it, {} where nothing did."""
    owners = pod["metadata"].get("ownerReferences") or ()
    return next((one for one in owners if one.get("controller")), {})


def gang_size(pod: Body) -> int:
    """How many members its gang needs, by its annotation; 0 where that says nothing."""
    text = annotation(pod, GANG_SIZE)
    return int(text) if text.isdecimal() else 0
