"""The protocol holds in every state of the model, and needs each of its safeguards."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.explorer.engine.search import search
from tests.explorer.protocol.scope import Safeguards, Scope
from tests.explorer.protocol.scopes import FORWARD, TWICE
from tests.explorer.protocol.system import Protocol


def without(scope: Scope, safeguard: str) -> Scope:
    """The same, with one safeguard turned off."""
    return replace(scope, safe=replace(Safeguards(), **{safeguard: False}))


@pytest.mark.parametrize(
    ("scope", "least"),
    [
        pytest.param(FORWARD, 5000, id="forward"),
        pytest.param(replace(FORWARD, deaths=1), 60_000, id="forward, a node dies"),
        pytest.param(TWICE, 3500, id="twice"),
        pytest.param(replace(TWICE, faults=1), 60_000, id="twice, a write fails"),
    ],
)
def test_no_state_breaks_a_promise(scope: Scope, least: int) -> None:
    """Two leaders, any interleaving, any pause: no node twice, no gang in part at rest."""
    result = search(Protocol(scope))
    assert result.breach is None, result.breach
    assert result.complete
    assert result.states >= least


@pytest.mark.parametrize(
    ("safeguard", "scope"),
    [
        ("rewrite", FORWARD),
        ("kill", FORWARD),
        ("reread", FORWARD),
        ("page_version", FORWARD),
        ("phase_version", FORWARD),
        ("binding_version", replace(FORWARD, deaths=1)),
        ("fence", replace(FORWARD, deaths=1)),
        ("uid", replace(FORWARD, replaced=1)),
        ("standing", TWICE),
    ],
)
def test_each_safeguard_is_needed(safeguard: str, scope: Scope) -> None:
    """Without it, the search comes to a state that must not be, and says how."""
    breach = search(Protocol(without(scope, safeguard))).breach
    assert breach is not None
    assert breach.trace
