"""Edits of the ConfigMap, good and bad."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.config.spec import CONFIG_MAP

if TYPE_CHECKING:
    from tests.simulation.world import World

_TARGET = Target("kube-system", CONFIG_MAP)
_HEAD = """
apiVersion: topology.scheduler/v1alpha1
kind: SchedulerConfig
spec:
  repair: {placesSeconds: 25}
  backfill: {afterSeconds: 10}
  preemption: {windowSeconds: 30}
  defragmentation: {everySeconds: 15, minimumRuntimeSeconds: 2, perGangPerDay: 4}
"""
GOOD = (
    "  batch: {size: 3}\n",
    "  batch: {size: 500}\n",
    "  scoringWeights: {topologyAlignment: 0.9}\n",
    "  topology: {adjacency: {kind: ring}}\n",
    "  topology: {windowSlack: 1}\n",
)
BAD = (
    "  batch: {size: none}\n",
    "  batch: [\n",
    "  topology: {levels: [{nodeLabel: ''}]}\n",
    "  scoringWeights: {luck: 1}\n",
    "  unheardOf: true\n",
)


def strike(world: World, chance: random.Random) -> None:
    """Edit it, break it, or remove it."""
    kind = chance.choice(("good", "good", "bad", "removed"))
    if kind == "removed":
        remove(world)
    else:
        write(world, chance.choice(GOOD if kind == "good" else BAD))
    world.story.did(f"config {kind}")


def write(world: World, text: str) -> None:
    """Make it say `text`, and the format of the ledger where that is not the usual one."""
    number = world.ledger_format
    data = {
        "config.yaml": _HEAD + text + (f"  ledger: {{format: {number}}}\n" if number > 1 else "")
    }
    try:
        world.store.find(CONFIG_MAPS, _TARGET)
    except NotFound:
        body = {"metadata": {"name": CONFIG_MAP}, "data": data}
        world.store.create(CONFIG_MAPS, _TARGET.namespace, body)
    else:
        world.patch(CONFIG_MAPS, _TARGET, {"data": data})


def remove(world: World) -> None:
    """Delete it: the defaults count again."""
    try:
        world.store.remove(world.store.find(CONFIG_MAPS, _TARGET))
    except NotFound:
        return
