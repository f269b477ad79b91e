"""`TooLarge`: no legal place even on the empty fabric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from fourleaf.model.config.spec import Spec, TopologyConstraints
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang, TopologyPolicy
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from fourleaf.solver.cpsat.constraints.quota import new_gpus
from fourleaf.solver.explain import matching_advice
from fourleaf.solver.explain.blockers import shares_nodes
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.own_taints import made_ready, own_taints, uncordoned
from fourleaf.solver.instance.fabric_index import FabricIndex
from fourleaf.solver.instance.gang_classes import GangGroup, GangGroups
from fourleaf.solver.instance.gang_type import Counts, GangType

PREFERRED = "set topology-policy Preferred"

ROLES_TO_TRY = 16
"""A gang of more roles that asks for more than there is in all is not tried with fewer laws."""


@dataclass(frozen=True, slots=True)
class Relaxed:
    """One law dropped: the step that would drop it, and the world without it."""

    step: str
    fabric: Fabric
    spec: Spec
    gang: Gang


def larger_than_all(context: Context, gang: Gang) -> Reason | None:
    """The reason of a gang of many roles that asks for more GPUs than all nodes have."""
    if len(gang.roles) <= ROLES_TO_TRY:
        return None
    wanted = new_gpus(gang)
    there = sum(node.allocatable.gpus for node in context.fabric.nodes)
    if wanted <= there:
        return None
    what = f"it asks for {wanted:,} GPUs, all nodes together have {there:,}"
    return Reason(ReasonKind.TOO_LARGE, what, unblock=(f"add nodes for {wanted - there:,} GPUs",))


def too_large(context: Context, group: GangGroup) -> Reason | None:
    """The reason where no leaf, window or row of spines could ever hold the gang."""
    if group.candidates.required or group.loose:
        return None
    kind, fabric = group.kind, context.fabric
    sizes = kind.sizes
    needed = sum(sizes)
    leaves = range(len(fabric.leaves))
    total = sum(kind.fill_nodes(range(len(fabric.nodes)), sizes, capped=False)[0])
    spines = [filled(kind, spine, sizes) for spine in fabric.spine_leaves]
    counts = [
        ("needed", needed),
        ("leaf", max((sum(kind.fill(leaf, sizes)) for leaf in leaves), default=0)),
    ]
    allowed = _allowed(context.spec, group)
    if allowed is not None:
        counts.append(("window", largest_window(kind, allowed)))
    counts += [("spine", max(spines, default=0)), ("total", _capacity(kind, total))]
    if shares_nodes(group):
        counts.append(("pods", needed))
    steps = [one.step for one in _relaxations(context, group) if _legal(context, one)]
    if not steps and total < needed:
        noun = "pod" if needed - total == 1 else "pods"
        steps.append(f"add nodes for {needed - total} more {noun}")
    return Reason(ReasonKind.TOO_LARGE, "", tuple(counts), unblock=tuple(steps))


def _capacity(kind: GangType, total: int) -> int:
    """What the fabric holds of a gang of one role however large, else of this gang."""
    if len(kind.sizes) > 1:
        return total
    return sum(min(1, n) if kind.key.one_per_node else n for n in kind.holds[0])


def filled(kind: GangType, leaves: tuple[int, ...], sizes: Counts) -> int:
    """Pods of the gang that these leaves hold when empty, each as full as it may be."""
    left = sizes
    for leaf in leaves:
        left = tuple(a - b for a, b in zip(left, kind.fill(leaf, left), strict=True))
    return sum(sizes) - sum(left)


def _allowed(spec: Spec, group: GangGroup) -> int | None:
    most = group.kind.allowed_leaves
    return None if most is None else most + spec.topology.window_slack


def largest_window(kind: GangType, most: int) -> int:
    """Pods of the gang that the largest window of at most `most` leaves holds when empty."""
    fabric = kind.fabric
    best = 0

    def extend(leaf: int, remaining: Counts, path: tuple[int, ...]) -> None:
        nonlocal best
        taken = kind.fill(leaf, remaining)
        if not any(taken):
            return
        rest = tuple(a - b for a, b in zip(remaining, taken, strict=True))
        best = max(best, sum(kind.sizes) - sum(rest))
        if len(path) + 1 >= most:
            return
        for near in fabric.adjacent[leaf]:
            if near not in path:
                extend(near, rest, (*path, leaf))

    for start in range(len(fabric.leaves)):
        extend(start, kind.sizes, ())
    return best


def _legal(context: Context, one: Relaxed) -> bool:
    if one.fabric is context.snapshot.fabric and one.spec is context.spec:
        factory = context.factory
    else:
        factory = GangGroups(FabricIndex(one.fabric, one.spec, context.fabric.extensions))
    group = factory.of(one.gang)
    return bool(group.loose or group.candidates.required)


def _relaxations(context: Context, group: GangGroup) -> list[Relaxed]:
    """The laws that bear on this gang, one dropped at a time, the gang's own wish first."""
    gang, spec, fabric = group.gang, context.spec, context.snapshot.fabric
    out = []
    if gang.policy is TopologyPolicy.REQUIRED:
        out.append(Relaxed(PREFERRED, fabric, spec, replace(gang, policy=TopologyPolicy.PREFERRED)))
    for step, other in _specs(spec, group):
        out.append(Relaxed(step, fabric, other, gang))
    out += _gangs(gang, fabric, spec)
    away = [node.name for node in context.fabric.nodes if not node.schedulable]
    if away:
        step = f"bring {matching_advice.named(away)} back into service"
        back = fabric.with_nodes(lambda node: made_ready(uncordoned(node)))
        out.append(Relaxed(step, back, spec, gang))
    return out


def _specs(spec: Spec, group: GangGroup) -> list[tuple[str, Spec]]:
    caps = spec.topology_constraints
    topology = spec.topology
    out: list[tuple[str, Spec]] = []

    def drop(step: str, change: Callable[[TopologyConstraints], TopologyConstraints]) -> None:
        out.append((step, spec.model_copy(update={"topology_constraints": change(caps)})))

    if _allowed(spec, group) is not None:
        step = f"drop the rule for {group.kind.node_count} nodes from topologyConstraints.rules"
        drop(step, lambda c: c.model_copy(update={"rules": ()}))
    if not topology.window_slack:
        wider = topology.model_copy(update={"window_slack": 1})
        out.append(("set topology.windowSlack to 1", spec.model_copy(update={"topology": wider})))
    if caps.max_nodes_per_leaf is not None:
        drop("raise maxNodesPerLeaf", lambda c: c.model_copy(update={"max_nodes_per_leaf": None}))
    if caps.max_gpus_per_leaf is not None:
        drop("raise maxGPUsPerLeaf", lambda c: c.model_copy(update={"max_gpus_per_leaf": None}))
    if caps.max_nodes_per_leaf is not None and caps.max_gpus_per_leaf is not None:
        none = {"max_nodes_per_leaf": None, "max_gpus_per_leaf": None}
        drop("raise maxNodesPerLeaf and maxGPUsPerLeaf", lambda c: c.model_copy(update=none))
    name = group.gang.key.namespace
    policy = spec.namespace(name)
    if policy.domains is not None:
        namespaces = {**spec.namespaces, name: policy.model_copy(update={"domains": None})}
        step = f"open more domains to namespace {name}"
        out.append((step, spec.model_copy(update={"namespaces": namespaces})))
    return out


def _gangs(gang: Gang, fabric: Fabric, spec: Spec) -> list[Relaxed]:
    out = []
    if any(role.constraint.selector or role.constraint.affinity for role in gang.roles):
        roles = tuple(
            replace(role, constraint=replace(role.constraint, selector=(), affinity=()))
            for role in gang.roles
        )
        step = "drop its node selector and affinity"
        out.append(Relaxed(step, fabric, spec, replace(gang, roles=roles)))
    taints = {
        matching_advice.taint_name(taint)
        for node in fabric.nodes.values()
        for role in gang.roles
        for taint in role.constraint.untolerated(own_taints(node).taints)
    }
    if taints:
        step = f"tolerate taint {matching_advice.named(sorted(taints))}"
        without = fabric.with_nodes(lambda node: replace(node, taints=()))
        out.append(Relaxed(step, without, spec, gang))
    return out
