"""What a plan is worth (sections 6 and 7), computed from the snapshot alone. All in points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fourleaf.model.aging import age_step, placed_value
from fourleaf.model.config.spec import BUILT_IN_TERMS
from fourleaf.model.extensions import Extensions
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import Node
from fourleaf.model.node_constraint import FULL_WEIGHT
from fourleaf.model.plan import Plan
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.devices import links_granted
from fourleaf.model.validator.facts import facts_of
from fourleaf.model.validator.member_tally import Placed, stand
from fourleaf.model.validator.strategies import PlacedBefore, node_share
from fourleaf.model.validator.uplinks import demand, uplink_of
from fourleaf.model.weights import SCALE, milli, weights_of

BANDWIDTH = "bandwidth"
"""The name under which the bandwidth penalty stands among the terms; its points are negative."""

PREFERENCES = "preferences"
"""The same of the penalty for nodes that a pod would rather not have."""

DOMAIN = "domain"
"""The same of the penalty for places outside of a preferred domain that the fabric has."""

FEWEST_NODES = "fewestNodes"
"""The same of the penalty for nodes that a strategy would rather do without."""

SPREAD = "spread"
"""The same of the penalty for pods that a strategy keeps apart and that share a node or a leaf."""

PENALTIES = (BANDWIDTH, DOMAIN, FEWEST_NODES, PREFERENCES, SPREAD)

HALF = SCALE // 2
NOTHING = Extensions()


def score(
    snapshot: Snapshot,
    gang: Gang,
    pods: Sequence[tuple[str, str]],
    extensions: Extensions = NOTHING,
) -> dict[str, int]:
    """Points of `gang` on `pods`, (pod, node) of its unbound members, by term.

    Per term: sum over the pods of pod weight * (W * t // 1000). Every built-in term, all
    penalties and every custom term that the config weighs have an entry. Raises `KeyError` for
    unknown pods or nodes.
    """
    spec = snapshot.config.spec
    one = Placed(
        gang,
        stand(snapshot.fabric, gang, pods),
        facts_of(snapshot.fabric).of_gang(spec, gang, extensions),
    )
    return points(snapshot, one, weights_of(spec, gang), extensions)


def points(
    snapshot: Snapshot,
    one: Placed,
    weights: Mapping[str, int],
    extensions: Extensions,
    before: PlacedBefore | None = None,
) -> dict[str, int]:
    """`score` of a gang whose standing, leaf rule and weights (in thousandths) are known.

    `before` has what the plan placed before it, and takes it in.
    """
    gang = one.gang
    total = dict.fromkeys((*BUILT_IN_TERMS, *PENALTIES), 0)
    custom = [t.name for t in extensions.node_terms] + [t.name for t in extensions.leaf_terms]
    total.update((name, 0) for name in custom if name in weights)
    leaf_of = snapshot.fabric.leaf_of
    asked = demand(one)
    leaves = {leaf_of[node] for _, node in one.standing.here}
    alike = {
        leaf: _leaf_points(snapshot, one, leaf, weights, extensions)
        | {BANDWIDTH: -_crowding(snapshot, leaf, asked.get(leaf, 0))}
        for leaf in leaves
    }
    # Members of one role on one node earn the same.
    for (role, node), pods in Counter(one.standing.here).items():
        amount = pods * gang.pod_weight(gang.roles[role])
        for name, earned in alike[leaf_of[node]].items():
            total[name] += amount * earned
        for name, earned in _node_points(snapshot, gang, role, node, weights, extensions):
            total[name] += amount * earned
    total[SPREAD] = (before or PlacedBefore()).spread_points(snapshot, one)
    return total


def _node_points(
    snapshot: Snapshot,
    gang: Gang,
    role: int,
    name: str,
    weights: Mapping[str, int],
    extensions: Extensions,
) -> Iterator[tuple[str, int]]:
    """Value the node for a pod of `role`: (term, points per unit of pod weight)."""
    member, node, free = gang.roles[role], snapshot.fabric.nodes[name], snapshot.free[name]
    left = comfort(node.allocatable, free, member.request)
    yield "resourceAvailability", weights.get("resourceAvailability", 0) * left // SCALE
    history = weights.get("historicalPerformance", 0)
    yield "historicalPerformance", history * (SCALE - node.failure_permille) // SCALE
    if not links_granted(snapshot, node, member.request):
        yield "topologyAlignment", weights.get("topologyAlignment", 0) * -HALF // SCALE
    unmet = unmet_share(member, node)
    spec = snapshot.config.spec
    yield PREFERENCES, -(milli(spec.penalties.preferences) * unmet // SCALE)
    cost = milli(spec.strategy(gang.strategy).fewest_nodes)
    yield FEWEST_NODES, -(cost * node_share(snapshot, gang, role, name) // SCALE)
    for term in extensions.node_terms:
        if weights.get(term.name):
            value = term.value(gang, member, node, free)
            yield term.name, weights[term.name] * value // SCALE


def _leaf_points(
    snapshot: Snapshot, one: Placed, leaf: int, weights: Mapping[str, int], extensions: Extensions
) -> dict[str, int]:
    """Value what every pod in `leaf` earns alike, in points per unit of pod weight."""
    gang, standing, locations = one.gang, one.standing, one.locations
    place = snapshot.fabric.leaves[leaf]
    new = standing.new_gpus.get(leaf, 0)
    used, taken = leaf_utilization(snapshot, leaf, new), share_taken(snapshot, leaf, new)
    if snapshot.config.spec.strategy(gang.strategy).leaves == "empty":
        used, taken = SCALE - used, HALF - taken
    spines = {locations.paths.spine_of[other] for other in standing.leaves}
    span, fewest = len(standing.leaves) + len(spines), locations.fewest
    close = min(HALF, HALF * fewest // span)
    if locations.any_leaves and locations.in_one_spine:
        close = min(HALF, HALF * (2 * fewest - span) // fewest)
    wished = gang.preferred_domain in (None, place.name, place.spine)
    alignment = weights.get("topologyAlignment", 0)
    earned = {
        "domainUtilization": weights.get("domainUtilization", 0) * used // SCALE,
        "resourceAvailability": weights.get("resourceAvailability", 0) * taken // SCALE,
        "topologyAlignment": alignment * close // SCALE + alignment * HALF * wished // SCALE,
    }
    if not wished and _is_domain(snapshot.fabric, gang.preferred_domain):
        earned[DOMAIN] = -milli(snapshot.config.spec.penalties.domain)
    for term in extensions.leaf_terms:
        if weights.get(term.name):
            earned[term.name] = weights[term.name] * term.value(gang, place, new) // SCALE
    return earned


def _is_domain(fabric: Fabric, name: str | None) -> bool:
    """Whether a leaf or a spine of the fabric has this name."""
    return any(name in (leaf.name, leaf.spine) for leaf in fabric.leaves)


def _crowding(snapshot: Snapshot, leaf: int, asked: int) -> int:
    """Compute the bandwidth penalty in `leaf`: B * min(1000, 1000 * demand // uplink) // 1000."""
    spec = snapshot.config.spec
    uplink = uplink_of(spec, snapshot.fabric.leaves[leaf])
    if not asked or uplink is None:
        return 0
    load = min(SCALE, SCALE * asked // uplink) if uplink else SCALE
    return milli(spec.penalties.bandwidth) * load // SCALE


def comfort(allocatable: Resources, free: Resources, request: Resources) -> int:
    """Compute the first half of `resourceAvailability`: the scarcest of what is left, 0..500.

    Over the CPU, memory and pod slots that the node states: the least of
    500 * (free - request) // allocatable, at least 0.
    """
    shares = [
        HALF * ((left or 0) - (asked or 0)) // whole
        for whole, left, asked in (
            (allocatable.cpu, free.cpu, request.cpu),
            (allocatable.memory, free.memory, request.memory),
            (allocatable.pods, free.pods, request.pods),
        )
        if whole is not None and whole > 0
    ]
    return max(0, min(shares, default=0))


def unmet_share(role: Role, node: Node) -> int:
    """Compute t of `preferences` in thousandths: what `node` lacks of what is preferred.

    1000 * u // max(100, a), at most 1000: a the weight of all preferences, u that of those that
    the node does not meet, and 100 more for a `PreferNoSchedule` taint that is not tolerated.
    """
    missed = [one.weight for one in role.preferences if not one.holds(node)]
    if role.constraint.avoids(node):
        missed.append(FULL_WEIGHT)
    whole = sum(one.weight for one in role.preferences)
    return min(SCALE, SCALE * sum(missed) // max(FULL_WEIGHT, whole))


def leaf_utilization(snapshot: Snapshot, leaf: int, new: int) -> int:
    """Compute t of `domainUtilization` in thousandths: GPUs in use with `new` more, over all GPUs.

    min(1000, 1000 * (used + new) // total) over the schedulable nodes; 0 where total is 0.
    """
    used, total = _leaf_gpus(snapshot, leaf)
    return min(SCALE, SCALE * (used + new) // total) if total else 0


def share_taken(snapshot: Snapshot, leaf: int, new: int) -> int:
    """Compute the other half of `resourceAvailability`: `new` GPUs of those free in a leaf, 0..500.

    min(500, 500 * new // free) over the schedulable nodes; 0 where none is free.
    """
    used, total = _leaf_gpus(snapshot, leaf)
    return min(HALF, HALF * new // (total - used)) if total > used else 0


def _leaf_gpus(snapshot: Snapshot, leaf: int) -> tuple[int, int]:
    """GPUs in use and GPUs in all of the schedulable nodes of a leaf."""
    hosts = [node for node in snapshot.fabric.leaves[leaf].nodes if node.schedulable]
    free = snapshot.free
    used = sum(max(0, node.allocatable.gpus - free[node.name].gpus) for node in hosts)
    return used, sum(node.allocatable.gpus for node in hosts)


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
