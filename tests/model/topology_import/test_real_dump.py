"""A real dump of a rail-optimised fabric, where somebody has one."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from fourleaf.model.readers import Source
from fourleaf.model.readers.topology.findings import FindingKind
from fourleaf.model.topology_import.description import Description, DescriptionFormat
from fourleaf.model.topology_import.formats import read_description

VARIABLE = "FOURLEAF_IBNETDISCOVER"
"""The environment variable that names the file."""


@pytest.fixture(scope="module", name="text")
def _text() -> str:
    """What `ibnetdiscover` printed on a real fabric."""
    given = os.environ.get(VARIABLE)
    if not given:
        pytest.skip(f"{VARIABLE} names no dump of a real rail-optimised fabric")
    return Path(given).read_text()


@pytest.fixture(scope="module", name="fabric")
def _fabric(text: str) -> Description:
    """The fabric that it describes."""
    return read_description(Source("real", text.encode()))


def test_every_host_that_an_adapter_names_is_told(text: str, fabric: Description) -> None:
    """Hosts counted by nothing but a pattern: each has a place, or a finding says why not."""
    titles = re.findall(r'^Ca\s.*?#\s*"([\w.-]+) (?:mlx|HCA|ibp)\S*"', text, re.M)
    placed = {one.node for one in fabric.positions}
    counts = {one.kind: one.count for one in fabric.findings}
    left = set(titles) - placed - {"localhost"}
    assert fabric.format is DescriptionFormat.IBNETDISCOVER
    assert len(placed) > 1
    assert len(left) == counts.get(FindingKind.NODE_WITHOUT_LEAF, 0)


def test_its_rails_make_units(fabric: Description) -> None:
    """A unit has a leaf switch for each rail, and stands for a leaf of several hosts."""
    leaves = {one.leaf for one in fabric.positions}
    assert fabric.units
    assert all(len(unit.switches) > 1 for unit in fabric.units)
    assert {unit.name for unit in fabric.units} <= leaves
    assert len(leaves) < len(fabric.positions)


def test_half_of_it_is_cut_off(text: str, fabric: Description) -> None:
    """The whole dump lacks nobody; without the second half of its adapters, hosts are missing."""
    assert fabric.cut_off is None
    sections = [found.start() for found in re.finditer(r"^vendid=", text, re.M)]
    first = text.index("\nCa")
    of_adapters = [start for start in sections if start > first]
    half = text[: of_adapters[len(of_adapters) // 2]]
    cut = read_description(Source("half", half.encode())).cut_off
    assert cut is not None
    assert cut.number("many") >= len(of_adapters) // 2
