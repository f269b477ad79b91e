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
