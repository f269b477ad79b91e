"""The ledger's code holds in every schedule within bounds, and the search notices where not."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.k8s_bridge.ledger import binding, reconciler
from fourleaf.k8s_bridge.ledger.names import COMMIT
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.ledger.takeover import Takeover
from tests.explorer.code.explore import explore
from tests.explorer.code.ground import ground
from tests.explorer.code.live import Live
from tests.explorer.code.scenario import Bounds, Scenario
from tests.explorer.code.scenarios import BACK, FORWARD, NARROW, RAISED, SAME, TWICE, WIDE

ONE_SWITCH = Bounds(faults=0, preemptions=1)
ANY_SWITCHES = Bounds(faults=0)


@pytest.mark.parametrize(
    ("scenario", "bounds", "least"),
    [
        (FORWARD, ONE_SWITCH, 400),
        (RAISED, ONE_SWITCH, 400),
        (BACK, ONE_SWITCH, 500),
        (WIDE, ONE_SWITCH, 1000),
        (NARROW, ANY_SWITCHES, 400),
        (TWICE, ANY_SWITCHES, 100),
        (SAME, ANY_SWITCHES, 700),
    ],
    ids=lambda value: value.name if isinstance(value, Scenario) else "",
)
def test_no_schedule_breaks_a_promise(scenario: Scenario, bounds: Bounds, least: int) -> None:
    """Interruptions anywhere, a crash of everybody anywhere: nothing shared, nothing in part."""
    explored = explore(scenario, bounds)
    assert explored.result.breach is None, explored.result.breach
    assert explored.result.complete
    assert explored.schedules >= least
    assert explored.crashes >= 25


def test_no_fault_breaks_a_promise() -> None:
    """Every request of both leaders fails once, in every way, one schedule each."""
    explored = explore(NARROW, Bounds(faults=1, preemptions=0))
    assert explored.result.breach is None, explored.result.breach
    assert explored.result.complete
    assert explored.schedules >= 300


async def _always(*_: object) -> bool:
    return True


async def _never(*_: object) -> None:
    return


def test_a_pod_fenced_twice_is_not_bound_by_who_came_first() -> None:
    """Without a look at the record, a leader that slept through two fences binds on."""
    with patch.object(reconciler, "stands", _always):
        breach = explore(TWICE, ANY_SWITCHES).result.breach
    assert breach is not None
    assert "both hold device 0" in breach.why


def _of_any_version(commit: str, member: Member, pod: Target) -> Binding:
    return Binding(Target(pod.namespace, pod.name, pod.uid), member.node, {COMMIT: commit})


def test_bindings_of_any_version_land_after_their_commit_went_back() -> None:
    """Without the version, the old leader's binding takes a pod that was fenced."""
    with patch.object(binding, "binding", _of_any_version):
        breach = explore(BACK, ONE_SWITCH).result.breach
    assert breach is not None


def test_pages_that_are_not_written_anew_let_the_old_leader_in() -> None:
    """Without the rewrite at takeover, the old leader's plan and the new one's both take."""
    with patch.object(Takeover, "_claim", _never):
        breach = explore(FORWARD, ONE_SWITCH).result.breach
    assert breach is not None


def test_the_same_schedule_is_the_same_run() -> None:
    """Two runs by the same choices pass the same states, though all that is random is real."""
    base = ground(FORWARD)
    keys = []
    for _ in range(2):
        live = Live(FORWARD, base, Bounds(faults=1))
        passed = []
        for _ in range(25):
            choices = list(live.choices())
            if not choices:
                break
            live.go(choices[len(choices) // 2])
            passed.append(live.key)
        live.loop.end()
        keys.append(passed)
    assert keys[0] == keys[1]
    assert len(keys[0]) >= 15
