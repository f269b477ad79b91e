"""One seed of every quick scenario; the others run by `python -m tests.faults`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.controlplane.fixtures import KUBECONFIG, control_plane_programs
from tests.faults.ground import Ground
from tests.faults.runs import run_once
from tests.faults.scenario import Needs, Scenario, every_scenario

__all__ = ["control_plane_programs"]

QUICK = [one for one in every_scenario().values() if one.quick]
SEED = 1


@pytest.fixture(scope="module")
def ground_for(control_plane_programs: dict[str, Path]) -> Iterator[Callable[[Needs], Ground]]:
    """A control plane for what a scenario needs, kept for others that need the same."""
    if os.environ.get(KUBECONFIG):
        pytest.skip(f"{KUBECONFIG} is set, and the processes of that cluster are not ours")
    made: dict[Needs, Ground] = {}
    with ExitStack() as stack:

        def ground(needs: Needs) -> Ground:
            if needs not in made:
                made[needs] = stack.enter_context(Ground(needs))
            return made[needs]

        yield ground


@pytest.mark.parametrize("scenario", QUICK, ids=lambda one: str(one.name))
def test_it_holds(scenario: Scenario, ground_for: Callable[[Needs], Ground]) -> None:
    """What the scenario says holds under its fault, and all that always has to hold."""
    reason = scenario.unavailable()
    if reason:
        pytest.skip(reason)
    run = run_once(scenario, SEED, ground_for(scenario.needs), brief=True)
    assert run.held, f"{run.why}\n{run.again}\nlogs: {run.logs}"
