"""What running pods hold of names that decide nothing does not go to the solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from fourleaf.model.gang import Hold
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.relocation import Budget
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.batch.solve import solve
from fourleaf.solver.process import call_or_kill
from fourleaf.solver.process.client import SolverClient
from fourleaf.solver.process.messages import Request, encode_request
from fourleaf.solver.process.names_that_count import with_names_that_count
from tests.instances import random_snapshot
from tests.small import WHOLE, fabric, gang, node, one_leaf, snapshot
from tests.standing import outage, stood

PORT = "hostport/TCP/4000"
LISTED = Resources(extra=(("rdma/hca", 1),))
ODD = tuple((f"x.y/r{number:03}", 1) for number in range(400))
PORTS = tuple((f"hostport/TCP/{number}", 1) for number in range(5000, 5400))


def _holding(*extra: tuple[str, int], node: str = "a0") -> RunningPod:
    return RunningPod("other", f"p-{node}", node, Resources(extra=tuple(sorted(extra))))


def _held(world: Snapshot) -> list[str]:
    return [name for pod in world.running for name, _ in pod.request.extra]


def test_names_that_nothing_lists_or_asks_for_are_left_out() -> None:
    """Of 802 names two are left: one that a node lists, one that a waiting gang asks for."""
    where = one_leaf(
        node("a0", "a"), node("a1", "a", allocatable=replace(WHOLE, extra=(("rdma/hca", 4),)))
    )
    asking = gang("g", 1, request=Resources(extra=((PORT, 1),)))
    pod = _holding(*ODD, *PORTS, ("rdma/hca", 1), (PORT, 1))
    world = with_names_that_count(snapshot(where, asking, running=[pod]))
    assert _held(world) == [PORT, "rdma/hca"]
    assert world.free["a0"].extra == ((PORT, 0), ("rdma/hca", -1))


def test_a_gang_that_asks_later_finds_what_holds_it() -> None:
    """The same pod holds a name again once a gang asks for it, where the node has it no more."""
    world = snapshot(fabric([[1]]), gang("g", 1, gpus=1), running=[_holding((PORT, 1))])
    assert _held(with_names_that_count(world)) == []
    later = replace(world, gangs=(gang("h", 1, request=Resources(gpus=1, extra=((PORT, 1),))),))
    assert _held(with_names_that_count(later)) == [PORT]
    plan = solve(with_names_that_count(later))
    assert plan is not None
    assert plan.placements == ()


def test_what_gangs_that_are_held_ask_for_does_not_count() -> None:
    """A gang that is placed nowhere meets no port."""
    hold = Hold(ReasonKind.GATED, "waits", (), ())
    asking = gang("g", 1, request=Resources(extra=((PORT, 1),)))
    world = snapshot(fabric([[1]]), replace(asking, hold=hold), running=[_holding((PORT, 1))])
    assert _held(with_names_that_count(world)) == []


def test_what_gangs_that_stand_ask_for_counts() -> None:
    """One that may move meets a port elsewhere."""
    one = stood("s", ["a0"])
    role = replace(one.gang.roles[0], request=Resources(gpus=8, extra=((PORT, 1),)))
    moving = replace(one, gang=replace(one.gang, roles=(role,)))
    world = outage(fabric([[2]]), moving, running=[_holding(*ODD, (PORT, 1), node="a1")])
    assert set(_held(with_names_that_count(world))) == {PORT}


def test_what_is_worked_out_already_is_not_worked_out_again() -> None:
    """The sums by node lose the same names, and a snapshot without such names stays itself."""
    plain = snapshot(fabric([[1]]), gang("g", 1), running=[_holding()])
    assert with_names_that_count(plain) is plain
    world = replace(plain, running=(_holding(*ODD),))
    world.take_used({"a0": Resources(pods=7, extra=ODD)})
    assert with_names_that_count(world).used == {"a0": Resources(pods=7)}


@pytest.mark.parametrize("seed", range(60))
def test_the_plan_is_the_same(seed: int) -> None:
    """Placements, objective and bound do not depend on names that decide nothing."""
    world = random_snapshot(seed)
    other = tuple(
        replace(pod, request=replace(pod.request, extra=(*pod.request.extra, *ODD[:3])))
        for pod in world.running
    )
    found = solve(with_names_that_count(replace(world, running=other)))
    plan = solve(world)
    assert plan is not None
    assert found is not None
    assert found.placements == plan.placements
    assert (found.objective, found.bound) == (plan.objective, plan.bound)


@pytest.mark.parametrize(
    "ask",
    [
        lambda client, world: client.plan(world),
        lambda client, world: client.repair(world),
        lambda client, world: client.preempt(world, world.gangs[0].key),
        lambda client, world: client.defragment(world, Budget(1, 1)),
    ],
    ids=["plan", "repair", "preempt", "defragment"],
)
def test_no_such_name_is_sent(
    ask: Callable[[SolverClient, Snapshot], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is asked, the message is as long as without the names, but for a few bytes."""
    sent: list[int] = []

    def noted(request: Request) -> bytes:
        sent.append(len(encode_request(request)))
        return encode_request(request)

    monkeypatch.setattr(call_or_kill, "encode_request", noted)
    with SolverClient() as client:
        client.wait_until_ready()
        for extra in ((), (*ODD, *PORTS)):
            pods = [_holding(*extra, node=f"a{number}") for number in range(2)]
            ask(client, outage(fabric([[2]]), waiting=[gang("g", 1)], running=pods))
    before, after = sent
    assert after < before + 100
