"""More gangs than are looked at in one cycle, most of which fit nowhere."""

from __future__ import annotations

from tests.faults.asked import Asked, bindings
from tests.faults.faults import DropAfter, DropBefore, Pass
from tests.faults.gangs import Gang
from tests.faults.scenario import Scenario
from tests.faults.stage import Stage
from tests.history.check import Expectations

SPACES = 6
HOPELESS = 90
"""Gangs of each namespace that no node takes: fewer than one may have in a batch."""

HONEST = 40
"""Gangs of two pods that fit."""


def crowded(stage: Stage) -> None:
    """540 gangs fit nowhere; 40 come that do, and at some binding one is lost or a leader dies."""
    leader, _ = stage.lead()
    for _ in range(SPACES):
        space = stage.api.new_namespace()
        for i in range(HOPELESS):
            body = Gang(space, f"hopeless-{i}", 1, gpus=1).body(0)
            body["spec"]["nodeSelector"] = {"fourleaf.test/is": "nowhere"}
            stage.api.create(f"/api/v1/namespaces/{space}/pods", body)

    def kill(_: Asked) -> None:
        leader.process.kill()

    fault = stage.chance.choice((DropBefore(), DropAfter(), Pass()))
    deadly = kill if isinstance(fault, Pass) else None
    k = stage.chance.randint(1, HONEST)
    strike = leader.proxy.strike(bindings, fault, first=k, before=deadly)
    gangs = [stage.submit(f"honest-{i}", 2, gpus=1) for i in range(HONEST)]
    assert strike.done.wait(60), f"binding {k} was never sent"
    for gang in gangs:
        stage.runs(gang)
    stage.expected = Expectations(2 * HONEST, HONEST, 2 * HONEST)


SCENARIOS = (
    Scenario(
        "crowded",
        "Beside 540 gangs that fit nowhere 40 run, whichever binding is lost or kills its leader.",
        crowded,
    ),
)
