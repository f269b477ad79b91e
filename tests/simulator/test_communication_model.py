"""The communication model, worked out by hand."""

from fourleaf.model.gang import GangKey
from fourleaf.simulator.communication_model import RingNetwork, hops, slowdown
from tests.simulator.made import leaves

A, B = GangKey("trace", "a"), GangKey("trace", "b")


def test_a_ring_in_rank_order_leaves_each_leaf_once() -> None:
    """Four nodes in two leaves: one hop out of each; dealt out in turn: two of each."""
    fabric = leaves(4, 4)
    assert hops(fabric, ["leaf-0-0", "leaf-0-1", "leaf-1-0", "leaf-1-1"]) == {0: 1, 1: 1}
    assert hops(fabric, ["leaf-0-0", "leaf-1-0", "leaf-0-1", "leaf-1-1"]) == {0: 2, 1: 2}


def test_one_leaf_or_one_node_has_no_hop_between_leaves() -> None:
    """Pods of one node are one stop of the ring."""
    assert hops(leaves(4, 4), ["leaf-0-0", "leaf-0-1"]) == {}
    assert hops(leaves(4, 4), ["leaf-0-0", "leaf-0-0"]) == {}


def test_slowdown_follows_the_slowest_uplink() -> None:
    """A leaf of 4 nodes at oversubscription 4 has the uplink of one node.

    One hop has it whole and nothing is slower; two have half of it each, and the 30 % of
    communication take twice as long: 1.3. Beside it, 3 hops on 6 nodes have half as well.
    """
    assert slowdown([(1, 4)], 4, 300) == 1000
    assert slowdown([(2, 4)], 4, 300) == 1300
    assert slowdown([(2, 4), (3, 6)], 4, 300) == 1300
    assert slowdown([(2, 4), (6, 6)], 4, 300) == 1900
    assert slowdown([], 8, 300) == 1000


def test_gangs_share_uplinks_while_both_run() -> None:
    """Two gangs across the same two leaves at oversubscription 4 slow each other to 1000 / 1.3."""
    network = RingNetwork(leaves(4, 4), 4, 300)
    assert network.join(A, ["leaf-0-0", "leaf-1-0"]) == {A}
    assert network.speed(A) == 1000
    assert network.join(B, ["leaf-0-1", "leaf-1-1"]) == {A, B}
    assert (network.speed(A), network.speed(B)) == (769, 769)
    assert network.leave(B) == {A}
    assert network.speed(A) == 1000
