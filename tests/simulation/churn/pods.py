"""Gangs that come, change and go; members that are replaced; pods of others."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory import pods as binding
from fourleaf.k8s_bridge.cluster.memory.actors import GANG_SIZE, pod, target
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.model.crds.claim import CLAIM
from tests.simulation.controllers.owner import drawn_owner
from tests.simulation.jobs import TEAM, Job, bound, ended, row

if TYPE_CHECKING:
    from tests.simulation.world import World

STORAGE_SHARE = 0.3
"""The part of jobs that have volumes, where some have, and of these that fill a node's disks."""

_POLICIES = ("patch", "shift", "move", "move", "wait", "restart")


def strike(world: World, chance: random.Random) -> None:
    """Do something to the pods."""
    ways = (submit,) * 6 + (finish,) * 3 + (delete,) * 2 + (foreign, resize, end_one, steal, retire)
    way = chance.choice(ways)
    if way(world, chance):
        world.story.did(f"pods {way.__name__}")


def submit(world: World, chance: random.Random) -> bool:
    """A new gang, or a new single pod."""
    if not world.jobs.has_room:
        return False
    world.job_number += 1
    name = f"g{world.job_number}"
    match chance.randrange(4):
        case 0:
            job = Job(name, 1, chance.choice((1, 2, 4, 8)), True, **_ways(chance))
        case 1:
            gpus = chance.choice((1, 2, 4))
            job = Job(name, chance.randint(2, 6), gpus, **_ways(chance, _demands(chance, gpus)))
        case _:
            job = Job(name, chance.choice((1, 2, 2, 3, 4, 4, 5, 8)), 8, **_ways(chance))
    if world.is_owned and not job.single:
        job = replace(job, owner=drawn_owner(world.owning, job.size), early=False)
    if world.has_storage and world.storage.random() < STORAGE_SHARE:
        job = replace(job, volumes=True)
        if world.storage.random() < STORAGE_SHARE:
            world.provisioner.full = {world.storage.choice(sorted(world.fleet))}
    world.jobs.submit(job)
    return True


def _demands(chance: random.Random, gpus: int) -> dict[str, str]:
    """A claim for so many devices in a row, now and then."""
    return {CLAIM: row(gpus)} if chance.random() < 0.3 else {}


def _ways(chance: random.Random, demands: dict[str, str] | None = None) -> dict[str, Any]:
    """How important a job is, and on which terms its pods go elsewhere."""
    terms = {"topology.scheduler/repair-policy": chance.choice(_POLICIES), **(demands or {})}
    if chance.random() < 0.5:
        terms["topology.scheduler/movable"] = "true"
    priority = chance.choice(("", "", "", "low", "high", "meek"))
    return {"priority": priority, "terms": terms, "early": chance.random() < 0.7}


def finish(world: World, chance: random.Random) -> bool:
    """A job that runs as a whole ends."""
    running = [
        job
        for job in world.jobs.wanted.values()
        if (there := world.jobs.members(job))
        and all(record.body["status"]["phase"] == "Running" for record in there)
    ]
    if not running:
        return False
    job = chance.choice(running)
    world.jobs.kubelets.finish(TEAM, [r.metadata["name"] for r in world.jobs.members(job)])
    world.later(chance.uniform(0, 3), lambda: world.jobs.retire(job))
    return True


def retire(world: World, chance: random.Random) -> bool:
    """A job is deleted, whatever it is doing."""
    if not world.jobs.wanted:
        return False
    world.jobs.retire(chance.choice(list(world.jobs.wanted.values())))
    return True


def delete(world: World, chance: random.Random) -> bool:
    """A member is deleted; another of the same name takes its place, at once or soon."""
    if not world.jobs.wanted:
        return False
    job = chance.choice(list(world.jobs.wanted.values()))
    members = world.jobs.members(job)
    if not members:
        return False
    job.spoiled = True
    record = chance.choice(members)
    world.store.remove(record, binding.grace(record) if chance.random() < 0.5 else 0)
    if chance.random() < 0.5:
        world.jobs.make_up()
    return True


def end_one(world: World, chance: random.Random) -> bool:
    """One member ends before the others."""
    record = _spoilt(world, chance, lambda one: one.body["status"]["phase"] == "Running")
    if record is None:
        return False
    phase = chance.choice(("Succeeded", "Failed"))
    world.jobs.kubelets.finish(TEAM, [record.metadata["name"]], phase)
    return True


def foreign(world: World, chance: random.Random) -> bool:
    """Another scheduler puts a pod onto a node, without asking anybody."""
    world.job_number += 1
    name = f"other{world.job_number}"
    body = pod(name, chance.choice((1, 4, 8)), scheduler="default-scheduler")
    made = world.store.create(PODS, TEAM, body)
    node = chance.choice(sorted(world.fleet))
    binding.bind(world.store, Binding(target(made.whole()), node), dry_run=False)

    def leave() -> None:
        record = world.jobs.find(name)
        if record is not None:
            world.store.remove(record)

    world.later(chance.uniform(5, 20), leave)
    return True


def steal(world: World, chance: random.Random) -> bool:
    """Somebody binds one of our own pods by hand."""
    record = _spoilt(world, chance, lambda one: not bound(one) and not ended(one))
    if record is None:
        return False
    node = chance.choice(sorted(world.fleet))
    try:
        binding.bind(world.store, Binding(target(record.whole()), node), dry_run=False)
    except ClusterError:
        return False
    return True


def _spoilt(
    world: World, chance: random.Random, fits: Callable[[StoredObject], bool]
) -> StoredObject | None:
    """A member that `fits`, whose job counts as spoiled from then on; None where none does."""
    found = [
        (job, record)
        for job in world.jobs.wanted.values()
        for record in world.jobs.members(job)
        if fits(record)
    ]
    if not found:
        return None
    job, record = chance.choice(found)
    job.spoiled = True
    return record


def resize(world: World, chance: random.Random) -> bool:
    """The size that a gang's members state changes, on all or on some of them."""
    gangs = [job for job in world.jobs.wanted.values() if _states_size(job)]
    if not gangs:
        return False
    job = chance.choice(gangs)
    job.spoiled = True
    size = max(1, job.size + chance.choice((-2, -1, 1, 2)))
    some = chance.random() < 0.3
    for record in world.jobs.members(job):
        if not some or chance.random() < 0.5:
            state_size(world, record.metadata["name"], size)
    return True


def _states_size(job: Job) -> bool:
    """Whether the members of a gang say how many there are."""
    return not (job.single or job.grouped or job.owner)


def state_size(world: World, name: str, size: int) -> None:
    """Let a pod state the size of its gang."""
    patch = {"metadata": {"annotations": {GANG_SIZE: str(size)}}}
    world.patch(PODS, Target(TEAM, name), patch)


def heal(world: World) -> None:
    """Let every gang be what its owner wants, and no pod of others be in the way."""
    for job in world.jobs.wanted.values():
        if _states_size(job):
            for record in world.jobs.members(job):
                state_size(world, record.metadata["name"], job.size)
    for record in list(world.store.records(PODS, TEAM)):
        if record.metadata["name"].startswith("other"):
            world.store.remove(record)
