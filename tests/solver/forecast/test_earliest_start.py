"""When gangs that wait could start: worked by hand, and against walking every moment."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations

import pytest

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang, GangKey, Hold
from fourleaf.model.running_gang import StandingGang
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.start import Start
from fourleaf.model.validator import validate
from fourleaf.solver.forecast.ask import ask_starts, asking_client, fits_alone
from fourleaf.solver.process.client import SolverClient
from tests.instances import random_snapshot
from tests.oracle.brute import Brute
from tests.oracle.seating import TooManyError
from tests.relocations import standing_snapshot
from tests.small import NOW, config, fabric, gang, plan, snapshot, with_bound
from tests.starts import earliest, expected_starts

BUDGET = 60_000
HOUR = 3600.0


def runs(name: str, nodes: Iterable[str], ends: float | None = None, **fields: float) -> Gang:
    """A gang whose members stand on whole `nodes`; `ends` is its duration from now on."""
    made = gang(name, len(tuple(nodes)), **fields)
    (role,) = made.roles
    bound = tuple(zip(role.pods, nodes, strict=True))
    return replace(made, roles=(replace(role, pods=(), bound=bound),), duration=ends)


def world(standing: Iterable[Gang], *waiting: Gang, leaves: tuple[int, ...] = (2, 2)) -> Snapshot:
    """Leaves of whole nodes, gangs that stand on them and end after their duration, and others."""
    stood = tuple(standing)
    running = [
        RunningPod(
            "ml",
            pod,
            node,
            role.request,
            one.key,
            ours=True,
            ends=None if one.duration is None else NOW + one.duration,
        )
        for one in stood
        for role in one.roles
        for pod, node in role.bound
    ]
    made = snapshot(fabric([leaves]), *waiting, running=running)
    return replace(made, standing=tuple(StandingGang(one) for one in stood))


def at(found: dict[GangKey, Start]) -> dict[str, float | None]:
    """Gang -> hours from now to its start."""
    return {
        key.name: None if one.at is None else (one.at - NOW) / HOUR for key, one in found.items()
    }


def hosts(start: Start | None) -> list[str]:
    """The nodes of its place."""
    assert start is not None
    assert start.placement is not None
    return [node for _, node in start.placement.pods]


def test_a_gang_that_fits_starts_now() -> None:
    """Two of four nodes are free in one leaf."""
    one = gang("w", 2)
    found = earliest(world([runs("a", ["a0"])], one), one.key)
    assert found is not None
    assert found.at == NOW
    assert hosts(found) == ["b0", "b1"]


def test_the_first_end_that_frees_a_legal_place() -> None:
    """A pair needs a leaf: ends after 1 h and 2 h free a node of each, only 3 h both of one."""
    stood = [
        runs("a", ["a0"], HOUR),
        runs("b", ["b0"], 2 * HOUR),
        runs("c", ["b1"], 3 * HOUR),
        runs("d", ["a1"]),
    ]
    one = gang("w", 2)
    found = earliest(world(stood, one), one.key)
    assert found is not None
    assert found.at == NOW + 3 * HOUR
    assert hosts(found) == ["b0", "b1"]


def test_who_should_have_ended_counts_as_gone_in_a_minute() -> None:
    """The gang ended half a minute ago, and still runs."""
    one = gang("w", 1)
    stood = [runs("a", ["a0", "a1"], -30.0), runs("b", ["b0", "b1"], HOUR)]
    found = earliest(world(stood, one), one.key)
    assert found is not None
    assert found.at == NOW + 60


def test_who_should_have_ended_long_ago_has_no_known_end() -> None:
    """An hour ago: its word is good for nothing, and the other gang ends in an hour."""
    one = gang("w", 1)
    stood = [runs("a", ["a0", "a1"], -HOUR), runs("b", ["b0", "b1"], HOUR)]
    found = earliest(world(stood, one), one.key)
    assert found is not None
    assert found.at == NOW + HOUR


def test_the_fewest_gangs_without_a_known_end_are_named() -> None:
    """In one leaf two gangs of a node each stand in the way, in the other one gang of two."""
    stood = [runs("a", ["a0"]), runs("b", ["a1"]), runs("c", ["b0", "b1"], priority=9)]
    one = gang("w", 2)
    found = earliest(world(stood, one), one.key)
    assert found == Start(one.key, waits_for=(GangKey("ml", "c"),))


def test_what_will_have_ended_is_not_waited_for() -> None:
    """Of the leaf's two gangs one has a known end, so only the other one is named."""
    stood = [runs("a", ["a0"], HOUR), runs("b", ["a1"]), runs("c", ["b0"]), runs("d", ["b1"])]
    one = gang("w", 2)
    found = earliest(world(stood, one), one.key)
    assert found == Start(one.key, waits_for=(GangKey("ml", "b"),))


def test_strangers_without_an_end_cannot_be_waited_for() -> None:
    """Pods that are no gang of ours hold a node of each leaf for good."""
    one = gang("w", 2)
    made = world([], one)
    strangers = tuple(RunningPod("x", n, n, one.roles[0].request) for n in ("a0", "b0"))
    assert earliest(replace(made, running=strangers), one.key) == Start(one.key)


def test_a_gang_on_hold_has_no_start() -> None:
    """What keeps it from being planned is told instead."""
    one = gang("w", 1, hold=Hold("Gated", "gate"))
    assert earliest(world([], one), one.key) == Start(one.key, hold=one.hold)


def test_each_gang_leaves_the_places_of_those_before_it_alone() -> None:
    """The first waits an hour for leaf a; whoever ends before may use what is free of it."""
    stood = [runs("r", ["a0"], HOUR), runs("s", ["b0", "b1"])]
    first = gang("first", 2, priority=9, duration=2 * HOUR)
    short = gang("short", 1, created=NOW - 3, duration=HOUR)
    long = gang("long", 1, created=NOW - 2, duration=HOUR + 1)
    ever = gang("ever", 1, created=NOW - 1)
    found = expected_starts(world(stood, ever, long, short, first))
    assert at(found) == {"first": 1.0, "short": 0.0, "long": 3.0, "ever": 3.0}
    assert hosts(found[first.key]) == ["a0", "a1"]
    assert hosts(found[short.key]) == ["a1"]
    assert sorted(hosts(found[long.key]) + hosts(found[ever.key])) == ["a0", "a1"]


def test_a_gang_whose_turn_has_no_end_is_waited_for_too() -> None:
    """The first takes the only leaf for ever, so the second waits for it."""
    first, second = gang("first", 2, priority=9), gang("second", 2)
    found = expected_starts(world([], second, first, leaves=(2,)))
    assert at(found) == {"first": 0.0, "second": None}
    assert found[second.key].waits_for == (first.key,)


def test_a_quota_is_free_once_its_holders_have_ended() -> None:
    """Nodes are free, but the namespace may have two at a time, and has them for an hour."""
    stood = [runs("a", ["a0"], HOUR), runs("b", ["a1"])]
    one = gang("w", 1)
    made = world(stood, one)
    limits = config(namespaces={"ml": {"gpuQuota": 16}})
    found = earliest(replace(made, config=limits), one.key)
    assert found is not None
    assert found.at == NOW + HOUR


def test_members_that_run_hold_their_gang_in_place() -> None:
    """One of a pair runs in leaf a, whatever its end; the other joins it there, after 2 h."""
    one, bound = with_bound(gang("w", 2), "a0")
    made = world([runs("a", ["a1"], 2 * HOUR)], one)
    own = tuple(replace(pod, ours=True, ends=NOW + HOUR) for pod in bound)
    found = earliest(replace(made, running=(*made.running, *own)), one.key)
    assert found is not None
    assert (found.at, hosts(found)) == (NOW + 2 * HOUR, ["a1"])


def dated(seed: int, waiting: int = 2) -> Snapshot:
    """A tiny snapshot whose running pods end at a few moments or never."""
    dice = random.Random(f"ends {seed}")  # noqa: S311
    made = standing_snapshot(seed, dead=False, waiting=waiting)
    ends: dict[object, float | None] = {}

    def end(pod: RunningPod) -> float | None:
        key = pod.gang or pod.name
        return ends.setdefault(key, dice.choice([None, -5.0, 30.0, 600.0, 600.0, 900.0]))

    running = [
        replace(pod, ends=None if (after := end(pod)) is None else made.now + after)
        for pod in made.running
    ]
    gangs = [replace(one, duration=dice.choice([None, 20.0, 400.0])) for one in made.gangs]
    return replace(made, running=tuple(running), gangs=tuple(gangs))


Held = tuple[RunningPod, float, float | None]
"""A pod, from when on it holds room, and until when (None: for ever)."""


def held(made: Snapshot) -> list[Held]:
    """All running pods."""
    return [
        (pod, made.now, pod.ends if pod.ends is None or pod.ends > made.now else made.now + 60)
        for pod in made.running
    ]


def of_start(one: Gang, start: Start) -> list[Held]:
    """The pods of a gang that is expected to start."""
    assert start.at is not None
    assert start.placement is not None
    end = None if one.duration is None else start.at + one.duration
    nodes = dict(start.placement.pods)
    return [
        (
            RunningPod(
                one.key.namespace,
                pod,
                nodes[pod],
                role.request,
                one.key,
                bandwidth=one.bandwidth,
            ),
            start.at,
            end,
        )
        for role in one.roles
        for pod in role.pods
    ]


def at_moment(made: Snapshot, pods: list[Held], one: Gang, moment: float) -> Snapshot:
    """What stands beside `one` if it starts at `moment`, or comes while it runs."""
    until = None if one.duration is None else moment + one.duration
    beside = tuple(
        pod
        for pod, start, end in pods
        if (end is None or end > moment) and (start <= made.now or until is None or start < until)
    )
    return replace(made, running=beside, gangs=(one,), standing=())


def fits(made: Snapshot) -> bool:
    """Whether brute force finds a place for the one gang that waits."""
    return bool(Brute(made, budget=BUDGET).best_who())


def first_moment(made: Snapshot, pods: list[Held], one: Gang) -> float | None:
    """The first moment of all at which the gang fits."""
    moments = sorted({made.now, *(end for _, _, end in pods if end is not None)})
    return next((m for m in moments if fits(at_moment(made, pods, one, m))), None)


def fewest_to_wait_for(made: Snapshot, one: Gang) -> int | None:
    """How many standing gangs without an end have to go, by trying all sets of them."""
    endless = tuple(pod for pod in made.running if pod.ends is None)
    there = {pod.gang for pod in endless if pod.ours}
    for count in range(len(there) + 1):
        for gone in combinations(sorted(there, key=str), count):
            left = tuple(pod for pod in endless if not (pod.ours and pod.gang in gone))
            if fits(replace(made, running=left, gangs=(one,), standing=())):
                return count
    return None


@pytest.mark.no_cover
@pytest.mark.parametrize("block", range(8))
def test_the_earliest_start_is_that_of_brute_force(block: int) -> None:
    """On fifty seeds: moment by moment, and set by set of those who must be waited for."""
    compared = 0
    for seed in range(block * 50, block * 50 + 50):
        made = dated(seed)
        for one in made.gangs:
            try:
                moment = first_moment(made, held(made), one)
                count = None if moment is not None else fewest_to_wait_for(made, one)
            except TooManyError:
                continue
            found = earliest(made, one.key)
            assert found is not None
            assert found.proven
            assert (seed, found.at) == (seed, moment)
            assert (seed, len(found.waits_for)) == (seed, count or 0)
            if found.at is not None:
                there = at_moment(made, held(made), one, found.at)
                assert placed_legally(there, found)
            compared += 1
    assert compared >= 95


def placed_legally(there: Snapshot, found: Start) -> bool:
    """Whether the validator accepts the place of the one gang that waits."""
    assert found.placement is not None
    nodes = [node for _, node in found.placement.pods]
    named = plan(there, {found.gang.name: nodes})
    return not [one for one in validate(there, named) if one.gang is not None]


@pytest.mark.no_cover
@pytest.mark.parametrize("block", range(4))
def test_starts_in_order_are_those_of_brute_force(block: int) -> None:
    """On fifty seeds: each gang starts as early as the places of those before it allow."""
    compared = 0
    for seed in range(block * 50, block * 50 + 50):
        made = dated(seed, waiting=4)
        pods = held(made)
        starts = expected_starts(made)
        for one in sorted(made.gangs, key=lambda g: (-g.priority, g.created, g.key)):
            found = starts[one.key]
            try:
                assert (seed, found.at) == (seed, first_moment(made, pods, one))
            except TooManyError:
                break
            if found.at is not None:
                assert placed_legally(at_moment(made, pods, one, found.at), found)
                pods += of_start(one, found)
            compared += 1
    assert compared >= 190


@pytest.mark.parametrize("block", range(4))
def test_what_is_found_without_the_solver_is_so(block: int) -> None:
    """On a hundred seeds a quick answer is that of brute force, and most answers are quick."""
    quick = 0
    total = 0
    for seed in range(block * 100, block * 100 + 100):
        made = random_snapshot(seed)
        for one in made.gangs:
            alone = replace(made, gangs=(one,))
            found = fits_alone(alone, Extensions())
            total += 1
            if found is None:
                continue
            try:
                assert (seed, one.key, found) == (seed, one.key, fits(alone))
            except TooManyError:
                continue
            quick += 1
    assert quick > 0.6 * total


def test_what_no_solver_has_said_is_not_proven() -> None:
    """The one node is held for ever: who must go is not known while no process solves."""
    one = gang("w", 1)
    made = world([runs("a", ["a0"])], one, leaves=(1,))
    with SolverClient("tests.solver.no_such_worker") as broken:
        assert ask_starts(broken, made) == {one.key: Start(one.key, proven=False)}
    with asking_client() as client:
        known = Start(one.key, waits_for=(GangKey("ml", "a"),))
        assert ask_starts(client, made) == {one.key: known}


def test_the_solver_process_is_asked_for_the_same() -> None:
    """Moments and those who are waited for do not depend on which process solves."""
    with asking_client() as client:
        for seed in range(25):
            made = dated(seed)
            asked, own = ask_starts(client, made), expected_starts(made)
            assert [(key, one.at, one.proven) for key, one in asked.items()] == [
                (key, one.at, one.proven) for key, one in own.items()
            ]
            assert [len(one.waits_for) for one in asked.values()] == [
                len(one.waits_for) for one in own.values()
            ]
