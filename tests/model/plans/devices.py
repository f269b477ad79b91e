"""Plans whose pods do not find the devices that they demand, by one device or link."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.free import FreeDevices, all_of
from fourleaf.model.devices.layout import Device, layout_of
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from tests.small import GIB, Case, gang, node, one_leaf, plan, snapshot

PAIRS = layout_of(
    [Device(n, "H100" if n < 2 else "A100", 80_000 if n < 2 else 40_000) for n in range(4)],
    [(0, 1, 450_000), (2, 3, 300_000)],
)
"""Four devices in two linked pairs; the second pair is slower, smaller and older."""


def _world(
    *demands: tuple[int, DeviceDemand | None], free: FreeDevices, held: tuple[int, ...] = ()
) -> Case:
    offer = Resources(gpus=4, cpu=10_000, memory=10 * GIB, pods=10, devices=free)
    running = ()
    if held:
        running = (RunningPod("ml", "old", "a0", Resources(gpus=len(held)), devices=held),)
    gangs = [
        gang(f"g{i}", 1, request=Resources(gpus=count, wants=demand))
        for i, (count, demand) in enumerate(demands)
    ]
    world = snapshot(one_leaf(node("a0", "a", allocatable=offer)), *gangs, running=running)
    return world, plan(world, {f"g{i}": ["a0"] for i in range(len(gangs))})


def not_contiguous() -> Case:
    """Devices 0, 1 and 3 are free, and somebody wants three in a row."""
    return _world((3, DeviceDemand(contiguous=True)), free=all_of(PAIRS), held=(2,))


def too_slow() -> Case:
    """The pair with the fast link is taken."""
    return _world((2, DeviceDemand(linked=400_000)), free=all_of(PAIRS), held=(0,))


def wrong_product() -> Case:
    """Three devices are wanted of a product of which there are two."""
    ours = DeviceDemand(products=("H100",))
    return _world((2, ours), (1, ours), free=all_of(PAIRS))


def too_little_memory() -> Case:
    """Both large devices are wanted twice."""
    large = DeviceDemand(memory=60_000)
    return _world((2, large), (1, large), free=all_of(PAIRS))


def same_device() -> Case:
    """Two pods are mapped to device 2."""
    return _world(
        (1, DeviceDemand(exact=(2,))), (2, DeviceDemand(exact=(2, 3))), free=all_of(PAIRS)
    )


def taken_device() -> Case:
    """The device of the map is held."""
    return _world((1, DeviceDemand(exact=(2,))), free=all_of(PAIRS), held=(2,))


def uncounted() -> Case:
    """A pod holds two devices and counts as one GPU: three more than that seem to be free."""
    world, placed = _world((2, None), free=all_of(PAIRS), held=(0,))
    (old,) = world.running
    return replace(world, running=(replace(old, devices=(0, 1), ours=True),)), placed


def unhealthy_device() -> Case:
    """With device 1 gone, one pair in a row is left, and another pod wants the older product."""
    row, old = DeviceDemand(contiguous=True), DeviceDemand(products=("A100",))
    return _world((2, row), (1, old), free=FreeDevices(PAIRS, 0b1101))


def legal() -> Case:
    """Two pairs, one of them by its numbers, and nothing is left."""
    return _world(
        (2, DeviceDemand(linked=300_000)), (2, DeviceDemand(exact=(0, 1))), free=all_of(PAIRS)
    )
