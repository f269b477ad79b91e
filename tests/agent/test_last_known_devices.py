"""Devices that were there and are not told of this time."""

from __future__ import annotations

import math
from dataclasses import replace

from fourleaf.agent.last_known_devices import carried_over, known_to_the_kubelet
from fourleaf.model.crds.node_status import Gpu
from tests.agent.made import failure, gpus, reading


def test_a_driver_that_fails_loses_no_device() -> None:
    """All stay, not healthy, for as long as it fails; then they are as they are read."""
    before, failed = reading(), failure()
    now = carried_over(before, failed)
    assert [(gpu.uuid, gpu.healthy) for gpu in now.gpus] == [("GPU-0", False), ("GPU-1", False)]
    assert {gpu.message for gpu in now.gpus} == {"the driver is gone"}
    assert now.fault == failed.fault
    assert carried_over(now, failed) == now
    assert carried_over(now, before) == before


def test_a_device_that_is_no_longer_listed() -> None:
    """It stays where it was, and says why it is not healthy; the others are as read."""
    first, second = gpus()
    now = carried_over(reading(), replace(reading(), gpus=(first,), links=()))
    assert now.gpus[0] == first
    assert (now.gpus[1].uuid, now.gpus[1].healthy) == (second.uuid, False)
    assert now.gpus[1].message == "the driver no longer lists it"


def test_a_device_that_the_kubelet_has_forgotten() -> None:
    """It is no longer told of, for the node has fewer; one that is unhealthy and there still is."""
    first, second = gpus()
    now = carried_over(reading(), replace(reading(), gpus=(first,), links=())).gpus
    for most, told in ((math.inf, 2), (2, 2), (1, 1), (0, 2)):
        assert known_to_the_kubelet(now, most) == list(now[:told])
    ill = second.model_copy(update={"healthy": False, "message": "XID 79"})
    assert known_to_the_kubelet([first, ill], 1) == [first, ill]


def test_a_device_whose_number_was_taken() -> None:
    """After another one has its number it cannot be told of any more."""
    other = Gpu(index=0, uuid="GPU-new")
    now = carried_over(reading(count=1), replace(reading(count=1), gpus=(other,)))
    assert now.gpus == (other,)


def test_what_is_taken_out_of_a_file_is_gone() -> None:
    """An administrator's edit is meant so, but not a file that cannot be read."""
    before = replace(reading(), source="file")
    after = replace(before, gpus=gpus(1), links=())
    assert carried_over(before, after) == after
    assert len(carried_over(before, failure(source="file")).gpus) == 2


def test_the_first_reading() -> None:
    """There is nothing to remember."""
    assert carried_over(None, failure()) == failure()
    assert carried_over(failure(), reading()) == reading()
