"""Section 5, law 9: the pods that come to a node find the devices that they demand, none shared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.layout import Device
from fourleaf.model.devices.layout import numbers as numbers_in
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.member_tally import Placed

Wish = tuple[int, DeviceDemand]


def device_breaches(snapshot: Snapshot, placed: Sequence[Placed]) -> Iterator[Breach]:
    """Nodes where the demands of the pods placed there cannot be met together."""
    asked: dict[str, list[Resources]] = {}
    for one in placed:
        for role, node in one.standing.here:
            asked.setdefault(node, []).append(one.gang.roles[role].request)
    for name, requests in asked.items():
        yield from _uncounted(snapshot, name)
        wishes = [(one.gpus, one.wants) for one in requests if one.wants is not None and one.gpus]
        if not wishes:
            continue
        free = _free(snapshot, snapshot.fabric.nodes[name])
        plain = sum(one.gpus for one in requests if one.wants is None)
        wishes.sort(key=lambda wish: (-len(wish[1].exact), -wish[0], repr(wish)))
        devices = _known(snapshot.fabric.nodes[name])
        speeds = _speeds(snapshot.fabric.nodes[name])
        if not _can_share(devices, speeds, free, wishes, plain):
            detail = f"{len(wishes)} pods do not find the devices that they demand"
            yield Breach(Law.DEVICES, None, name, detail)


def _uncounted(snapshot: Snapshot, node: str) -> Iterator[Breach]:
    """Devices that our pods hold on a node and that do not count as used there."""
    ours = [pod for pod in snapshot.running if pod.ours and pod.node == node]
    held = len({number for pod in ours for number in pod.devices})
    used = sum(pod.request.gpus for pod in ours)
    if held > used:
        detail = f"{held} devices are held there, and {used} GPUs count as used"
        yield Breach(Law.DEVICES, None, node, detail)


def links_granted(snapshot: Snapshot, node: Node, request: Resources) -> bool:
    """Whether a pod alone could have the links that it prefers, if it prefers any."""
    wants = request.wants
    if wants is None or wants.prefers is None:
        return True
    wish = (request.gpus, replace(wants, linked=wants.prefers))
    return _can_share(_known(node), _speeds(node), _free(snapshot, node), [wish], 0)


def _known(node: Node) -> dict[int, Device]:
    held = node.allocatable.devices
    if held is None:
        return {number: Device(number) for number in range(node.allocatable.gpus)}
    return {device.number: device for device in held.layout.devices}


def _speeds(node: Node) -> dict[frozenset[int], int]:
    held = node.allocatable.devices
    return {} if held is None else {frozenset((a, b)): speed for a, b, speed in held.layout.links}


def _free(snapshot: Snapshot, node: Node) -> frozenset[int]:
    """Healthy devices that are not held; none where it is not known who holds which."""
    offered = node.allocatable.devices
    healthy = (
        set(range(node.allocatable.gpus)) if offered is None else set(numbers_in(offered.mask))
    )
    here = [pod for pod in snapshot.running if pod.node == node.name]
    held = [number for pod in here for number in pod.devices]
    if sum(pod.request.gpus for pod in here) > len(held):
        return frozenset()
    return frozenset(healthy.difference(held))


def _can_share(
    devices: dict[int, Device],
    speeds: dict[frozenset[int], int],
    free: frozenset[int],
    wishes: Sequence[Wish],
    plain: int,
) -> bool:
    """Whether there are disjoint sets for all `wishes`, and `plain` devices beside them."""
    if not wishes:
        return len(free) >= plain
    (count, demand), rest = wishes[0], wishes[1:]
    good = sorted(n for n in free if _suits(devices[n], demand))
    if demand.exact:
        options = [demand.exact] if set(demand.exact) <= set(good) else []
    else:
        options = [*combinations(good, count)]
    return any(
        len(chosen) == count
        and _meets(speeds, chosen, demand)
        and _can_share(devices, speeds, free.difference(chosen), rest, plain)
        for chosen in options
    )


def _suits(device: Device, demand: DeviceDemand) -> bool:
    named = not demand.products or device.product in demand.products
    return named and device.memory >= demand.memory


def _meets(speeds: dict[frozenset[int], int], chosen: Sequence[int], demand: DeviceDemand) -> bool:
    if demand.contiguous and max(chosen) - min(chosen) != len(chosen) - 1:
        return False
    least = demand.linked
    return least is None or all(
        speeds.get(frozenset(pair), -1) >= least for pair in combinations(chosen, 2)
    )
