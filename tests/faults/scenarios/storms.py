"""An apiserver that is away, overloaded, or without its store."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import suppress

from urllib3.exceptions import HTTPError

from tests.faults.asked import Asked, Match, writes
from tests.faults.faults import BUSY, Pass
from tests.faults.rules import ALWAYS
from tests.faults.scenario import Needs, Scenario
from tests.faults.scenarios.meddling import moment
from tests.faults.stage import Stage
from tests.history.check import Expectations

DOWN = 60.0
"""Seconds without an apiserver."""

NO_STORE = 15.0
"""Seconds without etcd."""

BUSY_FOR = 60.0
"""Seconds in which half of all writes are turned away."""

FLOOD = 100
"""Gangs that come at once where the apiserver takes two writes at a time."""

RECOVERY = 90.0
"""Seconds until everything runs again; the apiserver alone needs some to start."""


def apiserver_down(stage: Stage) -> None:
    """The apiserver dies at a write of a commit and comes back a minute later."""
    _without(
        stage, stage.plane.kill_apiserver, stage.plane.start_apiserver, 8 if stage.brief else DOWN
    )


def etcd_stopped(stage: Stage) -> None:
    """Etcd dies at a write of a commit and comes back with its data."""
    _without(stage, stage.plane.stop_etcd, stage.plane.start_etcd, 5 if stage.brief else NO_STORE)


def _without(
    stage: Stage, stop: Callable[[], None], start: Callable[[], None], seconds: float
) -> None:
    """Stop something at a write of a commit or soon after it, and start it again."""
    leader, _ = stage.lead()
    stage.runs(stage.submit("before", 2))
    size = stage.chance.randint(2, 8)
    match = moment(stage.chance, wide=size > 4)
    if stage.chance.random() < 0.5:
        strike = leader.proxy.strike(match, Pass(), before=lambda _: stop())
    else:
        strike = leader.proxy.strike(match, Pass(), after=lambda _: stop())
    gang = stage.submit("gang", size)
    assert strike.done.wait(60), "no write of the commit came"
    time.sleep(seconds)
    start()
    _when_back(stage)
    stage.runs(gang, RECOVERY)
    stage.runs(stage.submit("after", 4), RECOVERY)
    stage.expected = Expectations(size + 6, 3, size + 6)


def _when_back(stage: Stage) -> None:
    """Wait until the apiserver answers to a write again."""

    def ask() -> bool:
        with suppress(HTTPError):
            stage.api.new_namespace()
            return True
        return False

    stage.wait(ask, "the apiserver takes writes", RECOVERY)


def two_writes_at_a_time(stage: Stage) -> None:
    """A hundred gangs before an apiserver that turns away whatever is more than two writes."""
    stage.lead()
    order = stage.chance.sample(range(FLOOD), FLOOD)
    gangs = [stage.submit(f"gang-{i}", 1 + i % 2, 1) for i in order]
    pods = sum(gang.pods for gang in gangs)
    stage.wait(
        lambda: sum(bool(pod["spec"].get("nodeName")) for pod in stage.pods()) == pods,
        "every gang runs",
        RECOVERY,
    )
    stage.expected = Expectations(pods, FLOOD, pods)


def half_turned_away(stage: Stage) -> None:
    """Half of all writes are answered 429 for a minute, while gangs come and go."""
    stage.lead()
    half = _half(writes, stage.chance.randrange(2**32))
    rules = [actor.proxy.strike(half, BUSY, times=ALWAYS) for actor in stage.actors]
    until = time.monotonic() + (10 if stage.brief else BUSY_FOR)
    number, made = 0, 0
    while time.monotonic() < until:
        gang = stage.submit(
            f"gang-{number}", stage.chance.randint(1, 4), stage.chance.choice((4, 8))
        )
        number, made = number + 1, made + gang.pods
        if len(stage.gangs) > 3:
            stage.delete(stage.gangs.pop(0))
        time.sleep(stage.chance.uniform(2.0, 5.0))
    for actor, rule in zip(stage.actors, rules, strict=True):
        actor.proxy.remove(rule)
    assert sum(rule.struck for rule in rules) >= 10, "hardly a write was turned away"
    for gang in stage.gangs:
        stage.runs(gang)
    left = sum(gang.pods for gang in stage.gangs)
    stage.expected = Expectations(left, len(stage.gangs), left)


def _half(match: Match, seed: int) -> Match:
    """Match every second request that `match` does, by chance."""
    chance = random.Random(seed)  # noqa: S311 - a seed that repeats a run

    def half(one: Asked) -> bool:
        return match(one) and chance.random() < 0.5

    return half


SCENARIOS = (
    Scenario(
        "apiserver-down",
        "An apiserver that is away for 60 s in mid-commit costs time and nothing else.",
        apiserver_down,
    ),
    Scenario(
        "etcd-stopped",
        "etcd stopped for 15 s in mid-commit costs time and nothing else.",
        etcd_stopped,
    ),
    Scenario(
        "two-writes-at-a-time",
        "100 gangs before --max-mutating-requests-inflight=2: all run, no storm.",
        two_writes_at_a_time,
        # Priority and fairness would put the two seats into one pool with 400 for reads.
        Needs(
            nodes=25,
            flags=(
                "--enable-priority-and-fairness=false",
                "--max-mutating-requests-inflight=2",
            ),
        ),
    ),
    Scenario(
        "half-turned-away",
        "Half of all writes answered 429 for 60 s: all run once that is over, no storm.",
        half_turned_away,
    ),
)
