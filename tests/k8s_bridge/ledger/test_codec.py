"""Records say the same after they were written and read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.formats.codec import (
    BadRecord,
    gang_body,
    page_body,
    read_gang,
    read_page,
)
from fourleaf.k8s_bridge.ledger.formats.ranges import numbers, ranges
from fourleaf.k8s_bridge.ledger.names import CONTENT
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from fourleaf.model.gang import GangKey

GANG = GangKey("ml", "train")
MEMBERS = (
    Member(Target("ml", "train-0", "uid-0", "41"), "n0", (0, 1, 2, 3, 6)),
    Member(Target("ml", "train-1", "uid-1", "42"), "n1"),
)


def stored(body: dict[str, Any]) -> dict[str, Any]:
    """The object as the API would give it back."""
    body["metadata"]["resourceVersion"] = "7"
    return body


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("lease", ["", "gang-train-1"])
def test_a_page_comes_back(phase: Phase, lease: str) -> None:
    """Leaf, nodes, entries, members, epoch and version are those that were written."""
    entry = Entry("c1", GANG, MEMBERS, lease, phase)
    page = Page("leaf-0", 1, ("n0", "n1"), (entry,), 5, "7")
    assert read_page(stored(page_body(page, "me"))) == page


def test_a_gang_lease_comes_back() -> None:
    """The whole plan of the gang, its phase and its pages are those that were written."""
    lease = GangLease("gang-x", "c1", GANG, Phase.PREPARED, MEMBERS, ("page-a", "page-b"), 5, "7")
    assert read_gang(stored(gang_body(lease, "me"))) == lease


@pytest.mark.parametrize(
    ("devices", "text"),
    [((), ""), ((0,), "0"), ((0, 1, 2, 3), "0-3"), ((1, 3, 4, 9), "1,3-4,9"), ((2, 1), "2,1")],
)
def test_ranges(devices: tuple[int, ...], text: str) -> None:
    """Neighbours are joined, everything else stands alone, in its order."""
    assert ranges(devices) == text
    assert numbers(text) == devices


@given(st.lists(st.integers(0, 127)))
def test_every_list_of_devices_comes_back(devices: list[int]) -> None:
    """No list of numbers is lost or changed, whatever its order."""
    assert numbers(ranges(devices)) == tuple(devices)


@pytest.mark.parametrize("text", ["x", "3-1", "0-9999999999", "1,,2", "-"])
def test_nonsense_is_refused(text: str) -> None:
    """Devices that make no sense are an error, and never a long list."""
    with pytest.raises(ValueError, match=r".+"):
        numbers(text)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0-3,6", "0-9999999", "devices"),
        ("ml/train", "train", "is not NAMESPACE/NAME"),
        ("RollingBack", "Perhaps", "phase"),
        ('"uid-0"', "7", "entries.0.members"),
        ('"part":1', '"part":2', "holds the page of leaf leaf-0, part 2"),
        ("{", "", "Invalid JSON"),
    ],
)
def test_a_record_that_makes_no_sense(old: str, new: str, said: str) -> None:
    """Whatever is wrong in a record is named, with the name of the Lease."""
    entry = Entry("c1", GANG, MEMBERS, "", Phase.ROLLING_BACK)
    body = stored(page_body(Page("leaf-0", 1, ("n0",), (entry,)), "me"))
    annotations = body["metadata"]["annotations"]
    assert old in annotations[CONTENT]
    annotations[CONTENT] = annotations[CONTENT].replace(old, new, 1)
    with pytest.raises(BadRecord, match=said) as error:
        read_page(body)
    assert body["metadata"]["name"] in str(error.value)
