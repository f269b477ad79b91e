"""A made-up cluster for pictures and measurements: gangs of all sizes, and what goes wrong."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from zlib import crc32

from fourleaf.k8s_bridge.cluster.memory.actors import container
from fourleaf.k8s_bridge.runtime.api_text import reason_text, second
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from tests.controlplane.fleet import GPU, Fleet

Body = dict[str, Any]
NAMES = (
    "llama",
    "mixtral",
    "whisper",
    "resnet",
    "clip",
    "bert",
    "dino",
    "conformer",
    "sam",
    "rlhf",
)
TEAMS = ("ml", "speech", "vision", "research", "serving")
SIZES = ((16, 8), (8, 8), (4, 8), (4, 8), (2, 8), (2, 8), (1, 8), (1, 4), (2, 2), (1, 2), (1, 1))
"""Pods, and GPUs of each."""
FULL = 0.8
"""The share of the nodes that gangs stand on, about."""
CREATED = "2025-11-21T04:00:00Z"
NOW = 1763704800.0
"""2025-11-21T06:00:00Z."""


def scene(nodes: int, seed: int = 1) -> list[Body]:
    """Objects of a cluster of so many nodes, as kubectl prints them."""
    chance = random.Random(seed)  # noqa: S311 - a picture, not a secret
    fleet = Fleet(nodes)
    bodies = fleet.objects()
    for number in chance.sample(range(nodes), max(2, nodes // 60)):
        spoil(bodies[number], chance)
    usable = [n for n, body in enumerate(bodies) if not _spoilt(body)]
    return [*bodies, *_running(usable, chance), *waiting()]


def spoil(node: Body, chance: random.Random) -> None:
    """Cordon a node, or let it fail."""
    if chance.random() < 0.5:
        node["spec"] = {"unschedulable": True}
    else:
        node["status"]["conditions"] = [{"type": "Ready", "status": "False"}]


def _spoilt(node: Body) -> bool:
    return "spec" in node or node["status"]["conditions"][0]["status"] == "False"


def _running(nodes: list[int], chance: random.Random) -> Iterator[Body]:
    left = list(nodes)
    number = 0
    while left:
        if chance.random() > FULL:
            del left[: chance.choice((1, 1, 2, 4))]
            continue
        pods, gpus = chance.choice(SIZES)
        per_node = 8 // gpus
        hosts = [left.pop(0) for _ in range(min(len(left), -(-pods // per_node)))]
        if pods == 1 and gpus < 8:
            shared = chance.randint(1, per_node)
            for _ in range(shared):
                yield from gang(_named(chance, number), [hosts[0]], gpus)
                number += 1
        else:
            seats = [hosts[min(i // per_node, len(hosts) - 1)] for i in range(pods)]
            if len(set(seats)) * per_node >= pods:
                yield from gang(_named(chance, number), seats, gpus)
                number += 1


def _named(chance: random.Random, number: int) -> tuple[str, str]:
    return chance.choice(TEAMS), f"{chance.choice(NAMES)}-{number}"


def gang(
    key: tuple[str, str], nodes: list[int], gpus: int, scheduler: str = "gpu-scheduler"
) -> Iterator[Body]:
    """The pods of a gang that runs, one for each of `nodes`, since some time within two hours."""
    bound = second(NOW - crc32("/".join(key).encode()) % 7200)
    for index, number in enumerate(nodes):
        body = pod(*key, index, len(nodes), gpus, scheduler)
        body["spec"]["nodeName"] = f"gpu-{number}"
        body["status"] = {"phase": "Running", "startTime": bound}
        yield body


def pod(
    namespace: str, name: str, index: int, size: int, gpus: int, scheduler: str = "gpu-scheduler"
) -> Body:
    """A pod of a gang, which waits."""
    said = {"topology.scheduler/gang": name, "topology.scheduler/gang-size": str(size)}
    resources = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {GPU: str(gpus)}}
    main = container() | {"resources": resources if gpus else {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "namespace": namespace,
            "name": f"{name}-{index}",
            "annotations": said,
            "creationTimestamp": CREATED,
        },
        "spec": {"schedulerName": scheduler, "containers": [main]},
        "status": {"phase": "Pending"},
    }


def waiting() -> Iterator[Body]:
    """Two gangs that wait, with what a scheduler has said of them."""
    near = NearMiss("leaf-7", 3, 4, holders=(("gpu-30", "vision/dino-3"),))
    counts = (("needed", 16), ("leaves", 4), ("free", 22), ("spine", 14))
    apart = Reason(ReasonKind.NO_ADJACENT_LEAVES, counts=counts, near=(near,))
    full = Reason(ReasonKind.NO_FREE_CAPACITY, counts=(("needed", 8), ("free", 5)), near=(near,))
    for name, size, reason in (("llama-pretrain", 16, apart), ("reward-model", 8, full)):
        step = "it starts when vision/dino-3 ends"
        message = reason_text(replace(reason, unblock=(step,)))
        condition = {"type": "PodScheduled", "status": "False", "message": message}
        for index in range(size):
            body = pod("ml", name, index, size, 8)
            body["status"]["conditions"] = [condition]
            yield body
