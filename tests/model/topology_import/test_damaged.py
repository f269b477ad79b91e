"""Damaged descriptions: read or refused, never anything else."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourleaf.model.problems import BadInput
from fourleaf.model.topology_import.check import check_description
from fourleaf.model.topology_import.labels import preset_levels, wanted_labels
from tests.model.topology_import.made import described, rails
from tests.model.topology_import.test_formats import SOURCES

WHOLE = {**{name: text for name, (text, _) in SOURCES.items()}, "ib": rails(2, 2, 2, 1).text()}
JUNK = ("", "\0", '"', "[", "]", "{", "}", ":", ",", "=", "\n", "-", "0", "99999", "NaN", "é", " ")


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_damaged_description_is_read_or_refused(text: str, data: st.DataObject) -> None:
    """Pieces cut out, doubled or replaced by junk: a fabric with labels, or `BadInput`."""
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 40)))
        middle = data.draw(st.sampled_from((*JUNK, text[start:end] * 2)))
        text = text[:start] + middle + text[end:]
    try:
        one = described(text)
    except BadInput as bad:
        complete = [problem.message and problem.advice for problem in bad.problems]
        one = None
    if one is None:
        assert complete
        assert all(complete)
        return
    check_description(one)
    assert len(wanted_labels(one.positions, preset_levels("plain"))) == len(one.positions)
