"""Pictures of before and after, of clusters made by hand."""

from __future__ import annotations

from fourleaf.dashboard.views.gang import closed
from fourleaf.dashboard.views.moves_picture import (
    MOST_LEAVES_DRAWN,
    MoveArrow,
    moves_picture,
    with_moved,
    with_placed,
)
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.plan import Placement
from fourleaf.model.resources import Resources
from tests.dashboard.made import moment, node, runs

LEAVES = [Leaf(f"l{n}", "s0", (node(f"a{n}", f"l{n}"), node(f"b{n}", f"l{n}"))) for n in range(4)]
WAITS = Gang(GangKey("ml", "w"), (Role(("w-0",), Resources(gpus=8)),))


def test_a_move_and_a_start_are_drawn_on_the_leaves_that_change() -> None:
    """Two pods of g go from a0 to a1, w starts on b0; leaves 2 and 3 stay, and are not drawn."""
    running = [runs("p", "a0", 4, "g"), runs("q", "a0", 4, "g"), runs("r", "b2", 8, "h")]
    look = moment(LEAVES, running, [WAITS])
    moved = with_moved(look.snapshot, {("ml", "p"): "a1", ("ml", "q"): "a1"})
    after = with_placed(moved, [Placement(WAITS.key, (("w-0", "b0"),))])
    picture = moves_picture(look, look.snapshot, after)
    assert picture is not None
    assert [leaf.key for leaf in picture.leaves] == ["s0/l0", "s0/l1"]
    assert picture.arrows == (MoveArrow("ml/g", "a0", "a1", 2),)
    assert picture.came == {"a1": ("ml/g",), "b0": ("ml/w",)}
    first = picture.leaves[0]
    held = [
        [[block.gang for block in cell.blocks] for cell in side.nodes]
        for side in (first.before, first.after)
    ]
    assert held == [[["ml/g"], [""]], [[""], ["ml/w"]]]
    marks = {
        block.gang: block.style
        for leaf in picture.leaves
        for side in (leaf.before, leaf.after)
        for cell in side.nodes
        for block in cell.blocks
        if block.gang
    }
    assert len(set(marks.values())) == 2, "each gang has one mark in both"


def test_what_changes_nothing_has_no_picture() -> None:
    """And a leaf that is closed alone is drawn as such."""
    look = moment(LEAVES, [runs("p", "a0", 8, "g")])
    assert moves_picture(look, look.snapshot, look.snapshot) is None
    picture = moves_picture(look, look.snapshot, closed(look.snapshot, ["a3"]))
    assert picture is not None
    (leaf,) = picture.leaves
    assert (leaf.key, leaf.before.nodes[0].state, leaf.after.nodes[0].state) == (
        "s0/l3",
        "free",
        "cordoned",
    )


def test_a_large_picture_is_bounded_and_says_so() -> None:
    """Of 40 leaves where a gang starts 32 are drawn."""
    leaves = [Leaf(f"l{n}", "s0", (node(f"a{n}", f"l{n}"),)) for n in range(40)]
    look = moment(leaves, [runs(f"p{n}", f"a{n}", 8, "g") for n in range(40)])
    empty = moment(leaves).snapshot
    picture = moves_picture(look, empty, look.snapshot)
    assert picture is not None
    assert (len(picture.leaves), picture.more_leaves) == (MOST_LEAVES_DRAWN, 8)
