"""Nodes as they change: what is mended in the fabric equals the fabric built anew."""

from __future__ import annotations

import random
from typing import Any

import pytest

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.readers.live import fabric_cache as grounds
from fourleaf.model.readers.live.fabric_cache import FabricCache
from tests.model.readers import made as objects

NAMES = tuple(f"n{i}" for i in range(12))
CONFIG = SchedulerConfig()


def _node(dice: random.Random, name: str) -> objects.Body:
    """A node that is mostly where it was, and whom mostly somebody else may use."""
    number = int(name[1:])
    leaf = f"leaf-{number // 3}" if dice.random() < 0.9 else dice.choice(["leaf-9", None])
    body = objects.node(name, leaf)
    body["spec"] = {"unschedulable": dice.random() < 0.3}
    if dice.random() < 0.3:
        body["spec"]["taints"] = [{"key": "k", "effect": dice.choice(["NoSchedule", "Never"])}]
    status: dict[str, Any] = body["status"]
    status["conditions"] = [{"type": "Ready", "status": dice.choice(["True", "Unknown"])}]
    if dice.random() < 0.1:
        status["allocatable"] = {"amd.com/gpu": "4", "cpu": "64"}
    if dice.random() < 0.3:
        body["metadata"]["annotations"] = {"topology.scheduler/failure-rate": "0.25"}
    return body


def _inventory(dice: random.Random) -> objects.Body:
    """Devices, of which another node may claim to have one as well."""
    gpus = [{"index": i, "uuid": f"{dice.choice('xyz')}-{i}"} for i in range(dice.choice([8, 9]))]
    return {"status": {"gpus": gpus, "links": []}}


@pytest.mark.parametrize("seed", range(8))
def test_a_mended_fabric_is_the_one_built_anew(seed: int) -> None:
    """After random changes: same fabric, same problems; the same object where nothing is new."""
    dice = random.Random(seed)  # noqa: S311
    ground = FabricCache(CONFIG)
    bodies: dict[str, objects.Body] = {}
    inventories: dict[str, objects.Body] = {}
    withheld: frozenset[str] = frozenset()
    failures: dict[str, int] = {}
    for _ in range(60):
        for _ in range(dice.randint(1, 2)):
            name, what = dice.choice(NAMES), dice.random()
            if what < 0.7:
                bodies[name] = _node(dice, name)
                ground.put(name, bodies[name])
            elif what < 0.75:
                ground.remove(name)
                bodies.pop(name, None)
            elif what < 0.8:
                inventories[name] = _inventory(dice)
                ground.put_inventory(name, inventories[name])
            else:
                withheld = frozenset(dice.sample(NAMES, dice.randint(0, 2)))
                failures = {dice.choice(NAMES): dice.randint(0, 900)}
                ground.judge(withheld, failures)
        before = ground.fabric
        ground.settle(0.0)
        anew = FabricCache(CONFIG)
        for name, body in inventories.items():
            anew.put_inventory(name, body)
        for name, body in bodies.items():
            anew.put(name, body)
        anew.judge(withheld, failures)
        anew.settle(0.0)
        assert ground.fabric == anew.fabric
        assert (ground.mixed, ground.problems) == (anew.mixed, anew.problems)
        assert (ground.fabric is before) == (ground.fabric == before)


def test_who_may_use_a_node_is_mended_without_reading_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cordon, a failure and what withholds a node need no fabric anew; another leaf does."""
    ground = FabricCache(CONFIG)
    for name in NAMES:
        ground.put(name, objects.node(name))
    ground.settle(0.0)
    built: list[object] = []
    read = grounds.read_fabric
    monkeypatch.setattr(grounds, "read_fabric", lambda *of: built.append(of) or read(*of))
    others = ground.fabric.nodes["n4"]
    taint = {"key": "k", "effect": "NoSchedule"}
    spec = {"unschedulable": True, "taints": [taint]}
    assert ground.put("n3", objects.node("n3", spec=spec))
    assert ground.judge(frozenset({"n5"}), {"n6": 250})
    assert ground.settle(0.0)
    assert not ground.settle(0.0)
    nodes = ground.fabric.nodes
    assert (nodes["n3"].cordoned, nodes["n5"].ready, nodes["n6"].failure_permille) == (
        True,
        False,
        250,
    )
    assert nodes["n4"] is others
    assert built == []
    ground.put("n3", objects.node("n3", "leaf-2"))
    assert ground.settle(0.0)
    assert len(built) == 1
