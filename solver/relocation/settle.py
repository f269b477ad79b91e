"""Where: what was chosen becomes gangs with bound members, and these get the best places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Move, Placement, Stage
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.assemble import placement_of
from fourleaf.solver.clock import Clock
from fourleaf.solver.decode import PlacedGang
from fourleaf.solver.ground import Ground
from fourleaf.solver.phantoms import phantom_units
from fourleaf.solver.relocation.movers import Mover, Reach
from fourleaf.solver.relocation.turns import Reached
from fourleaf.solver.scorer import Scorer
from fourleaf.solver.units import Unit, UnitFactory, gang_order
from fourleaf.solver.view import View
from fourleaf.solver.where import ceiling, locate


@dataclass(frozen=True, slots=True)
class Task:
    """A gang to place: members that stay are bound, `sources` are the nodes of those that move.

    `anywhere` is, by role, a node for each of its pods that breaks no law. `within` are the
    spines that it may use, where it may not use all.
    """

    gang: Gang
    anywhere: list[list[int]]
    sources: dict[str, str]
    hit: bool = False
    within: frozenset[int] | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """Every gang's new pods on nodes, in places that are best together, and what is proven."""

    seats: dict[GangKey, tuple[tuple[str, str], ...]]
    placements: dict[GangKey, Placement]
    stage: Stage


def tasks_of(reached: Reached) -> list[Task]:
    """A task for each gang that does not stay as it is."""
    relocation, values = reached.relocation, reached.values
    placed = relocation.decode(values)
    ground = relocation.cast.view.ground
    tasks = [
        _task(mover, placed[id(mover.whole)], ground)
        for mover in relocation.cast.movers
        if id(mover.whole) in placed
    ]
    tasks += [
        Task(gang, placed[id(gang)].nodes, {})
        for gang in relocation.cast.applicants
        if id(gang) in placed
    ]
    return sorted(tasks, key=lambda task: gang_order(task.gang))


def _task(mover: Mover, placed: PlacedGang, ground: Ground) -> Task:
    """Members stay where a pod of their role was placed on their node."""
    names = [node.name for node in ground.nodes]
    roles = []
    anywhere: list[list[int]] = []
    sources: dict[str, str] = {}
    for role, nodes in zip(mover.standing.gang.roles, placed.nodes, strict=True):
        left = Counter(names[node] for node in nodes)
        bound = []
        moving = []
        for pod, node in role.bound:
            if left[node] > 0:
                left[node] -= 1
                bound.append((pod, node))
            else:
                moving.append(pod)
                sources[pod] = node
        free = []
        for place in nodes:
            if left[names[place]] > 0:
                left[names[place]] -= 1
                free.append(place)
        roles.append(replace(role, pods=(*moving, *role.pods), bound=tuple(bound)))
        anywhere.append(free)
    gang = replace(mover.standing.gang, roles=tuple(roles))
    within = None
    if mover.reach is Reach.SPINES:
        within = frozenset(ground.spine_of[ground.leaf_of[node]] for _, node in mover.seats)
    return Task(gang, anywhere, sources, mover.hit, within)


def settle(
    snapshot: Snapshot,
    reached: Reached,
    tasks: Sequence[Task],
    gone: Iterable[tuple[str, str]],
    clock: Clock,
    on_stage: Callable[[Stage], None],
    least_room: int = 0,
) -> Settled:
    """The best places for the tasks. `gone` are (namespace, name) of pods that are evicted.

    What is kept for likely gangs stays worth at least `least_room`.
    """
    cast = reached.relocation.cast
    away = {(task.gang.key.namespace, pod) for task in tasks for pod in task.sources} | set(gone)
    running = tuple(pod for pod in snapshot.running if (pod.namespace, pod.name) not in away)
    gangs = tuple(task.gang for task in tasks)
    after = replace(snapshot, running=running, gangs=gangs)
    view = View(after, cast.view.ground, cast.view.likely)
    scorer = Scorer(view)
    units = _units(cast.factory, tasks)
    located = None
    if tasks and clock.left():
        phantoms = phantom_units(view, cast.factory)
        located = locate(view, units, phantoms, scorer, clock, reached.refined, least_room)
    if located is not None:
        found = {placed.gang.key: placed for placed in located.decoded.gangs}
        stage = located.stage
    else:
        by_gang = {id(gang): unit for unit in units for p in unit.parties for gang in p.gangs}
        found = {
            task.gang.key: PlacedGang(task.gang, by_gang[id(task.gang)], task.anywhere)
            for task in tasks
        }
        worth = sum(placement_of(view, scorer, placed).score for placed in found.values())
        proven = not tasks
        stage = Stage("where", proven, worth, worth if proven else ceiling(view, gangs), 0.0)
    on_stage(stage)
    placements = {key: placement_of(view, scorer, placed) for key, placed in found.items()}
    names = [node.name for node in view.ground.nodes]
    seats = {task.gang.key: _seated(task, found[task.gang.key].nodes, names) for task in tasks}
    return Settled(seats, placements, stage)


def _units(factory: UnitFactory, tasks: Sequence[Task]) -> list[Unit]:
    units = factory.for_where([task.gang for task in tasks if task.within is None])
    for task in tasks:
        if task.within is not None:
            unit = factory.of(task.gang)
            unit.within = task.within
            units.append(unit)
    return units


def _seated(
    task: Task, nodes: Sequence[Sequence[int]], names: Sequence[str]
) -> tuple[tuple[str, str], ...]:
    """Pods on nodes in rank order; whose own node is among them stays there."""
    out: list[tuple[str, str]] = []
    for role, hosts in zip(task.gang.roles, nodes, strict=True):
        left = [names[node] for node in hosts]
        fixed: dict[str, str] = {}
        for pod in role.pods:
            source = task.sources.get(pod)
            if source is not None and source in left:
                left.remove(source)
                fixed[pod] = source
        rest = iter(left)
        out += [(pod, fixed[pod] if pod in fixed else next(rest)) for pod in role.pods]
    return tuple(out)


def moves_of(tasks: Iterable[Task], settled: Settled) -> tuple[Move, ...]:
    """The live members that go elsewhere."""
    return tuple(
        Move(task.gang.key.namespace, pod, task.sources[pod], node, _why(task))
        for task in tasks
        for pod, node in settled.seats[task.gang.key]
        if pod in task.sources and task.sources[pod] != node
    )


def _why(task: Task) -> str:
    return "its gang lost members" if task.hit else "makes room"
