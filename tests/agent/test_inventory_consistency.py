"""What an inventory says against itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from fourleaf.agent.inventory_consistency import MOST_LINKS, examined
from fourleaf.model.crds.node_status import Gpu, Link
from tests.agent.made import failure, gpus, mesh, process, reading


def link(a: int, b: int, bandwidth: float = 450.0) -> Link:
    """A link."""
    return Link(a=a, b=b, bandwidth_gbps=bandwidth)


def reasons(**parts: Any) -> list[str]:
    """The reasons of the faults of two devices with other parts."""
    return [fault.reason for fault in examined(replace(reading(), **parts)).faults]


def test_nothing_is_wrong() -> None:
    """A sound inventory stays as it is."""
    sound = reading(process(0), count=8)
    assert examined(sound).reading == sound
    assert examined(sound).faults == ()


@pytest.mark.parametrize(
    ("parts", "reason"),
    [
        ({"gpus": (), "links": ()}, "NoDevices"),
        ({"gpus": (Gpu(index=0, uuid="a"), Gpu(index=1, uuid="a"))}, "DuplicateUUID"),
        (
            {"gpus": (Gpu(index=0, uuid="a"), Gpu(index=0, uuid="b")), "links": ()},
            "DuplicateIndex",
        ),
        ({"links": (link(1, 1),)}, "SelfLink"),
        ({"links": (link(0, 7),)}, "UnknownDevice"),
        ({"links": (link(0, 1, 450), link(1, 0, 300))}, "AsymmetricLinks"),
        (
            {"links": (link(0, 1), Link(a=0, b=1, kind="XGMI", bandwidth_gbps=450))},
            "AsymmetricLinks",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong(parts: dict[str, Any], reason: str) -> None:
    """Each has a reason of its own."""
    assert reasons(**parts) == [reason]


def test_what_the_schema_takes_is_published_as_it_is() -> None:
    """Two devices with one UUID are both shown; of two with one index, the first."""
    twins = (Gpu(index=0, uuid="a"), Gpu(index=1, uuid="a"))
    assert examined(replace(reading(), gpus=twins)).reading.gpus == twins
    clash = (Gpu(index=0, uuid="a"), Gpu(index=0, uuid="b"), Gpu(index=1, uuid="c"))
    assert [gpu.uuid for gpu in examined(replace(reading(), gpus=clash)).reading.gpus] == ["a", "c"]


def test_links_are_published_once_and_upwards() -> None:
    """The two ends of a link that agree are one link; where they do not, the slower counts."""
    found = examined(replace(reading(), links=(link(0, 1), link(1, 0))))
    assert (found.reading.links, found.faults) == ((link(0, 1),), ())
    found = examined(replace(reading(), links=(link(1, 0, 300), link(0, 1, 450))))
    assert found.reading.links == (link(0, 1, 300),)


def test_links_and_processes_of_devices_that_are_not_there_are_left_out() -> None:
    """What names device 7 of two cannot be published."""
    found = examined(replace(reading(process(7), process(1)), links=(link(0, 7), link(0, 1))))
    assert found.reading.links == (link(0, 1),)
    assert [one.gpu for one in found.reading.processes] == [1]


def test_more_links_than_an_object_holds() -> None:
    """All of 128 devices fit, 8128; of 200 devices, 19,900, none is published."""
    assert examined(reading(count=128)).faults == ()
    crowd = examined(replace(reading(), gpus=gpus(200), links=mesh(200)))
    assert [fault.reason for fault in crowd.faults] == ["TooManyLinks"]
    assert crowd.reading.links == ()
    assert len(mesh(128)) <= MOST_LINKS < len(mesh(200))


def test_a_failed_reading_has_its_own_reason_alone() -> None:
    """That nothing was read is not also told as having no devices."""
    assert [fault.reason for fault in examined(failure()).faults] == ["DriverUnavailable"]
