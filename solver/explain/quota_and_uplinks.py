"""`QuotaExceeded` and `UplinkFull`: what a gang shares with others apart from nodes."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.model.gang import Gang
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.solver.cpsat.constraints.quota import new_gpus
from fourleaf.solver.cpsat.constraints.uplinks import running_demand
from fourleaf.solver.explain.blockers import MOST_SHOWN, ending
from fourleaf.solver.explain.context import Context
from fourleaf.solver.explain.near_miss import Spot, SpotReach
from fourleaf.solver.instance.candidates import Takes
from fourleaf.solver.instance.gang_classes import GangGroup


def quota_exceeded(context: Context, gang: Gang) -> Reason | None:
    """The reason where the gang's GPUs do not fit into what quota is left after the plan."""
    namespace = gang.key.namespace
    left = context.quota_now.get(namespace)
    asked = new_gpus(gang)
    if left is None or not asked:
        return None
    placed = context.placed_gpus.get(namespace, 0)
    if asked <= left - placed:
        return None
    quota = context.spec.namespace(namespace).gpu_quota or 0
    used = quota - left + placed
    counts = (
        ("needed", asked), ("quota", quota), ("used", used),
        ("running", quota - left), ("placed", placed),
    )  # fmt: skip
    step = raise_step(namespace, used + asked)
    return Reason(ReasonKind.QUOTA_EXCEEDED, namespace, counts, unblock=(step,))


def raise_step(namespace: str, gpus: int) -> str:
    """The advice to raise the quota of a namespace."""
    return f"raise namespaces.{namespace}.gpuQuota to {gpus}"


def uplink_full(
    context: Context, group: GangGroup, reach: SpotReach, spots: list[Spot]
) -> Reason | None:
    """The reason where the gang would fit now if uplinks had no limit."""
    if not group.gang.bandwidth or not context.after_without_uplinks.finds(group):
        return None
    short = [
        context.after.short_uplinks(group, spot.takes)
        for spot, pods in zip(spots, reach.measure(spots), strict=True)
        if pods == reach.needed
    ]
    short = [leaves for leaves in short if leaves]
    if not short:
        return Reason(ReasonKind.UPLINK_FULL)
    nearest = min(short, key=lambda leaves: sum(asked - max(0, left) for _, left, asked in leaves))
    _, left, asked = max(nearest, key=lambda item: (item[2] - item[1], -item[0]))
    ends: list[str] = []
    clear = True
    near = []
    uplinks = []
    for leaf, free, needed in nearest:
        crossing = _crossing(context, leaf)
        pods = [pod for one in crossing for pod in one.pods][:MOST_SHOWN]
        name = context.fabric.leaves[leaf].name
        near.append(NearMiss(name, max(0, free), needed, "Mbit/s", tuple(pods)))
        uplinks.append(f"{name} to {(context.fabric.uplinks[leaf] or 0) + needed - free} Mbit/s")
        gained = 0
        for one in crossing:
            if free + gained < needed:
                gained += one.demand
                ends += [] if one.gang in ends else [one.gang]
        clear = clear and free + gained >= needed
    return Reason(
        ReasonKind.UPLINK_FULL,
        "",
        (("asked", asked), ("free", max(0, left))),
        tuple(near),
        (
            *(ending(tuple(ends)) if clear else ()),
            f"raise network.uplinks of {' and '.join(uplinks)}",
        ),
    )


def waiting_steps(
    context: Context, group: GangGroup, takes: Takes, ends: tuple[str, ...] | None
) -> tuple[str, ...]:
    """The advice to wait until `ends` have ended, and what the uplinks of the place need too."""
    if not group.gang.bandwidth or ends is None:
        return ending(ends or ())
    out = list(ends)
    narrow = []
    for leaf, left, asked in context.after.short_uplinks(group, takes):
        crossing = _crossing(context, leaf)
        free = left + sum(one.demand for one in crossing if one.gang in out)
        for one in crossing:
            if free < asked and one.gang not in out:
                free += one.demand
                out.append(one.gang)
        if free < asked:
            uplink = context.fabric.uplinks[leaf] or 0
            narrow.append(f"{context.fabric.leaves[leaf].name} to {uplink + asked - free} Mbit/s")
    steps = ending(tuple(out))
    if narrow:
        raised = f"network.uplinks of {' and '.join(narrow)}"
        return tuple(f"{step}, with {raised}" for step in steps) or (f"raise {raised}",)
    return steps


@dataclass(frozen=True, slots=True)
class _Crossing:
    """A gang that takes from the uplink of a leaf: Mbit/s, and its (node, pod) there."""

    demand: int
    gang: str
    pods: tuple[tuple[str, str], ...]


def _crossing(context: Context, leaf: int) -> list[_Crossing]:
    """Gangs that take from the uplink of a leaf, those that take most first."""
    fabric = context.fabric
    here = {fabric.nodes[i].name for i in fabric.in_leaf[leaf]}
    found = []
    for key, leaves in running_demand(context.state).items():
        if leaf in leaves:
            pods = [pod for pod in context.snapshot.running if pod.gang == key]
            members = tuple((pod.node, str(pod)) for pod in pods if pod.node in here)
            found.append(_Crossing(leaves[leaf], str(key), members))
    for placement in context.plan.placements:
        bandwidth = context.gangs[placement.gang].bandwidth
        hosts = list(dict.fromkeys(host for _, host in placement.pods))
        inside = [host for host in hosts if host in here]
        if bandwidth and inside and len(inside) < len(hosts):
            name = str(placement.gang)
            pairs = tuple((host, name) for host in inside)
            found.append(_Crossing(bandwidth * len(inside), name, pairs))
    return sorted(found, key=lambda one: (-one.demand, one.gang))
