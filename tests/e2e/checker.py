"""What has to hold at rest, judged by nothing but what the API shows."""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from tests.controlplane.api import Api

DEVICES = "alloc.gpu.scheduling/devices"
CONTENT = "alloc.gpu.scheduling/content"
FORMAT = "alloc.gpu.scheduling/format"
RECORD = "alloc.gpu.scheduling/record"
OURS = ("topology-aware-scheduler", "gpu-scheduler")


def pods(api: Api) -> list[dict[str, Any]]:
    """All pods of ours."""
    items = api.get("/api/v1/pods")["items"]
    return [pod for pod in items if pod["spec"]["schedulerName"] in OURS]


def holds(pod: dict[str, Any]) -> bool:
    """Whether the pod holds its node's GPUs."""
    ended = pod["status"].get("phase") in ("Succeeded", "Failed")
    return bool(pod["spec"].get("nodeName")) and not ended


def breaches(
    api: Api, gangs: Iterable[Iterable[str]] = (), namespace: str = "kube-system"
) -> list[str]:
    """What does not hold; `gangs` are names of pods that run together or not at all.

    The records are in `namespace`.
    """
    found: list[str] = []
    live = pods(api)
    by_name = {pod["metadata"]["name"]: pod for pod in live}
    for gang in gangs:
        names = list(gang)
        bound = sum(name in by_name and holds(by_name[name]) for name in names)
        if bound not in (0, len(names)):
            found.append(f"gang of {names[0]}: {bound} of {len(names)} are bound")
    found += _shared_devices(live)
    leases = api.get(f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases")["items"]
    found += _records(live, leases)
    return found


def _shared_devices(live: list[dict[str, Any]]) -> list[str]:
    held: Counter[tuple[str, str]] = Counter()
    for pod in live:
        if holds(pod):
            text = (pod["metadata"].get("annotations") or {}).get(DEVICES, "")
            held.update((pod["spec"]["nodeName"], one) for one in text.split(",") if one)
    return [f"{node}: device {one} is held {n} times" for (node, one), n in held.items() if n > 1]


def _records(live: list[dict[str, Any]], leases: list[dict[str, Any]]) -> list[str]:
    found = []
    written: Counter[str] = Counter()
    for lease in leases:
        record = (lease["metadata"].get("labels") or {}).get(RECORD)
        name = lease["metadata"]["name"]
        if record == "gang":
            found.append(f"gang lease {name} is left over")
        elif record == "page":
            content = json.loads(lease["metadata"]["annotations"][CONTENT])
            for entry in content["entries"]:
                if entry.get("lease"):
                    found.append(f"page {name} still points to {entry['lease']}")
                written.update(map(_uid, entry["members"]))
    bound = Counter(pod["metadata"]["uid"] for pod in live if holds(pod))
    found += [f"pod {uid} is bound but on no page" for uid in bound - written]
    found += [f"pod {uid} is on a page but not bound" for uid in written - bound]
    return found


def formats(api: Api) -> set[str]:
    """The formats that records are in."""
    leases = api.get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases")["items"]
    return {
        (lease["metadata"].get("annotations") or {}).get(FORMAT, "1")
        for lease in leases
        if RECORD in (lease["metadata"].get("labels") or {})
    }


def _uid(member: Any) -> str:
    """The UID of a member: a field of its row in format 1, in format 2 its 16 bytes in base 64."""
    if isinstance(member, list) and isinstance(member[1], str):
        return str(member[1])
    text = member if isinstance(member, str) else member[0]
    return str(UUID(bytes=base64.urlsafe_b64decode(text.split(" ")[1] + "==")))
