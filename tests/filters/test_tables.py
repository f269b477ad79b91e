"""Clusters worked out by hand: kube-scheduler's filters, our readers and our plans agree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import pytest

from fourleaf.model.readers import Source, read
from fourleaf.model.reasons.kinds import ReasonKind
from tests.filters.kube_filters import judged
from tests.filters.tables.near_others import NEAR_OTHERS
from tests.filters.tables.nodes import NODES
from tests.filters.tables.spread_out import SPREAD_OUT
from tests.filters.tables.table import Row
from tests.filters.tables.volumes import VOLUMES
from tests.filters.test_same_filters import (
    COUNTED,
    PLANNERS,
    PREDICATES,
    Planner,
    ours,
    placements_of,
)

ROWS = (*NEAR_OTHERS, *SPREAD_OUT, *NODES, *VOLUMES)


@cache
def theirs() -> Mapping[str, frozenset[str]]:
    """Row -> the nodes that kube-scheduler leaves; all rows are asked at once."""
    answers = judged([row.case for row in ROWS])
    return {
        row.name: frozenset(node for node, why in nodes.items() if not why)
        for row, nodes in zip(ROWS, answers, strict=True)
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row(row: Row) -> None:
    """The filters leave what was worked out, so do we, and plans stand on one of them.

    What we refuse by name, the filters may accept: the reason names the field then.
    """
    fits = frozenset(row.fits.split())
    assert theirs()[row.name] == fits
    mine, hold, detail = ours(row.case)
    if row.refused or row.gated:
        assert hold is (ReasonKind.UNSUPPORTED if row.refused else ReasonKind.GATED), detail
        assert (row.refused or row.gated).lower() in detail.lower()
    else:
        assert {node for node, may in mine.items() if may} == fits - {*row.unused.split()}, detail
    for planner in PLANNERS:
        placed = planned(row, planner)
        assert placed <= fits - {*row.unused.split()}
        assert bool(placed) == (bool(fits) and not row.refused)


def planned(row: Row, planner: Planner) -> set[str]:
    """Where a plan puts the pod; nowhere while it waits."""
    source = Source("cluster", objects=list(row.case.objects))
    snapshot = read([source], strict=False, whole=True, config=COUNTED).snapshot
    placements = placements_of(planner, snapshot)
    return {node for placement in placements for _, node in placement.pods}


def test_what_is_refused_is_on_the_page() -> None:
    """Each field that a row is refused for stands in a row of the page that says so."""
    lines = PREDICATES.read_text().splitlines()
    refused = [line for line in lines if "| refused by name |" in line]
    for row in ROWS:
        assert not row.refused or any(row.refused in line for line in refused), row.name


def test_every_row_has_its_name() -> None:
    """Rows of one name would be judged as one."""
    assert len({row.name for row in ROWS}) == len(ROWS) >= 250
