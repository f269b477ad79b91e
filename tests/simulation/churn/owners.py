"""PodGroups that come later than their pods, go, and are made anew under the same name."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from fourleaf.k8s_bridge.cluster.errors import AlreadyExists, NotFound
from fourleaf.k8s_bridge.cluster.kinds import COSCHEDULING_POD_GROUPS
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.simulation.jobs import TEAM, Job

if TYPE_CHECKING:
    from tests.simulation.world import World


def strike(world: World, chance: random.Random) -> None:
    """A gang whose PodGroup is late; or one that is there goes, and comes back or does not."""
    groups = [job for job in world.jobs.wanted.values() if job.grouped]
    way = chance.choice((None, None, remake, lose))
    if way is None or not groups:
        submit(world, chance)
    else:
        way(world, chance, chance.choice(groups))


def submit(world: World, chance: random.Random) -> None:
    """The pods of a gang, and the PodGroup that says how many they are after a while."""
    if not world.jobs.has_room:
        return
    world.job_number += 1
    job = Job(f"g{world.job_number}", chance.randint(2, 5), chance.choice((4, 8)), grouped=True)
    world.jobs.submit(job)
    world.later(chance.choice((0.0, 0.2, 3.0, 15.0)), lambda: create(world, job))
    world.story.did("owner late", job.name)


def remake(world: World, chance: random.Random, job: Job) -> None:
    """Another object of the same name: a new UID, and now and then another size."""
    _remove(world, job)
    size = job.size
    if chance.random() < 0.3:
        job.spoiled, size = True, max(1, job.size + chance.choice((-1, 1)))
    world.later(chance.choice((0.0, 0.5, 5.0)), lambda: create(world, job, size))
    world.story.did("owner made anew", f"{job.name} of {size}")


def lose(world: World, chance: random.Random, job: Job) -> None:
    """It is deleted, and the pods stay."""
    _remove(world, job)
    world.story.did("owner deleted", job.name)


def heal(world: World) -> None:
    """Each gang has the PodGroup that its owner wants."""
    for job in world.jobs.wanted.values():
        if job.grouped:
            _remove(world, job)
            create(world, job)


def create(world: World, job: Job, size: int = 0) -> None:
    """Make the PodGroup of a job, of another size where one is given, unless it is there."""
    if job.name not in world.jobs.wanted:
        return
    body = {"metadata": {"name": job.name}, "spec": {"minMember": size or job.size}}
    try:
        world.store.create(COSCHEDULING_POD_GROUPS, TEAM, body)
    except AlreadyExists:
        return


def _remove(world: World, job: Job) -> None:
    try:
        world.store.remove(world.store.find(COSCHEDULING_POD_GROUPS, Target(TEAM, job.name)))
    except NotFound:
        return
