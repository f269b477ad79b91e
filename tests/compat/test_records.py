"""Records stay readable by every version and are written as before: other replicas read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.compat.records import Body, Read, failures, names, records

GOLDEN = Path(__file__).parent / "golden" / "records.json"
"""Leases as an earlier version wrote them."""

RECORDS = [pytest.param(*one, id=one[0]) for one in records()]


def _written() -> dict[str, Any]:
    return dict(orjson.loads(GOLDEN.read_bytes()))


@pytest.mark.parametrize(("name", "record", "body", "read"), RECORDS)
def test_records_are_written_and_read_as_before(
    name: str, record: object, body: Body, read: Read
) -> None:
    """The Lease is the same to the byte, and the one that was written then means the same."""
    before = _written()[name]
    assert orjson.dumps(body) == orjson.dumps(before)
    assert read(before) == record


def test_names_of_leases_are_those_of_before() -> None:
    """A new version finds what an old one wrote."""
    assert names() == _written()["names"]


def test_the_memory_of_failures_is_that_of_before() -> None:
    """What nodes have failed is not forgotten by an upgrade."""
    assert failures() == _written()["failures"]
