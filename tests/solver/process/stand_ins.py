"""Small snapshots, plans and steps for tests of the solver process and its client."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.plan import Placement, Plan, PlanStatus, Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator import Breach, Law
from fourleaf.solver.process.guarded_call import Fallback

NODES = 4


def fabric() -> Fabric:
    """One leaf of `NODES` nodes with 8 GPUs each."""
    offer = Resources(gpus=8, cpu=64000, memory=2**38, pods=110)
    nodes = tuple(Node(f"n{i}", "leaf", "spine", offer) for i in range(NODES))
    return Fabric((Leaf("leaf", "spine", nodes),))


ONE_LEAF = fabric()


def snapshot(*names: str, limit: float = 20.0, on: Fabric = ONE_LEAF) -> Snapshot:
    """One gang of a whole node for each name; the first has the highest priority."""
    config = SchedulerConfig.model_validate(
        {"spec": {"solver": {"timeLimitSeconds": limit, "memoryLimitMiB": 512}}}
    )
    gangs = tuple(
        Gang(GangKey("ml", name), (Role((f"{name}-0",), Resources(gpus=8)),), priority=-i)
        for i, name in enumerate(names)
    )
    return Snapshot(on, gangs=gangs, config=config)


def seat(state: Snapshot, status: PlanStatus, skip: int = 0, node: str = "") -> Plan:
    """Put each gang on a node of its own, leaving out the first `skip`; or all on `node`."""
    seated = list(zip(state.gangs[skip:], state.fabric.nodes, strict=False))
    placements = tuple(
        Placement(gang.key, ((gang.roles[0].pods[0], node or name),)) for gang, name in seated
    )
    left = (*state.gangs[:skip], *state.gangs[skip + len(seated) :])
    waiting = tuple(Waiting(gang.key, Reason(ReasonKind.NOT_PROVEN)) for gang in left)
    return Plan(status, placements, waiting)


def greedy(state: Snapshot, extensions: Extensions, until: float) -> Plan:
    """Seat everybody."""
    return seat(state, PlanStatus.GREEDY)


def lazy_greedy(state: Snapshot, extensions: Extensions, until: float) -> Plan:
    """Seat nobody."""
    return seat(state, PlanStatus.GREEDY, skip=len(state.gangs))


def validate(state: Snapshot, plan: Plan, extensions: Extensions) -> tuple[Breach, ...]:
    """Object to nodes that are unknown or taken twice."""
    hosts = [node for placement in plan.placements for _, node in placement.pods]
    unknown = [host for host in hosts if host not in state.fabric.nodes]
    if unknown or len(hosts) != len(set(hosts)):
        return (Breach(Law.KNOWN, None, "nodes", f"are wrong: {hosts}"),)
    return ()


def who_values(state: Snapshot, plan: Plan) -> Mapping[int, int]:
    """Count the placed gangs of each priority."""
    placed = {placement.gang for placement in plan.placements}
    return {gang.priority: 1 for gang in state.gangs if gang.key in placed}


def explain(state: Snapshot, plan: Plan, extensions: Extensions, until: float) -> Plan:
    """Leave the plan as it is."""
    return plan


def steps(
    greedy: Callable[[Snapshot, Extensions, float], Plan] = greedy,
    validate: Callable[[Snapshot, Plan, Extensions], tuple[Breach, ...]] = validate,
    explain: Callable[[Snapshot, Plan, Extensions, float], Plan] = explain,
) -> Fallback:
    """The steps of the parent, small enough to see through."""
    return Fallback(greedy, validate, who_values, explain, Extensions)
