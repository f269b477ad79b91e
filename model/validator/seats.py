"""Laws of a single gang: membership, eligible nodes, location, sharing, leaf caps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Placement
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.member_tally import Placed
from fourleaf.model.validator.static_keys import EligibilityKey


def member_breaches(snapshot: Snapshot, gang: Gang, placement: Placement) -> list[Breach]:
    """Laws 1 and "bound members stay": the pods are the unbound members, each once, in order."""
    found: list[Breach] = []
    wanted = [pod for role in gang.roles for pod in role.pods]
    bound = {pod for role in gang.roles for pod, _ in role.bound}
    times = Counter(pod for pod, _ in placement.pods)
    for pod, node in placement.pods:
        if node not in snapshot.fabric.nodes:
            found.append(Breach(Law.KNOWN, gang.key, pod, f"node {node} is not in the fabric"))
    for pod in times.keys() - set(wanted):
        if pod in bound:
            found.append(Breach(Law.RUNNING, gang.key, pod, "runs already and is placed again"))
        else:
            found.append(Breach(Law.KNOWN, gang.key, pod, "is no member of the gang"))
    found += [
        Breach(Law.WHOLE, gang.key, pod, f"is placed {times[pod]} times, not once")
        for pod in wanted
        if times[pod] != 1
    ]
    if not found and [pod for pod, _ in placement.pods] != wanted:
        found.append(Breach(Law.WHOLE, gang.key, "", "its pods are not in rank order"))
    return found


def seat_breaches(fabric: Fabric, one: Placed) -> Iterator[Breach]:
    """Laws 2, 4 and 5 for a gang whose members are complete."""
    gang, standing, locations = one.gang, one.standing, one.locations
    for role, node in sorted(set(standing.here)):
        if not locations.room.eligible(role, node):
            detail = f"not eligible for role {role} of the gang"
            yield Breach(Law.ELIGIBLE, gang.key, node, detail)
    for node in standing.lost:
        yield Breach(Law.LOCATION, gang.key, node, "holds a bound member, not in the fabric")
    if not standing.lost and standing.leaves:
        fault = locations.fault(standing.leaves)
        if fault is not None:
            leaves = ", ".join(fabric.leaves[leaf].name for leaf in sorted(standing.leaves))
            yield Breach(Law.LOCATION, gang.key, leaves, fault)
    if gang.one_per_node:
        for node, members in standing.hosts.items():
            if members > 1:
                detail = f"holds {members} members of a gang with one per node"
                yield Breach(Law.ONE_PER_NODE, gang.key, node, detail)
    yield from _cap_breaches(fabric, one, locations.room.ground)


def _cap_breaches(fabric: Fabric, one: Placed, ground: EligibilityKey) -> Iterator[Breach]:
    gang, standing = one.gang, one.standing
    if ground.max_nodes is not None:
        nodes = Counter(fabric.leaf_of[node] for node in standing.hosts)
        for leaf, count in nodes.items():
            if count > ground.max_nodes:
                detail = f"the gang stands on {count} nodes there, the most is {ground.max_nodes}"
                yield Breach(Law.LEAF_CAP, gang.key, fabric.leaves[leaf].name, detail)
    if ground.max_gpus is not None:
        for leaf, part in standing.leaves.items():
            gpus = sum(n * role.request.gpus for n, role in zip(part, gang.roles, strict=True))
            if gpus > ground.max_gpus:
                detail = f"the gang has {gpus} GPUs there, the most is {ground.max_gpus}"
                yield Breach(Law.LEAF_CAP, gang.key, fabric.leaves[leaf].name, detail)
