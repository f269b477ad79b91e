"""One seed, from the first node to the verdict."""

from __future__ import annotations

import asyncio
import traceback
from collections import Counter
from dataclasses import dataclass
from typing import Literal

from fourleaf.k8s_bridge.cluster.kinds import EVENTS
from fourleaf.k8s_bridge.informers import Timeouts
from fourleaf.k8s_bridge.informers.owner_kinds import BUILT_IN_OWNERS
from fourleaf.k8s_bridge.informers.watched_kinds import WATCHED_KINDS
from tests.simulation import progress
from tests.simulation.chance import stream
from tests.simulation.churn import config, nodes, owners, pods
from tests.simulation.controllers.backoff import LONGEST_BACKOFF
from tests.simulation.faults.fault import Act, Scene
from tests.simulation.faults.plan import drawn
from tests.simulation.jobs import TEAM, bound
from tests.simulation.laws.rest import unrest
from tests.simulation.story import Breach, Story
from tests.simulation.world import CROWD, World
from tests.twins.virtual_clock import VirtualClock

Mode = Literal["safety", "progress"]

REST_WITHIN = 150.0
"""Seconds until everything is at rest: pages are compared with all that runs every 30 s."""
BOUND_WITHIN = 1.25 * Timeouts().stall_after + 10.0
"""Seconds, from rest on, until what fits is bound: a watch may have fallen silent just before,
and is given up after so long (`about` a quarter more than `stall_after`)."""
TOLD_WITHIN = 600.0
"""Seconds, from then on, until each pod that waits says why: a batch may be of three gangs, of
which 600 are looked at one batch a second."""
DONE_WITHIN = 300.0
"""Seconds until every job has been bound and has ended, a Job's back-off left out."""
SETTLE = 10.0
"""Seconds that bindings, events and conditions may take that are under way."""
QUIET = 20.0
"""Seconds over which requests are counted at rest."""
LOOKS = 3
"""How often they are counted where gangs still come and go meanwhile."""
CROWDED_LOOKS = 10
"""The same in a crowd: a leader that is new tells 600 gangs anew, at three a second."""
MOST_PER_KIND = 4
"""Requests of one replica in a minute at rest for each kind; after faults some are listed anew."""
MOST_PER_MINUTE = 120.0 + MOST_PER_KIND * len((*WATCHED_KINDS, *BUILT_IN_OWNERS))
"""Requests of one replica in a minute at rest: renewals, lease reads, conditions, watches."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one seed came to."""

    seed: int
    mode: Mode
    breaches: tuple[Breach, ...]
    injected: Counter[str]
    happened: Counter[str]
    digest: str
    seconds: float

    @property
    def replay(self) -> str:
        """The command that does it again, aloud."""
        return f".venv/bin/python -m tests.simulation --seed {self.seed} --mode {self.mode}"

    def __str__(self) -> str:
        lines = "\n".join(f"  {breach}" for breach in self.breaches[:5])
        return f"seed {self.seed}, {self.mode}:\n{lines}\nreplay it: {self.replay}"


def run(seed: int, mode: Mode, aloud: bool = False) -> Verdict:
    """Run one seed to its end, or to the first breach."""
    clock = VirtualClock()
    story = Story(clock, aloud)
    with story.listening():
        asyncio.run(_run(seed, mode, story, clock))
    return Verdict(
        seed,
        mode,
        tuple(story.breaches),
        story.injected,
        story.happened,
        story.digest,
        clock.monotonic(),
    )


async def _run(seed: int, mode: Mode, story: Story, clock: VirtualClock) -> None:
    world = World(seed, story, clock)
    trouble = stream(seed, "trouble").uniform(30, 70)
    scene = Scene(0.0, trouble, tuple(world.replicas))
    fewest, most = (4, 9) if mode == "safety" else (2, 5)
    world.faults = drawn(seed, scene, fewest, most, late=world.is_owned)
    try:
        world.start()
        for fault in world.faults.values():
            for act in fault.acts():
                world.spawn(_at(world, act))
        world.spawn(_churn(world, trouble))
        await _until(world, trouble)
        world.settle_down()
        if mode == "progress":
            _heal(world)
        await _rest(world)
        await _all_bound(world)
        await _wait(world, "who waits is told why", TOLD_WITHIN, progress.untold)
        await _be_quiet(world)
        if mode == "progress":
            await _all_done(world)
    except _Stop:
        pass
    except Exception:  # noqa: BLE001 - whatever it is, the seed that does it is to be told
        story.broken("the simulation itself works", traceback.format_exc())
    finally:
        await world.close()


class _Stop(Exception):
    """A law is broken: nothing after that tells anything."""


async def _at(world: World, act: Act) -> None:
    await world.clock.sleep(act.moment)
    if not world.calm:
        await act.do(world)


async def _churn(world: World, seconds: float) -> None:
    chance = stream(world.seed, "churn")
    pace = chance.choice((0.7, 1.5, 3.0))
    for _ in range(3):
        pods.submit(world, chance)
    while True:
        await world.clock.sleep(chance.expovariate(1 / pace))
        if world.calm or world.clock.monotonic() > seconds:
            return
        what = chance.choice((pods, pods, pods, pods, nodes, nodes, config, owners))
        what.strike(world, chance)


async def _until(world: World, moment: float) -> None:
    """Let time pass, second by second, for as long as all laws hold."""
    while world.clock.monotonic() < moment and not world.story.breaches:
        await world.clock.advance(1.0)
        for replica in world.replicas.values():
            replica.check()
    if world.story.breaches:
        raise _Stop


async def _wait(world: World, law: str, within: float, problem: object) -> None:
    assert callable(problem)
    end = world.clock.monotonic() + within
    while what := problem(world):
        if world.clock.monotonic() >= end:
            world.story.broken(law, f"{what}, {within:g} s later")
            raise _Stop
        await _until(world, world.clock.monotonic() + 1)


def _heal(world: World) -> None:
    chance = stream(world.seed, "heal")
    nodes.heal(world, chance)
    pods.heal(world)
    owners.heal(world)
    config.write(world, chance.choice(config.GOOD))


async def _rest(world: World) -> None:
    await _wait(world, "everything comes to rest", REST_WITHIN, unrest)
    world.evictions.judge()
    world.story.did("at rest")


async def _be_quiet(world: World) -> None:
    """At rest nobody asks the API in a hot loop, once what was bound last has been told.

    A gang may preempt even then, a node that is well again being new room; that is no loop.
    """
    for _ in range(CROWDED_LOOKS if world.is_crowded else LOOKS):
        await _until(world, world.clock.monotonic() + SETTLE)
        await _rest(world)
        done = _work(world)
        world.story.requests.clear()
        await _until(world, world.clock.monotonic() + QUIET)
        rates = {who: count * 60 / QUIET for who, count in world.story.requests.items()}
        busy = {who: rate for who, rate in rates.items() if rate > MOST_PER_MINUTE}
        if not busy or _work(world) == done:
            break
    for identity, rate in busy.items():
        world.story.broken("no hot loops", f"{identity}: {rate:g} requests a minute")


def _work(world: World) -> int:
    """How much has been done so far that takes requests."""
    done = sum(world.story.happened[what] for what in ("committed", "evicted", "rolling back"))
    return done + len(list(world.store.records(EVENTS, CROWD)))


async def _all_bound(world: World) -> None:
    await _wait(world, "what fits is bound", BOUND_WITHIN, progress.feasible)
    world.story.did("all bound")


def _waiting(world: World) -> list[str]:
    """Let what runs as a whole end; the jobs that have not run yet."""
    for job in list(world.jobs.wanted.values()):
        members = world.jobs.members(job)
        if len(members) == job.size and all(bound(record) for record in members):
            running = [r for r in members if r.body["status"]["phase"] == "Running"]
            world.jobs.kubelets.finish(TEAM, [r.metadata["name"] for r in running])
            world.jobs.retire(job)
            world.story.did("job done", job.name)
    _unpin(world)
    return sorted(world.jobs.wanted)


def _unpin(world: World) -> None:
    """Have other volumes made for jobs that those there are keep from an empty fabric.

    As a person would. Not where a plan that is made of the objects alone finds them a place.
    """
    left = list(world.jobs.wanted.values())
    pinned = [job for job in left if world.jobs.is_pinned(job)]
    runs = any(bound(record) for job in left for record in world.jobs.members(job))
    if pinned and not runs and not world.books.moves and not progress.feasible(world):
        for job in pinned:
            world.jobs.restart(job)
            world.story.did("unpinned", job.name)


async def _all_done(world: World) -> None:
    """Each job fits into an empty fabric, so each has its turn as the others end."""
    for job in [job for job in world.jobs.wanted.values() if job.spoiled]:
        world.jobs.restart(job)
    within = DONE_WITHIN + (LONGEST_BACKOFF if world.is_owned else 0.0)
    await _wait(world, "every job has its turn", within, _waiting)
    await _rest(world)
