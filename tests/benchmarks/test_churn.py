"""The load of the churn: some gangs cannot start, and are deleted while they wait."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.churn import load
from benchmarks.churn.load import ONE_IN, Churn
from benchmarks.throughput.load import fabric
from tests.controlplane.fleet import LEAF_LABEL


class FakeApi:
    """Keeps nodes and pods; `could` is told of each pod that its leaf has all nodes for."""

    def __init__(self, nodes: list[dict[str, Any]]) -> None:
        self.objects = {f"/api/v1/nodes/{one['metadata']['name']}": one for one in nodes}
        self.asked: dict[str, int] = {}
        self.could: list[str] = []

    async def request(self, method: str, path: str, body: Any = None) -> Any:
        """What an API server does."""
        match method:
            case "GET" if "?" in path:
                return {"items": []}
            case "GET":
                self._look(self.objects[path])
                return self.objects[path]
            case "POST":
                self._look(body)
                self.objects[f"{path}/{body['metadata']['name']}"] = body
            case "PUT":
                self.objects[path] = body
            case "DELETE":
                del self.objects[path]
        return None

    def _look(self, body: dict[str, Any]) -> None:
        leaf = body["spec"].get("nodeSelector", {}).get(LEAF_LABEL)
        if leaf is None:
            return
        gang = body["metadata"]["annotations"]["topology.scheduler/gang"]
        self.asked[gang] = int(body["metadata"]["annotations"]["topology.scheduler/gang-size"])
        nodes = [
            one
            for path, one in self.objects.items()
            if "/nodes/" in path and one["metadata"]["labels"][LEAF_LABEL] == leaf
        ]
        if sum(not one["spec"].get("unschedulable") for one in nodes) == self.asked[gang]:
            self.could.append(gang)


async def test_one_gang_in_twenty_waits_in_vain(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks for four nodes of a leaf that has three, when it comes and until it is deleted."""
    monkeypatch.setattr(load, "NODE_EVERY", 0.02)
    monkeypatch.setattr(load, "AWAY", 0.6)
    monkeypatch.setattr(load, "SPARE", 0.2)
    monkeypatch.setattr(load, "LIFE", (0.05, 0.2))
    nodes = fabric(400)
    for node in nodes:
        node.setdefault("spec", {})
    api = FakeApi(nodes)
    churn = Churn(api, nodes, 200.0, 1)  # type: ignore[arg-type]
    await churn.run(1.5)
    assert churn.came // ONE_IN - 2 <= churn.too_large <= churn.came // ONE_IN
    assert churn.cancelled == churn.too_large == len(api.asked)
    assert set(api.asked.values()) == {4}
    assert not api.could
    assert not [path for path in api.objects if "/pods/" in path]
    assert not churn.gangs
