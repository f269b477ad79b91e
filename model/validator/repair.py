"""Every law that a repair plan breaks, found without the solver."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import GangKey
from fourleaf.model.relocation import RepairPlan
from fourleaf.model.running_gang import RepairPolicy, StandingGang
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.evictions import eviction_breaches
from fourleaf.model.validator.recompute import NOTHING
from fourleaf.model.validator.relocated_gangs import (
    Moved,
    PodKey,
    cost_of,
    live,
    move_breaches,
    place_breaches,
    standing_of,
)

ACTIVE = (RepairPolicy.PATCH, RepairPolicy.SHIFT, RepairPolicy.MOVE)
"""Policies under which lost members are placed anew."""


def repair_breaches(
    snapshot: Snapshot, plan: RepairPlan, extensions: Extensions = NOTHING
) -> tuple[Breach, ...]:
    """Every breach of `docs/model.md`, section 8, in a repair plan; empty where it is legal.

    Room is counted once all that move have left, and before any arrives.
    """
    standing = standing_of(snapshot)
    found = list(_accounting(plan, standing))
    moved = Moved(standing)
    placed = {placement.gang for placement in plan.placements}
    may = {key: _hindrance(one, key in placed) for key, one in standing.items()}
    found += move_breaches(snapshot, plan.moves, moved, may)
    found += _lost_members(snapshot, plan, moved)
    gone = {
        (key.namespace, pod)
        for key, one in standing.items()
        if one.hit and one.policy is RepairPolicy.RESTART
        for pod in live(one)
    }
    found += _eviction_breaches(snapshot, moved, gone)
    breaches, _ = place_breaches(moved.after(snapshot, gone), moved, (), extensions)
    found += breaches
    found += _policy_breaches(snapshot, moved)
    cost = cost_of(moved)
    if not found and cost != plan.cost:
        found.append(Breach(Law.OBJECTIVE, None, "", f"says it costs {plan.cost}, it is {cost}"))
    return tuple(found)


def _hindrance(one: StandingGang, placed: bool) -> str:
    if not one.hit:
        return "" if one.movable else "its gang lost no members and may not be moved"
    if one.policy not in (RepairPolicy.SHIFT, RepairPolicy.MOVE):
        return f"its gang has the policy {one.policy.value}"
    return "" if placed else "its gang stays as it is"


def _accounting(plan: RepairPlan, standing: Mapping[GangKey, StandingGang]) -> Iterator[Breach]:
    """Every gang that lost members is placed, lost, waits or restarts: exactly one of these."""
    said: dict[str, Counter[GangKey]] = {
        "placed": Counter(placement.gang for placement in plan.placements),
        "lost": Counter(entry.gang for entry in plan.lost),
        "waits": Counter(plan.waits),
        "restarts": Counter(plan.restarts),
    }
    keys = {key for counts in said.values() for key in counts}
    for key in sorted(keys - {key for key, one in standing.items() if one.hit}):
        yield Breach(Law.KNOWN, key, "", "is no standing gang that lost members")
    for key, one in standing.items():
        if not one.hit:
            continue
        times = {name: counts[key] for name, counts in said.items() if counts[key]}
        allowed = {"placed", "lost"} if one.policy in ACTIVE else {f"{one.policy.value}s"}
        if sum(times.values()) != 1:
            told = ", ".join(f"{name} {count} times" for name, count in times.items())
            yield Breach(Law.ACCOUNTED, key, "", f"is {told or 'not mentioned'}, not once")
        elif not times.keys() <= allowed:
            detail = f"is {next(iter(times))} with the policy {one.policy.value}"
            yield Breach(Law.POLICY, key, "", detail)


def _lost_members(snapshot: Snapshot, plan: RepairPlan, moved: Moved) -> Iterator[Breach]:
    """Each lost member of a gang that lives stands once, in rank order; notes where."""
    for placement in plan.placements:
        one = moved.standing.get(placement.gang)
        if one is None:
            continue
        wanted = [pod for role in one.gang.roles for pod in role.pods]
        if [pod for pod, _ in placement.pods] != wanted:
            detail = "its lost members are not all placed, once, in rank order"
            yield Breach(Law.WHOLE, placement.gang, "", detail)
            continue
        for pod, node in placement.pods:
            if node not in snapshot.fabric.nodes:
                detail = f"node {node} is not in the fabric"
                yield Breach(Law.KNOWN, placement.gang, pod, detail)
            else:
                moved.add(placement.gang, pod, node)


def _eviction_breaches(
    snapshot: Snapshot, moved: Moved, restarted: set[PodKey]
) -> Iterator[Breach]:
    """Live members move; lost ones that are placed, or whose gang starts over, go too."""
    moves: dict[GangKey, list[str]] = {}
    lost: set[PodKey] = set()
    for key, targets in moved.targets.items():
        stood = live(moved.standing[key])
        moves[key] = [pod for pod in targets if pod in stood]
        lost |= {(key.namespace, pod) for pod in targets if pod not in stood}
    over = {
        (key.namespace, pod)
        for key, one in moved.standing.items()
        if one.hit and one.policy is RepairPolicy.RESTART
        for role in one.gang.roles
        for pod in role.pods
    }
    yield from eviction_breaches(snapshot, lost, moves, restarted | over)


def _policy_breaches(snapshot: Snapshot, moved: Moved) -> Iterator[Breach]:
    """A gang that shifts keeps within the spines where its live members stood."""
    fabric = snapshot.fabric
    for key, targets in moved.targets.items():
        one = moved.standing[key]
        stood = {fabric.leaf_of[node] for node in live(one).values() if node in fabric.leaf_of}
        if not one.hit or one.policy is not RepairPolicy.SHIFT or not stood:
            continue
        spines = {fabric.leaves[leaf].spine for leaf in stood}
        for pod, node in targets.items():
            spine = fabric.nodes[node].spine
            if spine not in spines:
                detail = f"shifts to spine {spine}, its gang stood in {', '.join(sorted(spines))}"
                yield Breach(Law.POLICY, key, pod, detail)
