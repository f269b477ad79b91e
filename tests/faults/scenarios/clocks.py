"""Replicas whose clocks disagree."""

from __future__ import annotations

from tests.faults import faketime
from tests.faults.actor import Actor
from tests.faults.scenario import Scenario
from tests.faults.scenarios.leaders import TAKEOVER, keeps_binding_without_renewals
from tests.faults.stage import Stage

HOUR = 3600
FAST = 1.3


def an_hour_apart(stage: Stage) -> None:
    """One wall clock is an hour off; each replica leads once."""
    off = stage.chance.choice((HOUR, -HOUR))
    leader, standby = stage.lead(prefix=faketime.apart(off))
    stage.runs(stage.submit("first", stage.chance.randint(2, 8)))
    _killed(stage, leader, standby)
    leader.start(prefix=faketime.apart(off))
    stage.wait(lambda: leader.ready, "the one that was killed is back")
    stage.runs(stage.submit("third", stage.chance.randint(1, 4), gpus=4))
    assert standby.leads, "the lead was taken from a healthy leader"
    _killed(stage, standby, leader)


def _killed(stage: Stage, leader: Actor, standby: Actor) -> None:
    """Kill the leader in the middle of a commit; the other one goes on."""
    gang = stage.submit(f"after-{leader.role}", stage.chance.randint(2, 4), gpus=2)
    leader.process.kill()
    stage.wait(lambda: standby.leads, "the standby leads", TAKEOVER)
    stage.runs(gang)


def runs_fast(stage: Stage) -> None:
    """One clock runs 1.3 times as fast, that of the leader or that of the standby."""
    first, second = stage.lead(prefix=faketime.speed(FAST))
    stage.runs(stage.submit("first", stage.chance.randint(2, 8)))
    if stage.chance.random() < 0.5:
        first.process.kill()
        stage.wait(lambda: second.leads, "the slower one leads", TAKEOVER)
        first.start(prefix=faketime.speed(FAST))
        stage.wait(lambda: first.ready, "the faster one is back")
        first, second = second, first
    keeps_binding_without_renewals(stage, first, second)


SCENARIOS = (
    Scenario(
        "clocks-an-hour-apart",
        "Wall clocks an hour apart cost no replica the lead, and takeover still takes under 20 s.",
        an_hour_apart,
        unavailable=faketime.why_not,
    ),
    Scenario(
        "clock-runs-fast",
        "With one clock 1.3 times as fast, two leaders never write at the same time.",
        runs_fast,
        unavailable=faketime.why_not,
    ),
)
