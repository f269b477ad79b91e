"""The benchmark of throughput loads what it says and finds what is wrong."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.throughput.bare import Bare
from benchmarks.throughput.contenders import event_to_model
from benchmarks.throughput.cost import family, peak_mib
from benchmarks.throughput.figures import percentile, phase_rows, request_rows, rows, wait_rows
from benchmarks.throughput.judge import DEVICES, Verdict, judge
from benchmarks.throughput.load import CASES, Gang, fabric, gangs, pod
from benchmarks.throughput.turn import Turn

NODES = fabric(64)


def bound(name: str, node: int, devices: str = "") -> dict[str, Any]:
    """A pod as the API shows it once it is bound to node number `node`."""
    body = pod(name, "nobody", annotations={DEVICES: devices} if devices else None)
    body["spec"]["nodeName"] = f"gpu-{node}"
    return body


def placed(size: int, *nodes: int) -> Verdict:
    """What is found of one gang of `size` whose pods stand on these nodes."""
    gang = Gang("g", size)
    pods = [bound(name, node) for name, node in zip(gang.pods(), nodes, strict=False)]
    return judge(NODES, pods, [gang])


@pytest.mark.parametrize(
    ("case", "count", "pods"),
    [("64", 15, 61), ("1000", 226, 950), ("1000-shuffled", 226, 950), ("5000", 1090, 4750)],
)
def test_a_case_fills_95_percent_and_fits(case: str, count: int, pods: int) -> None:
    """The gangs are those that the plan names; aligned, from the largest down, all find room."""
    found = gangs(CASES[case], 3)
    assert (len(found), sum(gang.size for gang in found)) == (count, pods)
    assert round(pods / CASES[case].nodes, 2) == 0.95
    # Aligned blocks of a power of two, the largest first, never leave a hole before them.
    start = 0
    for size in sorted((gang.size for gang in found), reverse=True):
        spine_end = (start // 32 + 1) * 32
        assert start + size <= min(spine_end, CASES[case].nodes)
        assert start % size == 0
        start += size


def test_the_largest_come_first_unless_shuffled() -> None:
    """A seed shuffles the order of one case, the same way each time, and of no other."""
    sizes = [gang.size for gang in gangs(CASES["1000"], 5)]
    assert sizes == sorted(sizes, reverse=True)
    shuffled = CASES["1000-shuffled"]
    assert gangs(shuffled, 5) == gangs(shuffled, 5) != gangs(shuffled, 6)


@pytest.mark.parametrize(
    ("size", "nodes"),
    [
        (1, [7]),
        (2, [5, 6]),
        (4, [8, 9, 10, 11]),
        (8, range(4, 12)),
        (16, range(8, 24)),
        (5, [4, 5, 6, 7, 8]),
    ],
)
def test_legal_places(size: int, nodes: list[int]) -> None:
    """A part of a leaf, a leaf, adjacent leaves that need not be aligned, a leaf and a rest."""
    assert placed(size, *nodes) == Verdict()


@pytest.mark.parametrize(
    ("size", "nodes", "why"),
    [
        (2, [3, 4], "2 nodes in 2 leaves instead of 1"),
        (8, [0, 1, 2, 3, 8, 9, 10, 11], "leaves [0, 2] are not adjacent"),
        (8, range(28, 36), "leaves [7, 8] are not of one spine"),
        (5, [2, 3, 4, 5, 6], "leaves [0, 1] are not complete"),
    ],
)
def test_wrong_leaves_are_found(size: int, nodes: list[int], why: str) -> None:
    """Too many leaves, a gap, two spines, and more than one leaf in part are each named."""
    assert placed(size, *nodes).wrong_leaves == (f"g: {why}",)


def test_a_partial_gang_is_a_breach_and_one_left_out_is_none() -> None:
    """Three pods of four are a breach; no pod of four is only left out."""
    assert placed(4, 0, 1, 2).breaches == ["g: 3 of 4 pods are bound"]
    nothing = placed(4)
    assert (nothing.left_out, nothing.breaches) == (("g",), [])


def test_a_device_held_twice_and_a_node_too_full_are_found() -> None:
    """Two pods of a whole node on one node hold 16 of its 8 GPUs, and device 3 twice."""
    pods = [bound("a-0", 0, "2,3"), bound("b-0", 0, "3,4"), bound("c-0", 1, "3")]
    verdict = judge(NODES, pods, [Gang(name, 1) for name in "abc"])
    assert verdict.shared_devices == ("gpu-0: device 3 is held 2 times",)
    assert verdict.oversubscribed == ("gpu-0: 16 GPUs of 8 are held",)
    assert len(verdict.breaches) == 2


def test_percentiles_are_values_that_occurred() -> None:
    """The nearest rank: of 1 to 10 the 50th is 5, the 90th 9 and the 99th 10."""
    values = list(range(10, 0, -1))
    assert [percentile(values, share) for share in (0.5, 0.9, 0.99)] == [5, 9, 10]
    assert math.isnan(percentile([], 0.5))


def turn(seconds: float, pods: int = 10) -> Turn:
    """A turn that bound `pods` in `seconds`, half of them creating."""
    return Turn(
        pods=pods,
        gangs=5,
        created=seconds / 2,
        bound=seconds,
        waits={2: [0.25, 0.5]},
        requests=Counter({"POST pods/binding": pods, "GET rare": 0}),
        cpu=1.0,
        rest_cpu=2.0,
        others_cpu=seconds / 2,
        memory=(100.0, 50.0),
        wire=10240,
        phases=Counter({"solve": 0.5, "cycles": 2}),
        verdict=Verdict(left_out=("g1",)),
    )


def test_figures_are_medians_and_shares() -> None:
    """Of 2, 5 and 10 s the median is 5: 2 pods/s, a fifth of 10 bare bindings/s, twice native."""
    table = {
        name: values
        for name, *values in rows(
            {"ours": [turn(10), turn(2), turn(5)], "native": [turn(10)]}, [Bare(10, 1.0, 1.0)]
        )
    }
    assert table["s, first create to last binding"] == ["5.00", "10.00"]
    assert table["pods/s"] == ["2", "1"]
    assert table["gangs/s"] == ["0.8", "0.4"]
    assert table["requests a pod"] == ["1.00", "1.00"]
    assert table["KiB on the wire a pod"] == ["1.0", "1.0"]
    assert table["peak MiB"] == ["150 (100 + 50)", "150 (100 + 50)"]
    assert table["cores busy with something else"] == ["0.50", "0.50"]
    assert table["gangs left out"] == ["3", "1"]
    assert table["share of bare bindings' rate, from the first create"] == ["20%", "10%"]
    assert table["share of bare bindings' rate, from the last create"] == ["40%", "20%"]
    assert table["rate, times native's"] == ["2.0", "1.0"]


def test_waits_requests_and_phases() -> None:
    """One row a size and a request that occurred; what no cycle took is told as `between`."""
    both = {"ours": [turn(4)], "native": [turn(2)]}
    assert wait_rows(both) == [["2", "0.25 / 0.50 / 0.50", "0.25 / 0.50 / 0.50"]]
    assert request_rows(both) == [["POST pods/binding", "1.00", "1.00"]]
    assert phase_rows(both["ours"]) == [["solve", "0.50"], ["cycles", "2"], ["between", "3.50"]]


def test_event_to_model_counts_between_two_readings() -> None:
    """Of ten new events nine took at most 1 ms and one at most 5; older ones do not count."""

    def said(first: int, second: int) -> str:
        name = "fourleaf_event_to_model_seconds_bucket"
        return f'{name}{{le="0.001"}} {first}.0\n{name}{{le="0.005"}} {second}.0\n'

    assert event_to_model(said(5, 50), said(14, 60)) == {"p50": 0.001, "p90": 0.001, "p99": 0.005}


def test_costs_of_this_process() -> None:
    """A process is of its own family and has held some memory; one that is not there, none."""
    pid = int(Path("/proc/self").resolve().name)
    assert pid in family(pid)
    assert peak_mib(pid) > 1
    assert peak_mib(2**22 + 1) == 0.0
