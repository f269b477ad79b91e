"""Leaders that are paused or cut off, and come back when another leads."""

from __future__ import annotations

import time

from tests.faults.actor import Actor
from tests.faults.asked import Asked, Match, bindings, commits_to_page, everything, writes
from tests.faults.faults import DropBefore, Hold, Refuse
from tests.faults.gangs import Gang
from tests.faults.rules import ALWAYS, Rule
from tests.faults.scenario import Scenario
from tests.faults.stage import Stage

PAUSE = 30.0
"""Seconds; the lead holds for 6."""

TAKEOVER = 20.0
"""Seconds within which somebody has to lead again."""


def paused_before_commit(stage: Stage) -> None:
    """Pause the leader at the first page that it writes for a commit, which arrives late."""
    _paused(stage, commits_to_page, 1, stage.chance.choice((3, 4, 8)))


def paused_in_binding(stage: Stage) -> None:
    """Pause the leader at its k-th binding, which arrives late."""
    size = stage.chance.choice((3, 4, 8))
    _paused(stage, bindings, stage.chance.randint(1, size), size)


def _paused(stage: Stage, match: Match, k: int, size: int) -> None:
    leader, standby = stage.lead()
    late = Hold()
    strike = leader.proxy.strike(match, late, first=k, before=leader.pause)
    gang = stage.submit("gang", pods=size)
    assert strike.began.wait(60), f"request {k} that was to be caught was never sent"
    began = time.monotonic()
    arrives_early = stage.chance.random() < 0.3
    if arrives_early:
        late.release()
    followed = _followed(stage, standby)
    _goes_on(stage, gang)
    late.release()
    assert strike.done.wait(30)
    _sleep_until(began + _pause(stage))
    leader.resume()
    stage.wait(lambda: leader.said("lead_lost"), "the old leader knows that it is none")
    _nothing_took(leader, followed)


def cut_off(stage: Stage) -> None:
    """Cut the leader off at some request of a commit, in one of four ways; then let it back in."""
    leader, standby = stage.lead()
    how = stage.chance.choice((DropBefore(), Refuse(503), Hold()))
    match = stage.chance.choice((commits_to_page, bindings, everything))
    cut: list[Rule] = []

    def cut_it_off(_: Asked) -> None:
        cut.append(leader.proxy.cut_off(how))

    k = 1 if match is not bindings else stage.chance.randint(1, 8)
    strike = leader.proxy.strike(match, how, first=k, before=cut_it_off)
    gang = stage.submit("gang")
    assert strike.began.wait(60), "nothing was sent that could be cut off"
    began = time.monotonic()
    followed = _followed(stage, standby)
    _goes_on(stage, gang)
    _sleep_until(began + stage.chance.uniform(8.0, 20.0))
    for rule in (strike, *cut):
        leader.proxy.remove(rule)
    stage.wait(lambda: leader.said("lead_lost"), "the old leader knows that it is none", 90)
    _nothing_took(leader, followed)


def renewals_lost(stage: Stage) -> None:
    """Lose the leader's renewals and nothing else, while small gangs keep coming."""
    leader, standby = stage.lead()
    keeps_binding_without_renewals(stage, leader, standby)


ROOM = 56
"""Pods of one GPU that the fabric surely has room for, beside the gang that came first."""


def keeps_binding_without_renewals(stage: Stage, leader: Actor, standby: Actor) -> None:
    """Lose the leader's renewals; whatever it still writes, it writes before its follower leads."""
    leader.proxy.strike(renewals, DropBefore(), times=ALWAYS)
    deadline = time.monotonic() + TAKEOVER
    gangs: list[Gang] = []
    while not standby.said("took_over"):
        assert time.monotonic() < deadline, f"nobody else leads within {TAKEOVER:g} s"
        if sum(gang.pods for gang in gangs) < ROOM:
            gangs.append(stage.submit(f"g{len(gangs)}", stage.chance.randint(1, 3), gpus=1))
        time.sleep(stage.chance.uniform(0.05, 0.3))
    followed = time.monotonic()
    for gang in gangs:
        stage.runs(gang)
    _nothing_took(leader, followed)
    leader.proxy.clear()


def renewals(one: Asked) -> bool:
    """Match writes of the leader's Lease."""
    return writes(one) and one.name == "fourleaf-scheduler"


def _followed(stage: Stage, standby: Actor) -> float:
    """Wait until the standby leads; the moment at which that was known."""
    stage.wait(lambda: standby.said("took_over"), "the standby has taken over", TAKEOVER)
    return time.monotonic()


def _goes_on(stage: Stage, gang: Gang) -> None:
    """The gang that was caught runs, and one that comes now."""
    other = stage.submit("other", stage.chance.randint(1, 4))
    stage.runs(gang)
    stage.runs(other)


def _nothing_took(leader: Actor, since: float) -> None:
    """The old leader wrote nothing after `since`, but for what decides nothing.

    No version keeps out a gang lease that is only created: it is swept, which is seen at rest.
    """
    took = leader.proxy.writes_that_took(since)
    took = [one for one in took if (one.verb, one.resource) != ("create", "leases")]
    assert not took, f"the old leader still wrote: {took}"


def _pause(stage: Stage) -> float:
    return 8.0 if stage.brief else PAUSE


def _sleep_until(moment: float) -> None:
    time.sleep(max(0.0, moment - time.monotonic()))


SCENARIOS = (
    Scenario(
        "paused-before-commit",
        "A leader paused for 30 s at the first page of a commit writes nothing any more.",
        paused_before_commit,
        quick=True,
    ),
    Scenario(
        "paused-in-binding",
        "A leader paused for 30 s at its k-th binding writes nothing any more.",
        paused_in_binding,
    ),
    Scenario(
        "leader-cut-off",
        "A leader cut off from the API is followed within 20 s, and writes nothing afterwards.",
        cut_off,
    ),
    Scenario(
        "renewals-lost",
        "A leader that can write all but its Lease stops before its follower leads.",
        renewals_lost,
    ),
)
