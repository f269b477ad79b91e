"""Objects that make no sense are refused, each by its field and with advice."""

from __future__ import annotations

import pytest

from fourleaf.model.problems import BadInput
from tests.model.readers.bad_input import configs, fabric, gangs, names, pods
from tests.model.readers.made import reading

TABLES = (pods.CASES, names.CASES, gangs.CASES, fabric.CASES, configs.CASES)
CASES = {name: case for table in TABLES for name, case in table.items()}


@pytest.mark.parametrize("case", CASES)
def test_names_object_and_field_and_advises(case: str) -> None:
    """Each case is refused with its object, field and advice, and held or left out if lenient."""
    bodies, title, field, advice = CASES[case]
    with pytest.raises(BadInput) as caught:
        reading(*bodies)
    found = [p for p in caught.value.problems if (p.object, p.field) == (title, field)]
    problems = [(p.object, p.field, p.advice) for p in caught.value.problems]
    assert found, problems
    assert advice in found[0].advice
    assert found[0].source in ("in.json", "built-in defaults")
    lenient = reading(*bodies, strict=False)
    assert any(problem.is_error for problem in lenient.problems)
    placeable = [gang for gang in lenient.snapshot.gangs if gang.hold is None]
    if (
        title.startswith(("Pod ", "Job ", "JobSet ", "RayCluster "))
        and "twice" not in case
        and "differ" not in case
    ):
        assert not placeable
