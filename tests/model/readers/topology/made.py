"""What agents publish of where their nodes stand, for tests."""

from __future__ import annotations

from typing import Any

Body = dict[str, Any]


def topology(*switches: str, **more: Any) -> Body:
    """A node whose interface `eth2` and following see these switches, named as they are called."""
    seen = [
        {"interface": f"eth{2 + number}", "id": f"id-{name}", "name": name}
        for number, name in enumerate(switches)
    ]
    return {"switches": seen, **more}


def place(source: str, leaf: str, spine: str = "", core: str = "") -> Body:
    """A node for which one source names domains."""
    return {"places": [{"source": source, "leaf": leaf, "spine": spine, "core": core}]}


def status(name: str, topology: Body, clique: int | None = None, uid: str = "") -> Body:
    """The `GpuNodeStatus` of the node `name` without its devices, but for one in `clique`."""
    told: Body = {"topology": topology, "nodeUID": uid}
    if clique is not None:
        fabric = {"clusterUUID": "c1", "cliqueID": clique, "state": "Completed"}
        told["gpus"] = [{"index": 0, "uuid": f"GPU-{name}", "fabric": fabric}]
    return {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuNodeStatus",
        "metadata": {"name": name},
        "status": told,
    }
