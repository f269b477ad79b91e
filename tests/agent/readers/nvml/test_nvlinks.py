"""Links: what joins which devices, and how fast."""

from __future__ import annotations

import pynvml  # type: ignore[import-untyped]
import pytest

from tests.agent.readers.nvml.fake import SWITCH, FakeGpu, FakeNvml
from tests.agent.readers.nvml.test_reader import FIRST, SECOND, THIRD, read

ROWS = (FIRST, SECOND, THIRD, "00010000:0A:00.0")


def found(nvml: FakeNvml) -> dict[tuple[int, int], float]:
    """Bandwidths of the links that a reading tells."""
    links = read(nvml).links
    assert {link.kind for link in links} <= {"NVLink"}
    return {(link.a, link.b): link.bandwidth_gbps for link in links}


def machine(*links: list[str]) -> FakeNvml:
    """Devices with these far ends each, in the order of their addresses."""
    return FakeNvml(*(FakeGpu(f"GPU-{i}", ROWS[i], links=each) for i, each in enumerate(links)))


def test_four_devices_joined_directly() -> None:
    """As in a server with four A100 on bridges: pairs with 4, 4 and 2 links of 25 GB/s."""
    nvml = machine(
        [SECOND] * 4 + [THIRD] * 2,
        [FIRST] * 4,
        [FIRST] * 2 + [ROWS[3]] * 4,
        [THIRD] * 4,
    )
    for gpu in nvml.gpus:
        gpu.version = pynvml.NVML_NVLINK_VERSION_3_1
    assert found(nvml) == {(0, 1): 100.0, (0, 2): 50.0, (2, 3): 100.0}


def test_switches_join_each_with_each() -> None:
    """18 links of 25 GB/s to the switches: 450 GB/s between any two of four."""
    nvml = machine(*([SWITCH] * 18 for _ in range(4)))
    pairs = [(a, b) for b in range(4) for a in range(b)]
    assert found(nvml) == dict.fromkeys(pairs, 450.0)


@pytest.mark.parametrize(
    ("version", "rate"),
    [
        (pynvml.NVML_NVLINK_VERSION_1_0, 20.0),
        (pynvml.NVML_NVLINK_VERSION_2_0, 25.0),
        (pynvml.NVML_NVLINK_VERSION_2_2, 25.0),
        (pynvml.NVML_NVLINK_VERSION_3_0, 25.0),
        (pynvml.NVML_NVLINK_VERSION_3_1, 25.0),
        (pynvml.NVML_NVLINK_VERSION_4_0, 25.0),
        (pynvml.NVML_NVLINK_VERSION_5_0, 50.0),
        (99, 50.0),
    ],
)
def test_rates(version: int, rate: float) -> None:
    """One link of each version, a version that is not known being as fast as the newest."""
    nvml = machine([SECOND], [FIRST])
    for gpu in nvml.gpus:
        gpu.version = version
    assert found(nvml) == {(0, 1): rate}


def test_the_drivers_rate_for_versions_to_come() -> None:
    """What the driver says of a version that is not known counts: 100,000 MB/s are 100 GB/s."""
    nvml = machine([SECOND], [FIRST])
    for gpu in nvml.gpus:
        gpu.version, gpu.speed = 99, 100_000
    assert found(nvml) == {(0, 1): 100.0}


def test_a_link_that_is_down_does_not_count() -> None:
    """Two of three links are up."""
    assert found(machine([SECOND, "", SECOND], [FIRST, FIRST, ""])) == {(0, 1): 50.0}


def test_ends_that_disagree() -> None:
    """The smaller sum counts; what only one end tells of is no link."""
    assert found(machine([SECOND] * 3, [FIRST] * 2)) == {(0, 1): 50.0}
    assert found(machine([SECOND], [SWITCH])) == {}
    assert found(machine([SWITCH] * 4, [SWITCH] * 2)) == {(0, 1): 50.0}


def test_a_pair_that_the_driver_says_is_apart() -> None:
    """Links that cannot be used for peer-to-peer traffic are none."""
    nvml = machine([SWITCH], [SWITCH], [SWITCH])
    nvml.no_p2p.add(frozenset({"GPU-0", "GPU-2"}))
    assert found(nvml) == {(0, 1): 25.0, (1, 2): 25.0}


def test_far_ends_that_are_no_devices_of_the_node() -> None:
    """A link to a processor, or to a device that is not listed, joins nothing."""
    assert found(machine(["0004:05:00.0"], ["0004:05:00.0"])) == {}


def test_a_driver_that_does_not_tell_what_is_at_the_far_end() -> None:
    """The address of the far end is enough."""
    nvml = machine([SECOND], [FIRST])
    nvml.broken["nvmlDeviceGetNvLinkRemoteDeviceType"] = pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
    assert found(nvml) == {(0, 1): 25.0}
