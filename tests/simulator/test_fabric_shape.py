"""Sizes of leaves, and the fabric made of them."""

from fourleaf.simulator.fabric_shape import Shape, tiled


def test_tiles_end_at_the_node() -> None:
    """A fabric is repeated spine by spine, and cut where enough nodes are there."""
    assert tiled([[3, 2], [4]], 9).spines == ((3, 2), (4,))
    assert tiled([[3, 2], [4]], 13).spines == ((3, 2), (4,), (3, 1))


def test_a_regular_shape_has_exactly_so_many_nodes() -> None:
    """Ten nodes are leaves of 4, 4 and 2; three are one leaf; the 33rd node is a spine's first."""
    assert Shape.regular(10).spines == ((4, 4, 2),)
    assert Shape.regular(3).spines == ((3,),)
    assert Shape.regular(33).spines == ((4,) * 8, (1,))


def test_a_shape_becomes_a_fabric() -> None:
    """Leaves are numbered through, spine by spine; nodes are named after their leaf."""
    shape = Shape(((2, 1), (3,)))
    fabric = shape.fabric()
    assert shape.nodes == len(fabric.nodes) == 6
    assert {name: len(leaves) for name, leaves in fabric.spines.items()} == {
        "spine-0": 2,
        "spine-1": 1,
    }
    assert [node.name for node in fabric.leaves[2].nodes] == ["leaf-2-0", "leaf-2-1", "leaf-2-2"]
