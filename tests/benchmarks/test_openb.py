"""The benchmark of shared GPUs: its packings, its policies and its books, on nodes made by hand."""

from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks import results
from benchmarks.openb.cluster import Cluster, Seat, breaches
from benchmarks.openb.figures import HEADER, columns, renewed, table, verdict
from benchmarks.openb.fragmentation import Fragmentation
from benchmarks.openb.load import Machine, Pod, arrivals
from benchmarks.openb.packing import Packing
from benchmarks.openb.policies.batches import Batches
from benchmarks.openb.policies.phantoms import Phantoms
from benchmarks.openb.policies.protocol import OneByOne
from benchmarks.openb.prices import prices
from benchmarks.openb.replay import POLICIES, Ground, replay
from benchmarks.results import markdown

GIB = 1024
BIG = Pod(12_000, GIB, 1)
HALF = Pod(6_000, GIB, 1, 500)
MOST = Pod(3_000, GIB, 1, 810)
PAIR = Pod(20_000, GIB, 2)
BARE = Pod(10_000, GIB)
KINDS = (BIG, HALF, MOST, PAIR, BARE)
OURS = "ours, one by one"
NODES = (Machine(24_000, 64 * GIB, 2, "A"), Machine(96_000, 64 * GIB, 4, "B"))


def ground(trace: tuple[Pod, ...]) -> Ground:
    """Two nodes of different shape, and the prices of `trace` there."""
    return Ground(NODES, trace, prices(trace, NODES, load=1.0))


def most(cpu: int, gpu: tuple[int, ...], worth: tuple[int, ...]) -> int:
    """The best packing of a room by trying every number of every kind on every device."""
    best = 0
    touched = [free for free in gpu if free]
    for pairs, bare in product(range(len(touched) // 2 + 1), range(cpu // BARE.cpu + 1)):
        # What one device can hold: nothing, a whole pod, or shares.
        options = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 2, 0), (0, 0, 1)]
        for choice in product(options, repeat=len(touched)):
            asked = [b * 1000 + h * 500 + m * 810 for b, h, m in choice]
            if any(a > free for a, free in zip(asked, touched, strict=True)):
                continue
            untouched = sum(1 for a, f in zip(asked, touched, strict=True) if not a and f == 1000)
            counts = (*(sum(c[i] for c in choice) for i in range(3)), pairs, bare)
            cpu_asked = sum(n * kind.cpu for n, kind in zip(counts, KINDS, strict=True))
            if 2 * pairs <= untouched and cpu_asked <= cpu:
                best = max(best, sum(n * w for n, w in zip(counts, worth, strict=True)))
    return best


@pytest.mark.parametrize("cpu", [0, 5_000, 6_000, 17_500, 24_000, 40_000])
@pytest.mark.parametrize("gpu", [(1000, 1000), (500, 1000, 0), (820, 490), (1000, 810, 1000), ()])
def test_a_packing_is_as_good_as_trying_everything(cpu: int, gpu: tuple[int, ...]) -> None:
    """Rooms with untouched, shared and full devices, little and much CPU, odd prices."""
    worth = (900, 510, 790, 2100, 333)
    assert Packing(KINDS, worth).value(cpu, gpu) == most(cpu, gpu, worth)


def test_the_best_packing_is_worth_its_value() -> None:
    """Which pods it holds adds up to what it says, within the node."""
    worth = (900, 510, 790, 2100, 333)
    packing = Packing(KINDS, worth)
    found = packing.best(50_000, 4)
    assert sum(worth[i] * n for i, n in found.items()) == packing.value(50_000, [1000] * 4)
    assert sum(KINDS[i].cpu * n for i, n in found.items()) <= 50_000


def test_generous_tables_bound_the_others() -> None:
    """Seven pods of 1.1 cores fit into 8 cores; whole steps of half a core say 5, and 8."""
    small = (Pod(1_100, GIB),)
    assert Packing(small, (1,)).value(8_000, ()) == 5
    assert Packing(small, (1,), step=100).value(8_000, ()) == 7
    assert Packing(small, (1,), generous=True).value(8_000, ()) == 8


def test_prices_tell_what_limits() -> None:
    """One node of 24 cores and two GPUs, asked for two pods of a GPU and 24 cores each.

    Only one fits, half of what is asked for, and the bound says so.
    """
    pod = Pod(24_000, GIB, 1)
    found = prices((pod,), NODES[:1], load=1.0, step=100, generous=True)
    assert found.reached == pytest.approx(1000)
    assert found.bound == pytest.approx(1000, rel=1e-3)
    assert found.most_allocated == pytest.approx(0.5, rel=1e-3)


def test_fragments_by_hand() -> None:
    """Half of the typical pods need a GPU and 12 cores, half a share of 500.

    6 cores and devices with 1000 and 400 left: all 1400 is lost to the first, 400 to the second.
    """
    measure = Fragmentation([BIG, HALF])
    assert measure.of(np.array([6_000]), np.array([[1000, 400]])).tolist() == [900.0]


def test_shares_stay_on_one_device() -> None:
    """Two devices with 600 free each have no room for one of 810, nor for a whole GPU."""
    cluster = Cluster(NODES[:1])
    for device in (0, 1):
        cluster.put(Pod(1_000, GIB, 1, 400), 0, device)
    assert not cluster.fits(MOST).any()
    assert not cluster.fits(BIG).any()
    assert cluster.fits(HALF).all()
    assert cluster.allocated == pytest.approx(0.4)
    with pytest.raises(ValueError, match="no room"):
        cluster.put(MOST, 0, 0)


def test_a_pod_stays_with_its_models() -> None:
    """One that names B has no room on A."""
    assert Cluster(NODES).fits(Pod(1, 1, 1, models=frozenset({"B"}))).tolist() == [False, True]


@pytest.mark.parametrize(
    ("seats", "said"),
    [
        ([Seat(HALF, 0, 0), Seat(MOST, 0, 0)], "a device"),
        ([Seat(BIG, 0, 0), Seat(BIG, 0, 1), Seat(Pod(0, 0, 1, 10), 0, 0)], "devices"),
        ([Seat(Pod(25_000, 0), 0, -1)], "CPU"),
        ([Seat(Pod(0, 65 * GIB), 0, -1)], "memory"),
        ([Seat(Pod(0, 0, 1, models=frozenset({"B"})), 0, 0)], "model"),
    ],
)
def test_what_is_impossible_is_found(seats: list[Seat], said: str) -> None:
    """Each law, broken alone; without it there is nothing to find."""
    assert breaches(NODES, seats) == [f"node 0: {said}"]
    assert breaches(NODES, seats[:1]) == [] or len(seats) == 1


def test_arrivals_end_with_the_load() -> None:
    """The whole trace first, then more; the last pod is the one that reaches the load."""
    trace = [BIG, HALF, BARE]
    found = arrivals(trace, capacity=4000, ratio=1.3, seed=1)
    assert Counter(found[:3]) == Counter(trace)
    assert sum(pod.demand for pod in found) >= 5200 > sum(pod.demand for pod in found[:-1])
    assert found == arrivals(trace, 4000, 1.3, 1)


def test_phantoms_keep_light_pods_for_where_cpu_is_short() -> None:
    """A GPU with 3 cores left is good for MOST alone: BIG has no room, HALF none either.

    So the pod that asks for little goes there, and leaves the node with CPU to others.
    """
    cluster = Cluster((Machine(3_000, GIB, 1), Machine(24_000, 4 * GIB, 2)))
    policy = OneByOne(cluster, Phantoms(cluster, Packing(KINDS, [pod.weight for pod in KINDS])))
    assert policy.place([MOST]) == []
    assert cluster.seats[0].node == 0


def test_a_batch_refuses_the_least() -> None:
    """One GPU free, a share of 500 first and a whole GPU after it in the same cycle.

    One by one the share takes it; the batch seats the whole one.
    """
    node = (Machine(24_000, 8 * GIB, 1),)
    worth = [pod.weight for pod in KINDS]
    one, batch = Cluster(node), Cluster(node)
    left = OneByOne(one, Phantoms(one, Packing(KINDS, worth))).place([HALF, BIG])
    assert (left, one.allocated) == ([BIG], 0.5)
    solver = Batches(batch, Phantoms(batch, Packing(KINDS, worth)))
    assert (solver.place([HALF, BIG]), batch.allocated) == ([HALF], 1.0)
    assert solver.unproven == 0


@pytest.mark.parametrize("name", POLICIES)
def test_waiting_is_as_good_as_being_refused(name: str) -> None:
    """Nobody leaves, so with or without a queue the same pods are seated, legally."""
    trace = KINDS * 3
    on = ground(trace)
    pods = arrivals(trace, 6000, 1.5, 3)
    refused, first = replay(name, on, pods, 3, cycle=4)
    queued, second = replay(name, on, pods, 3, cycle=4, queue=True)
    assert refused.refused > 0
    assert Counter(seat.pod for seat in first.seats) == Counter(seat.pod for seat in second.seats)
    assert refused.allocated == queued.allocated > refused.at_full - 1e-9
    assert (refused.breaches, queued.breaches) == (0, 0)
    assert len(columns(name, [refused])) == len(HEADER)


def test_the_verdict_compares_with_what_is_published() -> None:
    """A goal that is missed is said, and so is a baseline that is not the published one."""
    on = ground(KINDS)
    done = [replay(name, on, [HALF], 0, cycle=1)[0] for name in ("FGD", "ours, one by one")]
    assert verdict(done).splitlines() == [
        f"- FGD: {100 / 12 - 95.39:+.2f} points from what is published, not as published",
        "- ours, one by one: goal 95.4 %: no",
    ]


def test_all_that_is_published_has_a_row() -> None:
    """Six policies, of which one was run, and ours after them."""
    done = [replay(name, ground(KINDS), [HALF], 0, cycle=1)[0] for name in ("FGD", OURS)]
    rows = table({one.policy: columns(one.policy, done) for one in done}).splitlines()[2:9]
    cells = [row.strip("| ").split(" | ") for row in rows]
    names = ["Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD", OURS]
    assert [row[0] for row in cells] == names
    assert dict(zip(HEADER, cells[1], strict=True))["published"] == "90.85"
    assert cells[1].count("–") == len(HEADER) - 2
    assert cells[5] == columns("FGD", done)


def test_measured_rows_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows without a figure of ours are made anew, all else of the page stays as it was."""
    done = [replay(name, ground(KINDS), [HALF], 0, cycle=1)[0] for name in ("FGD", OURS)]
    measured = {one.policy: columns(one.policy, done) for one in done}
    old = f"Note.\n\n{markdown(list(HEADER), list(measured.values()))}\n\n- verdict"
    monkeypatch.setattr(results, "TABLES", tmp_path / "tables")
    results.write_tables("openb", "Title", old)
    results.write_tables("next", "Next", "Other.")
    file = tmp_path / "tables" / "openb.md"
    before = file.read_text()
    results.amend_tables("openb", renewed)
    assert file.read_text() == before.replace(old, f"Note.\n\n{table(measured)}\n\n- verdict")
    results.amend_tables("openb", renewed)
    assert file.read_text() == before.replace(old, f"Note.\n\n{table(measured)}\n\n- verdict")
    with pytest.raises(LookupError, match="other columns"):
        results.amend_tables("next", renewed)
