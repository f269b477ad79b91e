"""Replies survive the way up; anything else is refused quickly and without being run."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move, Phantom, Placement, Plan, PlanStatus, Stage, Waiting
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.relocation import DefragPlan, FreeLeaves, PreemptionPlan, RepairPlan, Victim
from fourleaf.solver.process.call_or_kill import as_needed
from fourleaf.solver.process.framing import HEADER, Inbox, Size, WireError
from fourleaf.solver.process.messages import (
    BatchTask,
    Outcome,
    RepairTask,
    Reply,
    Request,
    decode_reply,
    decode_request,
    dynamic_part,
    encode_reply,
    encode_request,
)
from tests.small import fabric
from tests.solver.process.faulty_worker import EVIL_MARK, Evil
from tests.solver.process.stand_ins import snapshot
from tests.standing import outage, stood

A, B = GangKey("ml", "a"), GangKey("ml", "b")
PLAN = Plan(
    PlanStatus.FEASIBLE,
    (Placement(A, (("a-0", "n0"), ("a-1", "n1")), (("topologyAlignment", -3),)),),
    (
        Waiting(
            B,
            Reason(
                ReasonKind.NO_FREE_CAPACITY,
                "detail",
                (("free", 1),),
                (NearMiss("leaf", 1, 2, "GPUs", (("n0", "p"),)),),
                ("wait",),
            ),
        ),
    ),
    (Phantom(2, 8, ("n2", "n3"), 7),),
    (Move("ml", "p", "n0", "n1", "why"),),
    (Stage("who", False, 10**30, 10**31, 0.25),),
    5,
    6,
    0.1,
    0.2,
    3,
    "na\u00efve",
)


def payload(reply: Reply) -> bytes:
    """Take the frame off a reply."""
    return encode_reply(reply)[HEADER.size :]


def test_every_field_of_a_plan_survives() -> None:
    """A plan with all there can be in it comes out as it went in."""
    reply = Reply(4, plan=PLAN)
    assert decode_reply(payload(reply), Size()) == reply


MOVES = (Move("ml", "p", "n0", "n1", "makes room"),)
FOUND: dict[str, Any] = {
    "stages": (Stage("moves", False, 4, 2, 0.5),),
    "seconds": 0.1,
    "peak_memory_mib": 4,
    "note": "note",
}
OUTCOMES: list[Outcome] = [
    PLAN,
    RepairPlan(
        PlanStatus.FEASIBLE, PLAN.placements, MOVES, PLAN.waiting, (A,), (B,), 1, 2, 3, **FOUND
    ),
    PreemptionPlan(
        PlanStatus.OPTIMAL, A, PLAN.placements[0], (Victim(B, 3, (("b-0", "n0"),), 7),), None,
        **FOUND,
    ),
    PreemptionPlan(PlanStatus.OPTIMAL, A, reason=PLAN.waiting[0].reason),
    DefragPlan(
        PlanStatus.FEASIBLE, MOVES, PLAN.placements, PLAN.waiting, FreeLeaves(3, 1, 0),
        FreeLeaves(4, 2, 1), 1, 2, 3, **FOUND,
    ),
]  # fmt: skip


@pytest.mark.parametrize("outcome", OUTCOMES, ids=lambda outcome: type(outcome).__name__)
def test_every_kind_of_plan_survives(outcome: Outcome) -> None:
    """Whatever the process was asked for comes out as it went in, and as what it is."""
    reply = decode_reply(payload(Reply.of(4, outcome)), Size())
    assert reply.outcome == outcome
    assert type(reply.outcome) is type(outcome)


def test_batches_travel_without_standing_gangs() -> None:
    """A batch sums up all pods; a repair keeps those apart that it may have to move."""
    state = outage(fabric([[1]]), *[stood(f"s{i}", ["a0"], gpus=0) for i in range(3)])
    batch, repair = as_needed(BatchTask(), state), as_needed(RepairTask(), state)
    assert batch.standing == ()
    assert len(batch.running) == 1
    assert repair.standing == state.standing
    assert repair.running == state.running


def test_size_allows_for_every_move() -> None:
    """A plan that moves every pod of many gangs, with the longest names, is let through."""
    name = "p" * 253
    gangs = [stood(f"g{i}", ["a0"] * 50, gpus=0) for i in range(200)]
    state = outage(fabric([[1]]), *gangs)
    moves = tuple(
        Move("n" * 63, name, name, name, "its gang lost members") for _ in range(200 * 50)
    )
    message = payload(Reply(1, repair=RepairPlan(PlanStatus.OPTIMAL, moves=moves)))
    size = Size.of_plan(state)
    assert len(message) <= size.length
    assert decode_reply(message, size).repair is not None


@given(st.binary(max_size=200))
def test_garbage_is_refused_by_name(data: bytes) -> None:
    """Random bytes raise nothing but `WireError`."""
    try:
        decode_reply(data, Size())
    except WireError:
        return


def test_pickle_is_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pickle that would run code in the parent is no message at all."""
    mark = tmp_path / "mark"
    monkeypatch.setenv(EVIL_MARK, str(mark))
    poison = pickle.dumps(Evil(), protocol=5)
    with pytest.raises(WireError):
        decode_reply(poison, Size())
    assert not mark.exists()
    pickle.loads(poison)  # noqa: S301 - the poison works where it is swallowed
    assert mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        '{"plan": null}',
        '{"call": "1"}',
        '{"call": 1.5}',
        '{"call": 1, "plan": {"status": "BEST", "placements": []}}',
        '{"call": 1, "plan": {"status": "OPTIMAL", "placements": [{}]}}',
        '{"call": 1, "plan": {"status": "OPTIMAL", "placements": [], "objective": "5"}}',
        "[" * 5000,
    ],
)
def test_wrong_types_are_refused(text: str) -> None:
    """A reply whose fields have other types than declared is refused."""
    with pytest.raises(WireError):
        decode_reply(text.encode(), Size())


def test_more_values_than_a_plan_can_have_are_refused_unread() -> None:
    """Reading cannot be interrupted, so the number of values is bounded before."""
    with pytest.raises(WireError, match="values came"):
        decode_reply(b"[" + b"1," * 20_000 + b"1]", Size())


def test_first_wrong_item_ends_the_reading() -> None:
    """Many wrong items cost no more than one: only the first is named."""
    text = b'{"call": 1, "plan": {"status": "OPTIMAL", "placements": [{},{},{}]}}'
    with pytest.raises(WireError, match=r"placements\.0\.gang"):
        decode_reply(text, Size())


def test_messages_are_cut_wherever_the_pipe_splits_them() -> None:
    """Two messages that come byte by byte are two messages."""
    inbox = Inbox()
    found = []
    for byte in encode_reply(Reply(1, nothing=True)) + encode_reply(Reply(2, failure="x")):
        inbox.feed(bytes([byte]))
        message = inbox.next()
        if message is not None:
            found.append(decode_reply(message, Size()))
    assert found == [Reply(1, nothing=True), Reply(2, failure="x")]


def test_announced_length_is_bounded() -> None:
    """A message that says it is too long is refused before it has come."""
    inbox = Inbox()
    inbox.feed(HEADER.pack(2**40))
    with pytest.raises(WireError, match="announced"):
        inbox.next()


def test_size_bounds_honest_plans() -> None:
    """A plan that seats everybody under the longest names stays far below its bound."""
    name = "x" * 253
    state = snapshot(*(f"{name[:-3]}{i:03}" for i in range(200)))
    keys = [gang.key for gang in state.gangs]
    placements = tuple(
        Placement(key, ((name, name),), tuple((f"term-{i}", 1000) for i in range(9)))
        for key in keys
    )
    message = payload(Reply(1, plan=Plan(PlanStatus.OPTIMAL, placements)))
    size = Size.of_plan(state)
    assert len(message) < size.length / 2
    assert decode_reply(message, size).plan is not None


def test_request_carries_the_snapshot_without_its_caches() -> None:
    """The worker gets equal data; what the parent has cached in the fabric stays behind."""
    state = snapshot("a")
    assert state.fabric.nodes
    sent = Request(1, 1, state.fabric, dynamic_part(state), True, 2.0)
    got = decode_request(encode_request(sent)[HEADER.size :])
    assert got.fabric == state.fabric
    assert "nodes" not in vars(got.fabric)
    assert replace(state, **got.rest) == state
