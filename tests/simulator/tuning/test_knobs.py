"""Knobs turn the config, and nothing else of it."""

import pytest
from optuna.trial import FixedTrial
from pydantic import ValidationError

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.simulator.tuning.knobs import KNOBS, USUAL, applied, settings_of, suggested


@pytest.mark.parametrize("name", KNOBS)
def test_a_knob_that_is_turned_reads_as_turned(name: str) -> None:
    """At the end of its range; every other knob stays where it was."""
    base = settings_of(SchedulerConfig(), list(KNOBS))
    turned = applied(SchedulerConfig(), {name: KNOBS[name].high})
    assert settings_of(turned, list(KNOBS)) == {**base, name: KNOBS[name].high}


def test_nothing_turned_is_the_config_as_it_was() -> None:
    """To the last field."""
    config = SchedulerConfig()
    assert applied(config, settings_of(config, list(KNOBS))) == config


def test_what_the_config_forbids_is_refused() -> None:
    """A weight below zero."""
    with pytest.raises(ValidationError):
        applied(SchedulerConfig(), {"fragmentation.weight": -1.0})


def test_the_range_grows_to_where_the_config_stands() -> None:
    """A weight of 9 is beyond 4, and is tried first all the same, in thousandths."""
    found = suggested(FixedTrial({"fragmentation.weight": 8.12345}), {"fragmentation.weight": 9.0})
    assert found == {"fragmentation.weight": 8.123}
    assert KNOBS["fragmentation.weight"].reach(9.0) == (0.0, 9.0)


def test_rules_are_turned_only_where_they_are_named() -> None:
    """The slack is a rule of the cluster."""
    assert "topology.windowSlack" in KNOBS
    assert "topology.windowSlack" not in USUAL
