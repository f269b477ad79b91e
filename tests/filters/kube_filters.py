"""Asks the filters of kube-scheduler which nodes they leave a pod."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.controlplane.build import program

Body = dict[str, Any]
_KINDS = {
    "Node": "nodes",
    "Pod": "pods",
    "PersistentVolumeClaim": "claims",
    "PersistentVolume": "volumes",
    "StorageClass": "classes",
    "CSIDriver": "drivers",
    "CSIStorageCapacity": "capacities",
    "CSINode": "limits",
    "VolumeAttachment": "attachments",
    "Namespace": "namespaces",
}


@dataclass(frozen=True, slots=True)
class Case:
    """A cluster, and a pod of it that waits."""

    objects: tuple[Body, ...]
    pod: Body

    @property
    def line(self) -> str:
        """What the program reads.

        Pods without a node, and those that are over, are not in a scheduler's snapshot.
        """
        asked: dict[str, Any] = {"pod": self.pod}
        for body in self.objects:
            if body["kind"] != "Pod" or _stands(body):
                asked.setdefault(_KINDS[body["kind"]], []).append(body)
        return json.dumps(asked)


def _stands(pod: Body) -> bool:
    """Whether the pod has a node and is not over."""
    over = pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}
    return bool(pod["spec"].get("nodeName")) and not over


def judged(cases: Sequence[Case]) -> list[Mapping[str, str]]:
    """For each case, node -> why it is refused, "" where it is not. Raises `AssertionError`."""
    lines = "".join(f"{case.line}\n" for case in cases)
    done = subprocess.run(
        [program("kube-filters")], input=lines, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases)
    for answer in answers:
        assert "error" not in answer, answer["error"]
    return [answer["nodes"] for answer in answers]
