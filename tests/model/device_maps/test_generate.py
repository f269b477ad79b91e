"""Maps made from nodes."""

from __future__ import annotations

import pytest

from fourleaf.model.device_maps.generate import DeviceRequest, NotEnough, generate_map
from fourleaf.model.readers.pods.device_map import Pin
from tests.model.device_maps.made import agent, ground, holder, node

NODES = (
    node("n10"),
    node("n2"),
    node("n3", ready=False),
    node("n4", cordoned=True),
    node("cpu-1", gpus=0),
    node("m1", gpus=2),
)


def test_node_after_node_in_natural_order() -> None:
    """n2 before n10; neither what is not ready nor what is cordoned; each device once."""
    pins = generate_map(ground(*NODES), DeviceRequest(2, pods=4, pool="n"))
    assert pins == {
        0: Pin("n2", (0, 1)),
        1: Pin("n2", (2, 3)),
        2: Pin("n10", (0, 1)),
        3: Pin("n10", (2, 3)),
    }


def test_as_many_as_there_is_room_for() -> None:
    """Three devices fit once on each node of four, and not on the one of two."""
    pins = generate_map(ground(*NODES), DeviceRequest(3))
    assert pins == {0: Pin("n2", (0, 1, 2)), 1: Pin("n10", (0, 1, 2))}


def test_what_is_in_use_is_left_out() -> None:
    """Device 1 of n2 is held; of n10 nobody knows which one is."""
    running = (holder("a", "n2", "1"), holder("b", "n10", None))
    assert generate_map(ground(*NODES, *running), DeviceRequest(2, pool="n")) == {
        0: Pin("n2", (0, 2))
    }
    busy = generate_map(ground(*NODES, *running), DeviceRequest(2, pool="n", busy=True))
    assert len(busy) == 4


def test_too_many_pods_are_refused_with_what_fits() -> None:
    """Two nodes of four devices have room for four pairs, not for five."""
    with pytest.raises(NotEnough) as short:
        generate_map(ground(*NODES), DeviceRequest(2, pods=5, pool="n"))
    assert short.value.room == 4


def test_unhealthy_devices_are_left_out() -> None:
    """Of four devices 1 is unhealthy, so the pairs are 0 and 2, and there is no second."""
    gpus = [{"index": i, "uuid": f"GPU-{i}", "healthy": i != 1} for i in range(4)]
    pins = generate_map(ground(node("n1"), agent("n1", gpus)), DeviceRequest(2))
    assert pins == {0: Pin("n1", (0, 2))}
