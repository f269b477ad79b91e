"""Laws that count across gangs: room on nodes, quotas, uplinks (section 5, laws 3, 6 and 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources, plus, unlisted
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.member_tally import Placed
from fourleaf.model.validator.room import times
from fourleaf.model.validator.uplinks import demand, running_demand, uplink_of


def taken_by(placed: list[Placed]) -> dict[str, Resources]:
    """Node name -> what the plan puts there."""
    taken: dict[str, Resources] = {}
    for one in placed:
        for (role, node), pods in Counter(one.standing.here).items():
            asked = times(one.gang.roles[role].request, pods)
            held = taken.get(node)
            taken[node] = asked if held is None else plus(held, asked)
    return taken


def room_breaches(snapshot: Snapshot, taken: Mapping[str, Resources]) -> Iterator[Breach]:
    """Law 3: on each node, what the plan puts there fits into what is free.

    A resource that no pod placed there asks for is not checked: the node may be overcommitted.
    """
    for node, asked in taken.items():
        for name, want, have in over(snapshot.free[node], asked):
            yield Breach(Law.ROOM, None, node, f"{want} {name} placed where {have} are free")


def over(free: Resources, asked: Resources) -> Iterator[tuple[str, int, int]]:
    """(resource, asked, free) of every resource of which more is asked than is free."""
    rows = (
        ("GPUs", asked.gpus, free.gpus),
        ("millicores", asked.cpu or 0, free.cpu),
        ("bytes", asked.memory or 0, free.memory),
        ("pod slots", asked.pods, free.pods),
    )
    for name, want, have in rows:
        if want and have is not None and want > have:
            yield name, want, have
    left = dict(free.extra) if asked.extra else {}
    for name, want in asked.extra:
        have = left[name] if name in left else unlisted(name)
        if want and want > have:
            yield name, want, have


def quota_breaches(snapshot: Snapshot, placed: list[Placed]) -> Iterator[Breach]:
    """Law 6. A namespace that is over its quota already breaks it only by placing GPUs."""
    new: Counter[str] = Counter()
    for one in placed:
        new[one.gang.key.namespace] += sum(one.standing.new_gpus.values())
    for namespace, gpus in new.items():
        quota = snapshot.config.spec.namespace(namespace).gpu_quota
        if quota is None or not gpus:
            continue
        used = sum(pod.request.gpus for pod in snapshot.running if pod.namespace == namespace)
        if used + gpus > quota:
            detail = f"{gpus} GPUs placed and {used} in use, the quota is {quota}"
            yield Breach(Law.QUOTA, None, namespace, detail)


def uplink_breaches(snapshot: Snapshot, placed: list[Placed]) -> Iterator[Breach]:
    """Law 7. An uplink that is overloaded already is broken only by placing more on it."""
    new: Counter[int] = Counter()
    keys: set[GangKey] = set()
    for one in placed:
        keys.add(one.gang.key)
        new.update(demand(one))
    if not new:
        return
    running = running_demand(snapshot, keys)
    for leaf, asked in sorted(new.items()):
        place = snapshot.fabric.leaves[leaf]
        uplink = uplink_of(snapshot.config.spec, place)
        busy = running.get(leaf, 0)
        if uplink is not None and asked and asked + busy > uplink:
            detail = f"{asked} Mbit/s placed and {busy} in use, the uplink has {uplink}"
            yield Breach(Law.UPLINK, None, place.name, detail)
