"""Gangs that demand devices: as many are placed as a search through all seatings finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product

from hypothesis import given, settings
from hypothesis import strategies as st

from fourleaf.model.devices.demand import DeviceDemand
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.devices.layout import Device, DeviceLayout, layout_of, numbers
from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang
from fourleaf.model.plan import PlanStatus
from fourleaf.model.resources import Resources, fits
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator import validate
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.explain.explain import explain
from tests.small import GIB, gang, node, one_leaf, snapshot

DEVICES = 4

LAYOUTS = (
    layout_of([Device(n) for n in range(DEVICES)]),
    layout_of([Device(n) for n in range(DEVICES)], [(0, 1, 100), (2, 3, 200)]),
    layout_of([Device(n, "X" if n % 2 else "Y", 10 * n) for n in range(DEVICES)], [(0, 3, 100)]),
    layout_of(
        [Device(n) for n in range(DEVICES)], [(*pair, 200) for pair in combinations(range(4), 2)]
    ),
)

DEMANDS = (
    None,
    None,
    DeviceDemand(contiguous=True),
    DeviceDemand(linked=0),
    DeviceDemand(linked=150),
    DeviceDemand(products=("X",)),
    DeviceDemand(memory=15),
    DeviceDemand(contiguous=True, linked=0),
)


@st.composite
def worlds(draw: st.DrawFn) -> Snapshot:
    """One leaf of one to three nodes, some devices held or unhealthy, and up to four gangs."""
    nodes, running = [], []
    for i in range(draw(st.integers(1, 3))):
        model = draw(st.sampled_from(LAYOUTS))
        mask = model.everything & ~draw(st.sampled_from([0, 0, 0, 0b1000]))
        offer = Resources(
            gpus=mask.bit_count(),
            cpu=9000,
            memory=9 * GIB,
            devices=FreeDevices(model, mask),
            pods=8,
        )
        nodes.append(node(f"a{i}", "a", allocatable=offer))
        held = draw(st.sets(st.sampled_from(numbers(mask)), max_size=2))
        if held:
            known = tuple(sorted(held)) if draw(st.integers(0, 5)) else ()
            held_by = Resources(gpus=len(held))
            running.append(RunningPod("ml", f"old{i}", f"a{i}", held_by, devices=known))
    gangs = []
    for i in range(draw(st.integers(1, 4))):
        count = draw(st.integers(1, 3))
        demand = draw(st.sampled_from(DEMANDS))
        if not draw(st.integers(0, 3)):
            chosen = draw(st.sets(st.integers(0, 3), min_size=count, max_size=count))
            demand = DeviceDemand(exact=tuple(sorted(chosen)))
        request = Resources(gpus=count, wants=demand)
        gangs.append(gang(f"g{i}", draw(st.integers(1, 3)), request=request))
    return snapshot(one_leaf(*nodes), *gangs, running=tuple(running))


def _free(world: Snapshot, name: str) -> tuple[DeviceLayout, list[int], int]:
    """The model of a node, the free devices of which one may choose, and those one may count."""
    offer = world.fabric.nodes[name].allocatable
    assert offer.devices is not None
    here = [pod for pod in world.running if pod.node == name]
    left = offer.gpus - sum(pod.request.gpus for pod in here)
    held = {n for pod in here for n in pod.devices}
    known = all(pod.devices for pod in here)
    return (
        offer.devices.layout,
        sorted(set(numbers(offer.devices.mask)) - held) if known else [],
        left,
    )


def _served(model: DeviceLayout, free: list[int], asks: list[Resources]) -> bool:
    if not asks:
        return True
    first, rest = asks[0], asks[1:]
    wants = first.wants or DeviceDemand()
    speeds = {(a, b): speed for a, b, speed in model.links}
    known = {one.number: one for one in model.devices}
    for chosen in combinations(free, first.gpus):
        good = (
            (not wants.exact or chosen == wants.exact)
            and (not wants.contiguous or chosen[-1] - chosen[0] == first.gpus - 1)
            and all(not wants.products or known[n].product in wants.products for n in chosen)
            and all(known[n].memory >= wants.memory for n in chosen)
            and (
                wants.linked is None
                or all(speeds.get(pair, -1) >= wants.linked for pair in combinations(chosen, 2))
            )
        )
        if good and _served(model, [n for n in free if n not in chosen], rest):
            return True
    return False


def _room(world: Snapshot, name: str, asks: list[Resources]) -> bool:
    model, free, left = _free(world, name)
    if sum(one.gpus for one in asks) > left:
        return False
    if all(one.wants is None for one in asks):
        return True
    return _served(model, free, asks)


def _ever(world: Snapshot, one: Gang) -> bool:
    """Whether the empty leaf would hold the gang."""
    request = one.roles[0].request
    return (
        sum(fits(n.allocatable, request) for n in world.fabric.nodes.values()) >= one.roles[0].size
    )


def best(world: Snapshot) -> int:
    """The most GPUs that can be placed, every gang whole, tried out seat by seat."""
    names = list(world.fabric.nodes)
    top = 0
    for some in product([False, True], repeat=len(world.gangs)):
        chosen = [one for one, yes in zip(world.gangs, some, strict=True) if yes]
        if not all(_ever(world, one) for one in chosen):
            continue
        worth = sum(one.gpus for one in chosen)
        pods = [one.roles[0].request for one in chosen for _ in one.roles[0].pods]
        if worth > top and _seat(world, names, pods, {name: [] for name in names}):
            top = worth
    return top


def _seat(
    world: Snapshot, names: list[str], pods: list[Resources], seated: dict[str, list[Resources]]
) -> bool:
    if not pods:
        return True
    for name in names:
        seated[name].append(pods[0])
        if _room(world, name, seated[name]) and _seat(world, names, pods[1:], seated):
            return True
        seated[name].pop()
    return False


@settings(max_examples=250, deadline=None)
@given(worlds())
def test_places_as_much_as_can_be(world: Snapshot) -> None:
    """Proven, legal, and worth what the search through all seatings finds; greedy is legal too."""
    plan = solve(world)
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    assert validate(world, plan) == ()
    gangs = {one.key: one for one in world.gangs}
    assert sum(gangs[placed.gang].gpus for placed in plan.placements) == best(world)
    assert validate(world, greedy_plan(world)) == ()


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_a_wish_for_links_counts_as_the_validator_says(world: Snapshot) -> None:
    """With wishes for links the objective is what the validator computes, and proven."""
    wish = DeviceDemand(prefers=150)
    gangs = tuple(
        replace(
            one, roles=tuple(replace(r, request=replace(r.request, wants=wish)) for r in one.roles)
        )
        for one in world.gangs
    )
    wishing = replace(world, gangs=gangs)
    plan = solve(wishing)
    assert plan is not None
    assert plan.status is PlanStatus.OPTIMAL
    assert validate(wishing, plan) == ()


def test_a_gang_that_prefers_links_goes_where_they_are() -> None:
    """Of two nodes alike in all else, the one whose free devices are linked."""
    bare = layout_of([Device(n) for n in range(4)])
    pairs = layout_of([Device(n) for n in range(4)], [(2, 3, 450_000)])
    for order in ((bare, pairs), (pairs, bare)):
        nodes = [
            node(
                f"a{i}",
                "a",
                allocatable=Resources(4, 9000, 9 * GIB, 8, devices=FreeDevices(model, 0b1111)),
            )
            for i, model in enumerate(order)
        ]
        wish = Resources(gpus=2, wants=DeviceDemand(prefers=300_000))
        plan = solve(snapshot(one_leaf(*nodes), gang("g", 1, request=wish)))
        assert plan is not None
        ((_, where),) = plan.placements[0].pods
        assert where == f"a{order.index(pairs)}"


def test_demands_that_differ_share_a_node() -> None:
    """A pair in a row, a linked pair: only one way to serve both, and it is found."""
    model = layout_of([Device(n) for n in range(4)], [(0, 2, 100)])
    offer = Resources(gpus=4, cpu=9000, memory=9 * GIB, pods=8, devices=FreeDevices(model, 0b1111))
    spare = layout_of([Device(n) for n in range(5)], [(1, 2, 100)])
    five = replace(offer, gpus=5, devices=FreeDevices(spare, 0b11111))
    row = gang("row", 1, request=Resources(gpus=2, wants=DeviceDemand(contiguous=True)))
    linked = gang("linked", 1, request=Resources(gpus=2, wants=DeviceDemand(linked=0)))
    for allocatable, both in ((offer, False), (five, True)):
        world = snapshot(one_leaf(node("a0", "a", allocatable=allocatable)), row, linked)
        plan = solve(world)
        assert plan is not None
        assert len(plan.placements) == (2 if both else 1)


def test_where_nothing_is_known_of_devices_the_agent_is_the_advice() -> None:
    """Links are demanded of a node without an inventory, and of one whose devices have none."""
    bare = Resources(gpus=8, cpu=9000, memory=9 * GIB, pods=8)
    told = replace(bare, gpus=4, devices=FreeDevices(LAYOUTS[0], 0b1111))
    for offer, advice in ((bare, "run the agent on a0"), (told, "demand no more of the devices")):
        linked = gang("g", 1, request=Resources(gpus=2, wants=DeviceDemand(linked=0)))
        world = snapshot(one_leaf(node("a0", "a", allocatable=offer)), linked)
        plan = explain(world, greedy_plan(world), Extensions())
        (waiting,) = plan.waiting
        assert dict(waiting.reason.counts)["devices"] == 1
        assert waiting.reason.unblock[0].startswith(advice)
