"""Where: what was chosen becomes gangs with bound members, and these get the best places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from fourleaf.model.gang import Gang, GangKey, alone
from fourleaf.model.plan import Move, Placement, Stage
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.batch.place_gangs import ceiling, place_gangs
from fourleaf.solver.batch.to_plan import placement_of
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.decode import PlacedGang
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_classes import GangGroup, GangGroups, gang_order
from fourleaf.solver.instance.phantoms import phantom_units
from fourleaf.solver.objective.scorer import Scorer
from fourleaf.solver.relocation.participants import Mover, MoveScope
from fourleaf.solver.relocation.stages import StageOutcome


@dataclass(frozen=True, slots=True)
class MovingGang:
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
class SettledGangs:
    """Every gang's new pods on nodes, in places that are best together, and what is proven."""

    seats: dict[GangKey, tuple[tuple[str, str], ...]]
    placements: dict[GangKey, Placement]
    stage: Stage


def moving_gangs(reached: StageOutcome) -> list[MovingGang]:
    """A task for each gang of which a pod moves or is placed."""
    relocation, values = reached.relocation, reached.values
    placed = relocation.decode(values)
    fabric = relocation.participants.state.fabric
    tasks = [
        _task(mover, placed[mover.key], fabric)
        for mover in relocation.participants.movers
        if mover.key in placed
    ]
    tasks += [
        MovingGang(gang, placed[gang.key].nodes, {})
        for gang in relocation.participants.applicants
        if gang.key in placed
    ]
    # One that left for where it stands stays.
    tasks = [task for task in tasks if any(role.pods for role in task.gang.roles)]
    return sorted(tasks, key=lambda task: gang_order(task.gang))


def _task(mover: Mover, placed: PlacedGang, fabric: FabricIndex) -> MovingGang:
    """Members stay where a pod of their role was placed on their node."""
    names = [node.name for node in fabric.nodes]
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
    if mover.reach is MoveScope.SPINES:
        within = frozenset(fabric.spine_of[fabric.leaf_of[node]] for _, node in mover.seats)
    return MovingGang(gang, anywhere, sources, mover.hit, within)


def place(
    snapshot: Snapshot,
    reached: StageOutcome,
    tasks: Sequence[MovingGang],
    gone: Iterable[tuple[str, str]],
    deadline: Deadline,
    on_stage: Callable[[Stage], None],
    least_room: int = 0,
) -> SettledGangs:
    """The best places for the tasks. `gone` are (namespace, name) of pods that are evicted.

    What is kept for likely gangs stays worth at least `least_room`.
    """
    participants = reached.relocation.participants
    away = {(task.gang.key.namespace, pod) for task in tasks for pod in task.sources} | set(gone)
    running = tuple(pod for pod in snapshot.running if (pod.namespace, pod.name) not in away)
    tasks = [replace(task, gang=alone(task.gang)) for task in tasks]
    gangs = tuple(task.gang for task in tasks)
    after = replace(snapshot, running=running, gangs=gangs)
    state = CycleState(after, participants.state.fabric, participants.state.likely)
    scorer = Scorer(state)
    groups = _groups(participants.factory, tasks)
    located = None
    if tasks and deadline.left():
        phantoms = phantom_units(state, participants.factory)
        located = place_gangs(
            state, groups, phantoms, scorer, deadline, reached.refined, least_room, moving=True
        )
    if located is not None:
        found = {placed.gang.key: placed for placed in located.decoded.gangs}
        stage = located.stage
    else:
        by_gang = {
            gang.key: group for group in groups for p in group.gang_classes for gang in p.gangs
        }
        found = {
            task.gang.key: PlacedGang(task.gang, by_gang[task.gang.key], task.anywhere)
            for task in tasks
        }
        worth = sum(placement_of(state, scorer, placed).score for placed in found.values())
        proven = not tasks
        stage = Stage("where", proven, worth, worth if proven else ceiling(state, gangs), 0.0)
    on_stage(stage)
    placements = {key: placement_of(state, scorer, placed) for key, placed in found.items()}
    names = [node.name for node in state.fabric.nodes]
    seats = {task.gang.key: _seated(task, found[task.gang.key].nodes, names) for task in tasks}
    return SettledGangs(seats, placements, stage)


def _groups(factory: GangGroups, tasks: Sequence[MovingGang]) -> list[GangGroup]:
    groups = factory.for_where([task.gang for task in tasks if task.within is None])
    for task in tasks:
        if task.within is not None:
            group = factory.of(task.gang)
            group.within = task.within
            groups.append(group)
    return groups


def _seated(
    task: MovingGang, nodes: Sequence[Sequence[int]], names: Sequence[str]
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


def moves_of(tasks: Iterable[MovingGang], settled: SettledGangs) -> tuple[Move, ...]:
    """The live members that go elsewhere."""
    return tuple(
        Move(task.gang.key.namespace, pod, task.sources[pod], node, _why(task))
        for task in tasks
        for pod, node in settled.seats[task.gang.key]
        if pod in task.sources and task.sources[pod] != node
    )


def _why(task: MovingGang) -> str:
    return "its gang lost members" if task.hit else "makes room"
