"""What is odd about a fabric as a place for gangs, on shapes worked out by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from fourleaf.model.readers.topology.findings import MOST_NAMES, Finding, FindingKind, finding
from fourleaf.model.readers.topology.findings_text import advice, sentence
from fourleaf.model.topology_import.check import check_description
from fourleaf.model.topology_import.description import (
    Description,
    DescriptionFormat,
    Position,
    in_order,
)
from tests.model.topology_import.made import described, findings


def fabric(sizes: Mapping[str, int], **more: tuple[str, ...]) -> Description:
    """Leaves of these sizes, named `SPINE/LEAF`."""
    positions = [
        Position(f"{leaf}-n{number}", leaf.partition("/")[2], leaf.partition("/")[0])
        for leaf, size in sizes.items()
        for number in range(size)
    ]
    return Description(DescriptionFormat.CSV, "in", in_order(positions), **more)


@pytest.mark.parametrize(
    ("sizes", "unused"),
    [
        ({"s/l1": 4, "s/l2": 3}, ("l2 (3)",)),
        ({"s/l1": 2, "s/l2": 2, "s/l3": 2}, ()),
        ({"s/l1": 2, "s/l2": 2, "s/l3": 1}, ("l3 (1)",)),
        ({"s/l1": 3, "s/l2": 1, "s/l3": 3}, ()),
        ({"s/l1": 2, "t/l2": 2}, ()),
        ({"s/l1": 8, "s/l2": 5, "s/l3": 4}, ()),
        ({"s/l1": 1, "s/l2": 1, "s/l3": 1, "s/l4": 1}, ()),
    ],
    ids=str,
)
def test_leaves_that_no_gang_of_four_can_use(
    sizes: dict[str, int], unused: tuple[str, ...]
) -> None:
    """A gang of four takes the fewest adjacent leaves that hold it, as the leaf rule says."""
    found = {one.kind: one for one in check_description(fabric(sizes))}
    names = found[FindingKind.LEAF_TOO_SMALL].names if unused else ()
    assert names == unused
    assert (FindingKind.LEAF_TOO_SMALL in found) is bool(unused)


def test_uneven_leaves_are_those_unlike_most() -> None:
    """Three leaves of 4, one of 6 and one of 5."""
    one = fabric({"s/l1": 4, "s/l2": 4, "s/l3": 6, "s/l4": 4, "s/l5": 5})
    found = {each.kind: each for each in check_description(one)}
    assert found[FindingKind.UNEVEN_LEAVES].names == ("l3 (6)", "l5 (5)")
    assert found[FindingKind.UNEVEN_LEAVES].number("usual") == 4


def test_one_name_under_two_spines_is_told() -> None:
    """As in the Lingjun data, where every pod has a leaf S1."""
    found = check_description(fabric({"p1/S1": 4, "p2/S1": 4, "p2/S2": 4}))
    assert [(one.kind, one.names) for one in found] == [(FindingKind.LEAF_NAME_TWICE, ("S1",))]


def test_an_order_that_is_not_natural_is_told() -> None:
    """A list sorted as text puts leaf-10 before leaf-2; adjacency does not."""
    tree = "SwitchName=s Switches=leaf-[1-10]\n"
    lines = [f"SwitchName=leaf-{n} Nodes=n{n}-[1-4]\n" for n in (1, 10, *range(2, 10))]
    found = findings(described(tree + "".join(lines)))
    assert found[FindingKind.ORDER_DIFFERS].names == ("leaf-10 before leaf-2",)


def test_neighbours_with_numbers_missing_between_them_are_told() -> None:
    """leaf-2 and leaf-10 are neighbours in natural order; identities far apart are not meant."""
    found = check_description(fabric({"s/leaf-1": 4, "s/leaf-2": 4, "s/leaf-10": 4}))
    assert [one.names for one in found] == [("leaf-2 and leaf-10",)]
    assert check_description(fabric({"s/813": 4, "s/92": 4, "s/row-1": 4})) == ()


def test_islands_are_told_by_their_first_leaf() -> None:
    """Two trees without a switch above both."""
    text = "".join(
        f"SwitchName=s{n} Switches=l{n}\nSwitchName=l{n} Nodes=n{n}[1-4]\n" for n in (1, 2)
    )
    assert findings(described(text))[FindingKind.ISLANDS].names == ("l1", "l2")


def test_every_kind_has_a_sentence_and_advice() -> None:
    """Names are bounded, and what was left out is counted."""
    for kind in FindingKind:
        names = ("usual", "rails", "gang", "leaves", "many", "some")
        numbers = tuple((name, 4) for name in names)
        one = Finding(kind, MOST_NAMES + 3, ("a", "b"), numbers)
        assert sentence(one).endswith(f"({MOST_NAMES + 3}): a, b and {MOST_NAMES + 1} more")
        assert advice(one).endswith(".")
    many = finding(FindingKind.NODE_TWICE, (f"n{number}" for number in range(100)))
    assert (many[0].count, len(many[0].names), many[0].names[2]) == (100, MOST_NAMES, "n2")
