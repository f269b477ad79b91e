"""What makes a node dead, and what makes it well again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.node_health.judge import (
    Cause,
    Judgement,
    NodeVerdict,
    Signs,
    SilenceLimits,
    is_suspect,
    judge,
)

LIMITS = SilenceLimits(silent=20, well=30)
WELL = Judgement()
SILENT = Signs(silence=21, answers=False)


@pytest.mark.parametrize(
    ("signs", "cause"),
    [
        (Signs(), None),
        (Signs(there=False), None),
        (Signs(there=False, deleted=True), Cause.DELETED),
        (Signs(out_of_service=True), Cause.OUT_OF_SERVICE),
        (Signs(broken="GPUUnhealthy"), Cause.CONDITION),
        (SILENT, Cause.SILENT),
        (replace(SILENT, answers=True), None),
        (replace(SILENT, answers=None), None),
        (replace(SILENT, silence=19.9), None),
        (replace(SILENT, silence=13, leaf_dead=True), Cause.SILENT),
        (replace(SILENT, silence=11, leaf_dead=True), None),
        (Signs(ready="Unknown", silence=None), Cause.UNREACHABLE),
        (Signs(ready="Unknown", silence=45, answers=None), Cause.UNREACHABLE),
        (Signs(ready="Unknown", silence=45, answers=True), None),
        (Signs(ready="Unknown", silence=3, answers=False), None),
        (Signs(ready="False"), None),
        (replace(SILENT, general=True), None),
        (Signs(ready="Unknown", silence=45, general=True), None),
        (Signs(out_of_service=True, general=True), Cause.OUT_OF_SERVICE),
        (Signs(there=False, deleted=True, general=True), Cause.DELETED),
    ],
)
def test_two_accounts_make_a_node_dead(signs: Signs, cause: Cause | None) -> None:
    """Silence and no answer; or what the API or a person says. Any answer saves it."""
    assert judge(WELL, signs, LIMITS, 100).cause is cause


def test_beside_a_dead_node_of_its_leaf_none_has_more_time() -> None:
    """Where 11 s of silence suffice anyway, 12 s are not waited for there."""
    signs = Signs(silence=11.5, answers=False, leaf_dead=True)
    assert judge(WELL, signs, SilenceLimits(silent=11, well=30), 100).cause is Cause.SILENT


def test_the_dead_return_after_they_have_been_well_for_a_while() -> None:
    """Heard again at 200, it is usable at 230; a silence in between starts that anew."""
    dead = judge(WELL, SILENT, LIMITS, 100)
    assert dead.dead
    assert not dead.usable
    back = judge(dead, Signs(), LIMITS, 200)
    assert back.verdict is NodeVerdict.RETURNING
    assert not back.usable
    assert judge(back, Signs(), LIMITS, 229).verdict is NodeVerdict.RETURNING
    assert judge(back, Signs(), LIMITS, 230).usable
    late = judge(back, Signs(silence=16), LIMITS, 229)
    assert judge(late, Signs(), LIMITS, 240).verdict is NodeVerdict.RETURNING
    assert judge(late, Signs(), LIMITS, 259).usable


def test_an_answer_alone_does_not_raise_the_dead() -> None:
    """The host answers again, but its kubelet has said nothing yet."""
    dead = judge(WELL, SILENT, LIMITS, 100)
    assert judge(dead, replace(SILENT, silence=50, answers=True), LIMITS, 130) == dead


def test_the_moment_of_death_stays_while_the_cause_does() -> None:
    """Since when it is dead is told from the first judgement on."""
    dead = judge(WELL, SILENT, LIMITS, 100)
    assert judge(dead, replace(SILENT, silence=60), LIMITS, 140) is dead
    assert judge(dead, replace(SILENT, general=True), LIMITS, 140) is dead
    gone = judge(dead, Signs(there=False, deleted=True), LIMITS, 150)
    assert (gone.cause, gone.since) == (Cause.DELETED, 100)


def test_only_the_late_are_asked() -> None:
    """A kubelet beats every 10 s; who is later than that, or unknown to the API, is asked."""
    assert not is_suspect(Signs(silence=10))
    assert is_suspect(Signs(silence=11.5))
    assert is_suspect(Signs(ready="Unknown"))
    assert not is_suspect(Signs(there=False, silence=40))


HUSH = Signs(silence=0, hushed=True, renewed="1")
LONG_HUSH = replace(HUSH, silence=None)
UP = {"answers": True, "answered": True}


@pytest.mark.parametrize(
    ("signs", "returns"),
    [
        (Signs(renewed="1"), False),
        (Signs(renewed="2"), True),
        (replace(HUSH, **UP), False),
        (replace(HUSH, renewed="2", **UP), False),
        (LONG_HUSH, False),
        (replace(LONG_HUSH, answers=True), False),
        (replace(LONG_HUSH, **UP), True),
        (replace(LONG_HUSH, ready="False", **UP), False),
        (Signs(silence=None), False),
    ],
)
def test_what_died_of_its_silence_is_back_once_it_shows_itself(signs: Signs, returns: bool) -> None:
    """By its Lease, or, where none may be read for a minute, by an answer of its host."""
    dead = judge(WELL, replace(SILENT, renewed="1"), LIMITS, 100)
    after = judge(dead, signs, LIMITS, 200)
    assert (after.verdict is NodeVerdict.RETURNING) is returns
    assert returns or after == dead


@pytest.mark.parametrize(
    ("signs", "returns"), [(HUSH, False), (LONG_HUSH, True), (Signs(renewed="1"), False)]
)
def test_what_was_given_up_is_back_once_it_is_ready(signs: Signs, returns: bool) -> None:
    """Its kubelet says so, and Leases may not be read any more; where they may, it renews its own.

    No host may be asked.
    """
    given_up = Signs(ready="Unknown", silence=45, renewed="1")
    dead = judge(WELL, given_up, LIMITS, 100)
    assert dead.cause is Cause.UNREACHABLE
    assert (judge(dead, signs, LIMITS, 200).verdict is NodeVerdict.RETURNING) is returns


def test_what_was_silent_before_it_was_shut_down_is_back_once_it_renews() -> None:
    """Its taint goes just after all kubelets were unheard: it is not late, which says nothing."""
    dead = judge(WELL, replace(SILENT, renewed="1"), LIMITS, 100)
    down = judge(dead, replace(SILENT, renewed="1", out_of_service=True), LIMITS, 110)
    assert down.cause is Cause.OUT_OF_SERVICE
    assert judge(down, Signs(renewed="1"), LIMITS, 120).dead
    assert judge(down, Signs(renewed="2"), LIMITS, 120).verdict is NodeVerdict.RETURNING


def test_a_death_goes_by_the_lease_that_was_silent_last() -> None:
    """It renewed once while it was not ready, and fell silent again: that brings it not back."""
    dead = judge(WELL, replace(SILENT, renewed="1"), LIMITS, 100)
    half = judge(dead, Signs(ready="False", renewed="2"), LIMITS, 110)
    again = judge(half, replace(SILENT, renewed="2"), LIMITS, 140)
    assert judge(again, Signs(renewed="2"), LIMITS, 150) == again


@pytest.mark.parametrize(
    ("signs", "usable"),
    [
        (HUSH, False),
        (replace(HUSH, answers=True), False),
        (replace(HUSH, **UP), True),
        (replace(LONG_HUSH, answers=False), False),
        (LONG_HUSH, True),
        (Signs(silence=29, answers=True), False),
        (Signs(silence=19, answers=True), True),
        (Signs(silence=19, answers=False), False),
        (Signs(silence=29, **UP), True),
        (Signs(silence=29, ready="Unknown", **UP), False),
    ],
)
def test_what_returns_is_well_for_as_long_as_it_is_heard_or_answers(
    signs: Signs, usable: bool
) -> None:
    """Where no kubelet is heard, or its own renews seldom, its host has to answer meanwhile.

    A lost probe of a kubelet that is a little late is forgiven.
    """
    back = Judgement(NodeVerdict.RETURNING, since=200)
    later = judge(judge(back, signs, LIMITS, 215), Signs(), LIMITS, 231)
    assert later.usable is usable
