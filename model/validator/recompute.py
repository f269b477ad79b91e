"""What a plan is worth (sections 6 and 7), computed from the snapshot alone. All in points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model.config import BUILT_IN_TERMS
from model.extensions import Extensions
from model.gang import Gang, Strategy
from model.mix import likely_gangs
from model.plan import Plan
from model.resources import Resources
from model.snapshot import Snapshot
from model.validator.facts import facts_of
from model.validator.locations import Locations
from model.validator.standing import Standing, stand
from model.validator.uplinks import demand, uplink_of
from model.weights import SCALE, age_step, milli, placed_value, weights_of

BANDWIDTH = "bandwidth"
"""The name under which the bandwidth penalty stands among the terms; its points are negative."""

HALF = SCALE // 2
NOTHING = Extensions()


def score(
    snapshot: Snapshot,
    gang: Gang,
    pods: Sequence[tuple[str, str]],
    extensions: Extensions = NOTHING,
) -> dict[str, int]:
    """Points of `gang` on `pods`, (pod, node) of its unbound members, by term.

    Per term: sum over the pods of pod weight * (W * t // 1000). Every built-in term, the
    bandwidth penalty and every custom term that the config weighs has an entry. Raises
    `KeyError` for unknown pods or nodes.
    """
    locations = facts_of(snapshot.fabric).of_gang(snapshot.config.spec, gang, extensions)
    return points(snapshot, gang, stand(snapshot.fabric, gang, pods), locations, extensions)


def points(
    snapshot: Snapshot,
    gang: Gang,
    standing: Standing,
    locations: Locations,
    extensions: Extensions,
) -> dict[str, int]:
    """`score` for a gang whose standing and leaf rule are known already."""
    weights = weights_of(snapshot.config.spec, gang)
    node_terms = [t for t in extensions.node_terms if weights.get(t.name)]
    total = dict.fromkeys((*BUILT_IN_TERMS, BANDWIDTH), 0)
    custom = (*extensions.node_terms, *extensions.leaf_terms)
    total.update((term.name, 0) for term in custom if term.name in weights)
    per_leaf = {
        leaf: _leaf_points(snapshot, gang, standing, leaf, weights, locations, extensions)
        for leaf in {snapshot.fabric.leaf_of[node] for _, node in standing.here}
    }
    comfort = weights.get("resourceAvailability", 0)
    history = weights.get("historicalPerformance", 0)
    nodes, free, leaf_of = snapshot.fabric.nodes, snapshot.free, snapshot.fabric.leaf_of
    cached: dict[tuple[int, str], tuple[int, dict[str, int]]] = {}
    for role, name in standing.here:
        found = cached.get((role, name))
        if found is None:
            member, node = gang.roles[role], nodes[name]
            earned = dict(per_leaf[leaf_of[name]])
            left = remaining_share(node.allocatable, free[name], member.request)
            earned["resourceAvailability"] = comfort * left // SCALE
            earned["historicalPerformance"] = history * (SCALE - node.failure_permille) // SCALE
            for term in node_terms:
                value = term.value(gang, member, node, free[name])
                earned[term.name] = earned.get(term.name, 0) + weights[term.name] * value // SCALE
            found = cached[role, name] = gang.pod_weight(member), earned
        weight, earned = found
        for term_name, amount in earned.items():
            total[term_name] += weight * amount
    return total


def _leaf_points(
    snapshot: Snapshot,
    gang: Gang,
    standing: Standing,
    leaf: int,
    weights: Mapping[str, int],
    locations: Locations,
    extensions: Extensions,
) -> dict[str, int]:
    """The points that every pod in `leaf` earns alike, per unit of pod weight."""
    spec = snapshot.config.spec
    place = snapshot.fabric.leaves[leaf]
    new = standing.new_gpus.get(leaf, 0)
    used = leaf_utilization(snapshot, leaf, new)
    if gang.strategy is Strategy.DISTRIBUTED:
        used = SCALE - used
    spines = {locations.paths.spine_of[other] for other in standing.leaves}
    close = min(HALF, HALF * locations.fewest // (len(standing.leaves) + len(spines)))
    wished = gang.preferred_domain in (None, place.name, place.spine)
    alignment = weights.get("topologyAlignment", 0)
    earned = {
        "domainUtilization": weights.get("domainUtilization", 0) * used // SCALE,
        "topologyAlignment": alignment * close // SCALE + alignment * HALF * wished // SCALE,
        BANDWIDTH: 0,
    }
    for term in extensions.leaf_terms:
        if weights.get(term.name):
            value = term.value(gang, place, new)
            earned[term.name] = earned.get(term.name, 0) + weights[term.name] * value // SCALE
    asked = demand(gang, standing, locations).get(leaf)
    uplink = uplink_of(spec, place)
    if asked and uplink is not None:
        load = min(SCALE, SCALE * asked // uplink) if uplink else SCALE
        earned[BANDWIDTH] = -(milli(spec.penalties.bandwidth) * load // SCALE)
    return earned


def remaining_share(allocatable: Resources, free: Resources, request: Resources) -> int:
    """t of `resourceAvailability` in thousandths: the scarcest of CPU, memory and pod slots.

    min of 1000 * (free - request) // allocatable over what the node states, at least 0.
    """
    shares = [
        SCALE * ((left or 0) - (asked or 0)) // whole
        for whole, left, asked in (
            (allocatable.cpu, free.cpu, request.cpu),
            (allocatable.memory, free.memory, request.memory),
            (allocatable.pods, free.pods, request.pods),
        )
        if whole is not None and whole > 0
    ]
    return max(0, min(shares, default=0))


def leaf_utilization(snapshot: Snapshot, leaf: int, new: int) -> int:
    """t of `domainUtilization` in thousandths: GPUs in use with `new` more, over all GPUs.

    min(1000, 1000 * (used + new) // total) over the schedulable nodes; 0 where total is 0.
    """
    used = total = 0
    free = snapshot.free
    for node in snapshot.fabric.leaves[leaf].nodes:
        if node.schedulable:
            total += node.allocatable.gpus
            used += max(0, node.allocatable.gpus - free[node.name].gpus)
    return min(SCALE, SCALE * (used + new) // total) if total else 0


def objective(snapshot: Snapshot, plan: Plan, extensions: Extensions = NOTHING) -> int:
    """What `plan` is worth: the points of every placement plus the value of every phantom.

    Raises `KeyError` for gangs, pods, nodes or phantom shapes that the snapshot does not know.
    """
    gangs = {gang.key: gang for gang in snapshot.gangs}
    values = {(shape.nodes, shape.gpus): shape.value for shape in likely_gangs(snapshot)}
    placed = sum(
        sum(score(snapshot, gangs[placement.gang], placement.pods, extensions).values())
        for placement in plan.placements
    )
    return placed + sum(values[phantom.nodes, phantom.gpus] for phantom in plan.phantoms)


def who_values(snapshot: Snapshot, plan: Plan) -> dict[int, int]:
    """Priority -> sum of weight * (16 + age step) over the placed gangs of that priority.

    Priorities of which nothing is placed are absent. Raises `KeyError` for unknown gangs.
    """
    gangs = {gang.key: gang for gang in snapshot.gangs}
    spec, now = snapshot.config.spec, snapshot.now
    values: dict[int, int] = {}
    for placement in plan.placements:
        gang = gangs[placement.gang]
        value = placed_value(gang, age_step(spec, now, gang.created))
        values[gang.priority] = values.get(gang.priority, 0) + value
    return values
