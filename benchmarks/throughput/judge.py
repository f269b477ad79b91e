"""What is wrong with the placed gangs, judged by nothing but nodes and pods of the API."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.throughput.load import Gang
from tests.controlplane.fleet import GPU, LEAF_LABEL, SPINE_LABEL

DEVICES = "alloc.gpu.scheduling/devices"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, one line each; `left_out` are gangs of which nothing is bound."""

    left_out: tuple[str, ...] = ()
    partial: tuple[str, ...] = ()
    wrong_leaves: tuple[str, ...] = ()
    shared_devices: tuple[str, ...] = ()
    oversubscribed: tuple[str, ...] = ()

    @property
    def breaches(self) -> list[str]:
        """Everything that must never be. To be left out is none."""
        return [*self.partial, *self.wrong_leaves, *self.shared_devices, *self.oversubscribed]


class Fabric:
    """Where each node is. `nodes` are Node objects in the order of the fabric."""

    def __init__(self, nodes: Sequence[dict[str, Any]]) -> None:
        self.room: dict[str, int] = {}
        self._leaf: dict[str, int] = {}
        self._spine: list[str] = []
        self._size: list[int] = []
        number: dict[str, int] = {}
        for node in nodes:
            name, labels = node["metadata"]["name"], node["metadata"]["labels"]
            leaf = number.setdefault(labels[LEAF_LABEL], len(number))
            if leaf == len(self._size):
                self._size.append(0)
                self._spine.append(labels[SPINE_LABEL])
            self._size[leaf] += 1
            self._leaf[name] = leaf
            self.room[name] = int(node["status"]["allocatable"][GPU])

    def wrong(self, nodes: Iterable[str]) -> str:
        """Why these nodes are no legal place for one gang, "" where they are one.

        A gang takes the fewest leaves that could hold it, adjacent and of one spine; all of
        them but one, which is at an end, it takes whole.
        """
        taken = Counter(self._leaf[node] for node in nodes)
        leaves = sorted(taken)
        count = sum(taken.values())
        fewest = -(-count // max(self._size))
        if len(leaves) > fewest:
            return f"{count} nodes in {len(leaves)} leaves instead of {fewest}"
        if any(b != a + 1 for a, b in pairwise(leaves)):
            return f"leaves {leaves} are not adjacent"
        if len({self._spine[leaf] for leaf in leaves}) > 1:
            return f"leaves {leaves} are not of one spine"
        rest = [leaf for leaf in leaves if taken[leaf] < self._size[leaf]]
        if len(rest) > 1 or (rest and rest[0] not in (leaves[0], leaves[-1])):
            return f"leaves {rest} are not complete"
        return ""


def judge(
    nodes: Sequence[dict[str, Any]], pods: Sequence[dict[str, Any]], gangs: Iterable[Gang]
) -> Verdict:
    """Look at everything that `pods` hold; each pod of `gangs` needs a node of its own."""
    fabric = Fabric(nodes)
    where = {
        pod["metadata"]["name"]: pod["spec"]["nodeName"]
        for pod in pods
        if pod["spec"].get("nodeName")
    }
    left_out, partial, wrong = [], [], []
    for gang in gangs:
        placed = [where[name] for name in gang.pods() if name in where]
        if not placed:
            left_out.append(gang.name)
        elif len(placed) < gang.size:
            partial.append(f"{gang.name}: {len(placed)} of {gang.size} pods are bound")
        elif why := fabric.wrong(placed):
            wrong.append(f"{gang.name}: {why}")
    return Verdict(tuple(left_out), tuple(partial), tuple(wrong), *_held_twice(fabric, pods))


def _held_twice(
    fabric: Fabric, pods: Sequence[dict[str, Any]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    devices: Counter[tuple[str, str]] = Counter()
    used: defaultdict[str, int] = defaultdict(int)
    for pod in pods:
        node = pod["spec"].get("nodeName")
        if not node:
            continue
        annotations = pod["metadata"].get("annotations") or {}
        devices.update((node, one) for one in annotations.get(DEVICES, "").split(",") if one)
        for container in pod["spec"]["containers"]:
            used[node] += int(container.get("resources", {}).get("limits", {}).get(GPU, 0))
    shared = [
        f"{node}: device {one} is held {n} times" for (node, one), n in devices.items() if n > 1
    ]
    over = [
        f"{node}: {gpus} GPUs of {fabric.room.get(node, 0)} are held"
        for node, gpus in used.items()
        if gpus > fabric.room.get(node, 0)
    ]
    return tuple(shared), tuple(over)
