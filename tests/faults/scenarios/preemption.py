"""Gangs that make way for a higher one: evictions fail, budgets forbid some, victims are slow."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress

from tests.controlplane.api import ApiError
from tests.faults.asked import Asked, evictions
from tests.faults.faults import BUSY, DropAfter, DropBefore, Pass
from tests.faults.gangs import Gang
from tests.faults.scenario import Needs, Scenario
from tests.faults.stage import Stage
from tests.history.check import Expectations

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
PRIORITIES = {"low": 0, "high": 1000}
SIZE = 8
"""Pods of each of the two gangs that fill the fleet."""

LABEL = "fourleaf.test/gang"
SLOW = "fourleaf.test/slow"
"""The finalizer that keeps a victim until it is taken off."""
GRACE_SECONDS = 30
REOPENED = 120.0
"""Seconds for a preemption that a budget has stopped on its way."""


def preempted(stage: Stage) -> None:
    """The k-th eviction of a preemption fails in some way, or its leader is killed at it."""
    _create_classes(stage)
    leader, _ = stage.lead()
    low = [_submit(stage, f"low-{i}", SIZE, "low") for i in range(2)]
    for gang in low:
        stage.runs(gang)

    def kill(_: Asked) -> None:
        leader.process.kill()

    fault = stage.chance.choice((DropBefore(), DropAfter(), BUSY, Pass()))
    k = stage.chance.randint(1, SIZE)
    deadly = kill if isinstance(fault, Pass) else None
    strike = leader.proxy.strike(evictions, fault, first=k, before=deadly)
    high = _submit(stage, "high", stage.chance.randint(2, SIZE), "high")
    assert strike.done.wait(60), f"eviction {k} was never sent"
    stage.runs(high)
    left = [gang for gang in low if stage.pods(gang)]
    assert len(left) == 1, f"{len(left)} of the two lower gangs are left"
    stage.gangs += [high, *left]
    stage.expected = Expectations(2 * SIZE + high.pods, 3, SIZE + high.pods)


def budgets_forbid(stage: Stage) -> None:
    """One gang's budget lets some of it go, never all; the other's may close in mid-preemption."""
    _create_classes(stage)
    leader, _ = stage.lead()
    kept, free = (_submit(stage, name, SIZE, "low") for name in _shuffled(stage, "low-0", "low-1"))
    for gang, least in ((kept, stage.chance.randint(1, SIZE)), (free, 0)):
        stage.runs(gang)
        _create_budget(stage, gang, least)
        stage.wait(lambda: _allowed(stage, gang) == SIZE - least, "the budget is counted")  # noqa: B023
    before = _uids(stage, kept)

    def close(_: Asked) -> None:
        _need(stage, free, SIZE)

    closes = stage.chance.random() < 0.5
    k = stage.chance.randint(1, SIZE)
    strike = leader.proxy.strike(evictions, Pass(), first=k, before=close if closes else None)
    high = _submit(stage, "high", stage.chance.randint(2, SIZE), "high")
    assert strike.done.wait(60), f"eviction {k} was never sent"
    time.sleep(stage.chance.uniform(1.0, 8.0))
    _need(stage, free, 0)
    stage.runs(high, REOPENED)
    assert _uids(stage, kept) == before, f"{kept.name} has lost pods, and its budget forbids that"
    stage.gangs += [high, kept]
    stage.expected = Expectations(2 * SIZE + high.pods, 3, SIZE + high.pods)


def slow_victims(stage: Stage) -> None:
    """Victims take their time to end, and the leader may be killed meanwhile."""
    _create_classes(stage)
    leader, _ = stage.lead()
    low = [_submit(stage, f"low-{i}", SIZE, "low", slow=True) for i in range(2)]
    try:
        _end_slowly(stage, leader.process.kill, low)
    finally:
        for gang in low:
            _release(stage, gang, 0.0)
    left = [gang for gang in low if stage.pods(gang)]
    assert len(left) == 1, f"{len(left)} of the two lower gangs are left"
    stage.gangs += left


def _end_slowly(stage: Stage, kill: Callable[[], None], low: list[Gang]) -> None:
    for gang in low:
        stage.runs(gang)
    high = _submit(stage, "high", stage.chance.randint(2, SIZE), "high")
    stage.wait(lambda: len(_dying(stage)) == SIZE, "one gang makes way")
    if stage.chance.random() < 0.5:
        kill()
    victims = _dying(stage)
    until = time.monotonic() + stage.chance.uniform(2.0, 20.0)
    while time.monotonic() < until:
        assert _dying(stage) == victims, "another gang makes way while one is ending"
        time.sleep(0.5)
    for gang in low:
        if set(gang.names) & victims:
            _release(stage, gang, stage.chance.uniform(0.0, 1.0))
    stage.runs(high)
    stage.gangs.append(high)
    stage.expected = Expectations(2 * SIZE + high.pods, 3, SIZE + high.pods)


def _create_classes(stage: Stage) -> None:
    for name, value in PRIORITIES.items():
        with suppress(ApiError):
            stage.api.create(CLASSES, {"metadata": {"name": name}, "value": value})


def _submit(stage: Stage, name: str, pods: int, priority: str, slow: bool = False) -> Gang:
    """Create a gang of that priority; pods of a slow one stay until they are released."""
    gang = Gang(stage.namespace, name, pods)
    for i in range(pods):
        body = gang.body(i)
        body["metadata"]["labels"] = {LABEL: name}
        body["spec"]["priorityClassName"] = priority
        if slow:
            body["metadata"]["finalizers"] = [SLOW]
            body["spec"]["terminationGracePeriodSeconds"] = GRACE_SECONDS
        stage.api.create(f"/api/v1/namespaces/{stage.namespace}/pods", body)
    return gang


def _release(stage: Stage, gang: Gang, pause: float) -> None:
    """Take the finalizers off, in any order, `pause` seconds apart."""
    for name in _shuffled(stage, *gang.names):
        with suppress(ApiError):
            path = f"/api/v1/namespaces/{stage.namespace}/pods/{name}"
            stage.api.patch(path, {"metadata": {"finalizers": None}})
        time.sleep(pause)


def _dying(stage: Stage) -> set[str]:
    """The names of the pods that are ending."""
    return {
        pod["metadata"]["name"] for pod in stage.pods() if pod["metadata"].get("deletionTimestamp")
    }


def _uids(stage: Stage, gang: Gang) -> set[str]:
    return {pod["metadata"]["uid"] for pod in stage.pods(gang)}


def _shuffled(stage: Stage, *names: str) -> list[str]:
    return stage.chance.sample(names, len(names))


def _budgets(stage: Stage) -> str:
    return f"/apis/policy/v1/namespaces/{stage.namespace}/poddisruptionbudgets"


def _create_budget(stage: Stage, gang: Gang, least: int) -> None:
    """A budget of the gang of which `least` pods have to stay."""
    spec = {"minAvailable": least, "selector": {"matchLabels": {LABEL: gang.name}}}
    stage.api.create(_budgets(stage), {"metadata": {"name": gang.name}, "spec": spec})


def _need(stage: Stage, gang: Gang, least: int) -> None:
    path = f"{_budgets(stage)}/{gang.name}"
    stage.api.patch(path, {"spec": {"minAvailable": least}})


def _allowed(stage: Stage, gang: Gang) -> int | None:
    """How many pods may go, as the controller of budgets says; None where it has not yet."""
    status = stage.api.get(f"{_budgets(stage)}/{gang.name}").get("status") or {}
    allowed: int | None = status.get("disruptionsAllowed") if status.get("expectedPods") else None
    return allowed


SCENARIOS = (
    Scenario(
        "preempted",
        "Whichever eviction of a preemption is lost or kills its leader, the higher gang runs.",
        preempted,
        quick=True,
    ),
    Scenario(
        "budgets-forbid",
        "A gang whose budget forbids that all of it goes loses none; another makes way.",
        budgets_forbid,
        Needs(controllers=("disruption-controller",)),
    ),
    Scenario(
        "slow-victims",
        "While a gang that makes way takes 20 s to end and its leader dies, no other has to go.",
        slow_victims,
    ),
)
