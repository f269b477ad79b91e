"""Nodes that are cordoned, drained, deleted, shrunk, relabelled, no longer ready, or dead."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import LEAF
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.readers.objects.annotations import DRAIN
from tests.simulation.jobs import bound, ended

if TYPE_CHECKING:
    from tests.simulation.world import World

_GPUS = "nvidia.com/gpu"


def strike(world: World, chance: random.Random) -> None:
    """Do something to one node, or undo it."""
    name = chance.choice(sorted(world.fleet))
    ways = (
        cordon,
        uncordon,
        delete,
        create,
        shrink,
        grow,
        relabel,
        fail,
        recover,
        *(die, rack, drain),
    )
    way = chance.choice(ways)
    if way is drain or (world.is_owned and way in (die, rack)):
        name = chance.choice(_in_use(world) or [name])
    way(world, name, chance)
    world.story.did(f"node {way.__name__}", name)


def _in_use(world: World) -> list[str]:
    """The nodes on which pods run; to empty another asks nothing of anybody."""
    pods = world.store.records(PODS)
    found = {pod.body["spec"]["nodeName"] for pod in pods if bound(pod) and not ended(pod)}
    return sorted(found & world.fleet.keys())


def heal(world: World, chance: random.Random) -> None:
    """Bring every node back to what it was."""
    for name in sorted(world.fleet):
        create(world, name, chance)
        uncordon(world, name, chance)
        grow(world, name, chance)
        recover(world, name, chance)
        world.restore([name])
        _drain(world, name, None)
        labels = world.fleet[name]["metadata"]["labels"]
        world.patch(NODES, Target("", name), {"metadata": {"labels": labels}})


def cordon(world: World, name: str, chance: random.Random) -> None:
    """Let nothing new onto it."""
    world.patch(NODES, Target("", name), {"spec": {"unschedulable": True}})


def uncordon(world: World, name: str, chance: random.Random) -> None:
    """Let pods onto it again."""
    world.patch(NODES, Target("", name), {"spec": {"unschedulable": None}})


def delete(world: World, name: str, chance: random.Random) -> None:
    """Remove it; its pods go later."""
    try:
        world.store.remove(world.store.find(NODES, Target("", name)))
    except NotFound:
        return


def create(world: World, name: str, chance: random.Random) -> None:
    """Bring it back where it is gone."""
    try:
        world.store.find(NODES, Target("", name))
    except NotFound:
        world.store.create(NODES, "", world.fleet[name])


def shrink(world: World, name: str, chance: random.Random) -> None:
    """Let it have fewer GPUs."""
    amounts = {_GPUS: str(chance.choice((0, 4, 6)))}
    status = {"status": {"capacity": amounts, "allocatable": amounts}}
    world.patch(NODES, Target("", name), status, "status")


def grow(world: World, name: str, chance: random.Random) -> None:
    """Let it have all its GPUs again."""
    amounts = {_GPUS: "8"}
    status = {"status": {"capacity": amounts, "allocatable": amounts}}
    world.patch(NODES, Target("", name), status, "status")


def relabel(world: World, name: str, chance: random.Random) -> None:
    """Move it to another leaf of its spine, or back."""
    own = world.fleet[name]["metadata"]["labels"][LEAF]
    spine = own.rsplit("-", 1)[0]
    leaf = chance.choice((own, own, f"{spine}-0", f"{spine}-1", f"{spine}-7"))
    world.patch(NODES, Target("", name), {"metadata": {"labels": {LEAF: leaf}}})


def fail(world: World, name: str, chance: random.Random) -> None:
    """Let its kubelet fall silent."""
    _ready(world, name, "False")
    world.jobs.kubelets.silent.add(name)


def die(world: World, name: str, chance: random.Random) -> None:
    """Let it lose power, for a while."""
    world.lose([name])
    world.later(chance.uniform(5, 60), lambda: world.restore([name]))


def rack(world: World, name: str, chance: random.Random) -> None:
    """Let all nodes of its leaf lose power at once, for a while."""
    leaf = world.fleet[name]["metadata"]["labels"][LEAF]
    names = [one for one, b in world.fleet.items() if b["metadata"]["labels"][LEAF] == leaf]
    world.lose(names)
    world.later(chance.uniform(5, 60), lambda: world.restore(names))


def drain(world: World, name: str, chance: random.Random) -> None:
    """Somebody wants it empty, for a while."""
    _drain(world, name, "true")
    world.later(chance.uniform(5, 60), lambda: _drain(world, name, None))


def _drain(world: World, name: str, wanted: str | None) -> None:
    cordoned = True if wanted else None
    patch = {"metadata": {"annotations": {DRAIN: wanted}}, "spec": {"unschedulable": cordoned}}
    world.patch(NODES, Target("", name), patch)


def recover(world: World, name: str, chance: random.Random) -> None:
    """Let its kubelet speak again."""
    _ready(world, name, "True")
    world.jobs.kubelets.silent.discard(name)


def _ready(world: World, name: str, status: str) -> None:
    condition = {"type": "Ready", "status": status, "reason": "Kubelet"}
    world.patch(NODES, Target("", name), {"status": {"conditions": [condition]}}, "status")
