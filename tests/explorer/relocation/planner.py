"""Decisions small enough to follow by hand: first fit, and targets that the story names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.plan import Move, Placement, Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan, Victim
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from tests.explorer.relocation.story import Story

PROVEN = PlanStatus.OPTIMAL
FULL = Reason(ReasonKind.NO_FREE_CAPACITY)


@dataclass(frozen=True, slots=True)
class SmallPlanner:
    """One device a node, one device a pod."""

    story: Story

    async def solve(self, snapshot: Snapshot) -> Plan:
        """First fit, the highest first; members that wait go beside those that stand."""
        free = free_nodes(snapshot)
        placed, waiting = [], []
        for gang in sorted(snapshot.gangs, key=lambda one: (-one.priority, one.created, one.key)):
            pods = [pod for role in gang.roles for pod in role.pods]
            nodes = [] if gang.hold else fit(snapshot, gang, len(pods), free)
            if nodes:
                placed.append(Placement(gang.key, tuple(zip(pods, nodes, strict=True))))
                free -= set(nodes)
            elif not gang.hold:
                waiting.append(Waiting(gang.key, FULL))
        return Plan(PROVEN, tuple(placed), tuple(waiting))

    async def repair(self, snapshot: Snapshot) -> RepairPlan:
        """Each lost member goes where the story sends it, if who stands there can move away."""
        free = free_nodes(snapshot)
        placed, moves, lost = [], [], []
        for one in snapshot.standing:
            if not one.hit:
                continue
            pods = [pod for role in one.gang.roles for pod in role.pods]
            nodes = [self.story.targets.get(place_of(one.gang.key, pod), "") for pod in pods]
            away = list(self._away(snapshot.standing, set(nodes) - free, free))
            if all(node in free | {move.source for move in away} for node in nodes):
                placed.append(Placement(one.gang.key, tuple(zip(pods, nodes, strict=True))))
                moves += away
                free -= {*nodes, *(move.target for move in away)}
            else:
                lost.append(Waiting(one.gang.key, FULL))
        return RepairPlan(PROVEN, tuple(placed), tuple(moves), tuple(lost))

    def _away(
        self, standing: Iterable[StandingGang], taken: set[str], free: set[str]
    ) -> Iterable[Move]:
        for one in standing:
            for role in one.gang.roles:
                for pod, node in role.bound if one.movable else ():
                    target = self.story.targets.get(place_of(one.gang.key, pod), "")
                    if node in taken and target in free:
                        yield Move(one.gang.key.namespace, pod, node, target, "it makes way")

    async def preempt(self, snapshot: Snapshot, gang: GangKey) -> PreemptionPlan:
        """The first nodes of which all gangs that stand there may go."""
        wanted = next(one for one in snapshot.gangs if one.key == gang)
        pods = [pod for role in wanted.roles for pod in role.pods]
        holders = {
            node: one
            for one in snapshot.standing
            if one.gang.priority < wanted.priority
            for role in one.gang.roles
            for _, node in role.bound
        }
        free = free_nodes(snapshot)
        nodes = fit(snapshot, wanted, len(pods), free | holders.keys())
        if not nodes:
            return PreemptionPlan(PROVEN, gang, reason=FULL)
        going = {holders[n].gang.key: holders[n] for n in nodes if n in holders}
        victims = tuple(
            Victim(
                key, one.gang.priority, tuple(sum((r.bound for r in one.gang.roles), start=())), 1
            )
            for key, one in sorted(going.items())
        )
        placement = Placement(gang, tuple(zip(pods, nodes, strict=True)))
        return PreemptionPlan(PROVEN, gang, placement, victims)

    async def earliest(self, snapshot: Snapshot, gang: GangKey) -> Start:
        """Nobody says when anything ends."""
        return Start(gang)

    async def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """Nothing."""
        return DefragPlan(PROVEN)


def place_of(gang: GangKey, pod: str) -> tuple[str, int]:
    """The gang and the index of a pod."""
    return gang.name, int(pod.removeprefix(f"{gang.name}-").split("-")[0])


def free_nodes(snapshot: Snapshot) -> set[str]:
    """The nodes that take a pod."""
    nodes: Mapping[str, object] = snapshot.free
    return {
        name
        for name in nodes
        if snapshot.free[name].gpus > 0 and snapshot.fabric.nodes[name].schedulable
    }


def fit(snapshot: Snapshot, gang: Gang, count: int, free: set[str]) -> list[str]:
    """Nodes for so many members: of the leaf where others stand, else of one leaf, else any."""
    leaves = {
        snapshot.fabric.nodes[node].leaf
        for role in gang.roles
        for _, node in role.bound
        if node in snapshot.fabric.nodes
    }
    sets = [
        [node.name for node in leaf.nodes if node.name in free]
        for leaf in snapshot.fabric.leaves
        if not leaves or leaf.name in leaves
    ]
    if not leaves:
        sets.append(sorted(free))
    return next((nodes[:count] for nodes in sets if len(nodes) >= count), [])
