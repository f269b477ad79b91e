"""`QuotaExceeded` and `UplinkFull`: what a gang shares with others apart from nodes."""

from __future__ import annotations

from model.gang import Gang
from model.reasons import NearMiss, Reason, ReasonKind
from solver.laws.quota import new_gpus
from solver.laws.uplinks import running_demand
from solver.locations import Takes
from solver.reasons.inquiry import Inquiry
from solver.reasons.obstacles import MOST_SHOWN, ending
from solver.reasons.reach import Reach, Spot
from solver.units import Unit


def quota_exceeded(inquiry: Inquiry, gang: Gang) -> Reason | None:
    """The reason where the gang's GPUs do not fit into what quota is left after the plan."""
    namespace = gang.key.namespace
    left = inquiry.quota_now.get(namespace)
    asked = new_gpus(gang)
    if left is None or not asked:
        return None
    placed = inquiry.placed_gpus.get(namespace, 0)
    if asked <= left - placed:
        return None
    quota = inquiry.spec.namespace(namespace).gpu_quota or 0
    used = quota - left + placed
    counts = (
        ("needed", asked), ("quota", quota), ("used", used),
        ("running", quota - left), ("placed", placed),
    )  # fmt: skip
    step = f"raise namespaces.{namespace}.gpuQuota to {used + asked}"
    return Reason(ReasonKind.QUOTA_EXCEEDED, namespace, counts, unblock=(step,))


def uplink_full(inquiry: Inquiry, unit: Unit, reach: Reach, spots: list[Spot]) -> Reason | None:
    """The reason where the gang would fit now if uplinks had no limit."""
    if not unit.gang.bandwidth or inquiry.after_without_uplinks.find(unit) is None:
        return None
    measured = reach.measure(spots)
    short = [
        inquiry.after.short_uplinks(unit, spot.takes)
        for spot, pods in zip(spots, measured, strict=True)
        if pods == reach.needed
    ]
    short = [leaves for leaves in short if leaves]
    if not short:
        return Reason(ReasonKind.UPLINK_FULL)
    nearest = min(short, key=lambda leaves: sum(asked - max(0, left) for _, left, asked in leaves))
    leaf, left, asked = max(nearest, key=lambda item: (item[2] - item[1], -item[0]))
    ends: list[str] = []
    near = []
    for i, free, needed in nearest:
        crossing = _crossing(inquiry, i)
        pods = [pod for _, _, members in crossing for pod in members][:MOST_SHOWN]
        name = inquiry.ground.leaves[i].name
        near.append(NearMiss(name, max(0, free), needed, "Mbit/s", tuple(pods)))
        for demand, gang, _ in crossing:
            if free < needed:
                free += demand
                ends += [gang] if gang not in ends else []
        if free < needed:
            ends = []
            break
    names = ", ".join(miss.leaf for miss in near)
    uplinks = [
        f"{inquiry.ground.leaves[i].name} to {(inquiry.ground.uplinks[i] or 0) + needed - free}"
        for i, free, needed in nearest
    ]
    return Reason(
        ReasonKind.UPLINK_FULL,
        names,
        (("asked", asked), ("free", max(0, left))),
        tuple(near),
        (*ending(tuple(ends)), f"raise network.uplinks of {' and '.join(uplinks)} Mbit/s"),
    )


def _crossing(
    inquiry: Inquiry, leaf: int
) -> list[tuple[int, str, list[tuple[str, str]]]]:
    """Gangs that take from the uplink of a leaf: Mbit/s, gang, its (node, pod) there."""
    ground = inquiry.ground
    found = []
    for key, leaves in running_demand(inquiry.view).items():
        if leaf in leaves:
            members = [
                (pod.node, str(pod))
                for pod in inquiry.snapshot.running
                if pod.gang == key and ground.leaf_of[ground.index.get(pod.node, 0)] == leaf
                and pod.node in ground.index
            ]
            found.append((leaves[leaf], str(key), members))
    for placement in inquiry.plan.placements:
        bandwidth = inquiry.gangs[placement.gang].bandwidth
        leaf_of = {host: ground.leaf_of[ground.index[host]] for _, host in placement.pods}
        if bandwidth and len(set(leaf_of.values())) > 1:
            here = [host for host, i in leaf_of.items() if i == leaf]
            if here:
                name = str(placement.gang)
                found.append((bandwidth * len(here), name, [(host, name) for host in here]))
    return sorted(found, key=lambda item: (-item[0], item[1]))
