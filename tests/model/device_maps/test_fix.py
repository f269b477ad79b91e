"""Maps whose nodes are gone."""

from __future__ import annotations

from fourleaf.model.device_maps.fix import LineChange, fix_map
from fourleaf.model.readers.pods.device_map import Pin, map_text, parse_map
from tests.model.device_maps.made import AKS, ground, holder, node, silent

OLD = "aks-workerpool-11111111-vmss00000"
MAP = {0: Pin(f"{AKS}0", (0, 1)), 1: Pin(f"{OLD}7", (2,)), 2: Pin(f"{OLD}7", (0, 3))}


def test_what_can_be_used_stays() -> None:
    """No line of a sound map changes."""
    sound = {0: Pin(f"{AKS}0", (0, 1))}
    fixed = fix_map(sound, ground(node(f"{AKS}0")))
    assert (fixed.pins, fixed.changes, fixed.left) == (sound, (), ())


def test_all_lines_of_a_node_move_together_with_their_devices() -> None:
    """To a node of the pool that no line names yet; not to the pool `other`."""
    nodes = (node("aks-other-1-vmss000000"), node(f"{AKS}0"), node(f"{AKS}1"))
    fixed = fix_map(MAP, ground(*nodes))
    assert fixed.pins == {
        0: Pin(f"{AKS}0", (0, 1)),
        1: Pin(f"{AKS}1", (2,)),
        2: Pin(f"{AKS}1", (0, 3)),
    }
    assert fixed.changes[0] == LineChange(1, Pin(f"{OLD}7", (2,)), Pin(f"{AKS}1", (2,)))
    assert fixed.left == ()


def test_devices_change_only_where_they_must() -> None:
    """On the one node left, 2 is free for line 1; line 2 finds no two, and stays."""
    fixed = fix_map(MAP, ground(node(f"{AKS}0")))
    assert fixed.pins[1] == Pin(f"{AKS}0", (2,))
    assert fixed.pins[2] == MAP[2]
    (left,) = fixed.left
    assert (left.index, left.why) == (
        2,
        "no ready node of pool workerpool has devices free for it",
    )


def test_other_devices_are_better_than_none() -> None:
    """Device 2 of the node is held by somebody else, so line 1 gets 0."""
    one = {1: Pin(f"{OLD}7", (2,))}
    fixed = fix_map(one, ground(node(f"{AKS}0"), holder("x", f"{AKS}0", "2")))
    assert fixed.pins == {1: Pin(f"{AKS}0", (0,))}


def test_pods_of_the_map_itself_are_not_in_the_way() -> None:
    """Whoever holds device 2 by this very map will be made anew."""
    lines = f"1={OLD}7:2"
    mine = holder("web-1", f"{AKS}0", "2", lines=lines)
    fixed = fix_map({1: Pin(f"{OLD}7", (2,))}, ground(node(f"{AKS}0"), mine), lines)
    assert fixed.pins == {1: Pin(f"{AKS}0", (2,))}


def test_not_ready_and_cordoned_nodes_give_way_too() -> None:
    """Both are there, and neither takes new pods."""
    pins = {0: Pin("n0", (0,)), 1: Pin("n1", (0,))}
    nodes = (node("n0", ready=False), node("n1", cordoned=True), node("n2"), node("n3"))
    assert fix_map(pins, ground(*nodes)).pins == {0: Pin("n2", (0,)), 1: Pin("n3", (0,))}


def test_where_names_say_nothing_the_pool_of_the_others_counts() -> None:
    """EKS names a node after its address; the lines that stay are all of one group."""
    labels = {"eks.amazonaws.com/nodegroup": "p5"}
    bodies = [node(f"ip-10-0-0-{i}") for i in (1, 2)] + [node("ip-10-0-0-3")]
    for body in bodies[:2]:
        body["metadata"]["labels"] = labels
    bodies[2]["metadata"]["labels"] = {"eks.amazonaws.com/nodegroup": "g6"}
    pins = {0: Pin("ip-10-0-0-1", (0,)), 1: Pin("ip-10-0-0-99", (0,))}
    assert fix_map(pins, ground(*bodies)).pins[1] == Pin("ip-10-0-0-2", (0,))
    alone = {1: Pin("ip-10-0-0-99", (0,))}
    (left,) = fix_map(alone, ground(*bodies)).left
    assert left.why == "nothing says which pool ip-10-0-0-99 was of"
    assert fix_map(alone, ground(*bodies), pool="g6").pins[1] == Pin("ip-10-0-0-3", (0,))


def test_a_gke_node_that_is_gone_belongs_where_its_namesakes_do() -> None:
    """Its group's name stands in that of the nodes that are left, whose label names the pool."""
    body = node("gke-prod-a100-1a2b3c4d-aaaa")
    body["metadata"]["labels"] = {"cloud.google.com/gke-nodepool": "a100"}
    pins = {0: Pin("gke-prod-a100-1a2b3c4d-zzzz", (1,))}
    assert fix_map(pins, ground(body)).pins == {0: Pin("gke-prod-a100-1a2b3c4d-aaaa", (1,))}


def test_nodes_of_whose_devices_nothing_is_known_have_those_of_the_one_that_is_gone() -> None:
    """Of a pool without device plugins; where one of the pool has one, that is believed alone."""
    pins = parse_map(f"0={AKS}0:0,3\n1={AKS}1:1\n")[0]
    fixed = fix_map(pins, ground(silent(f"{AKS}1"), silent(f"{AKS}2")))
    assert map_text(fixed.pins) == f"0={AKS}2:0,3\n1={AKS}1:1\n"
    fixed = fix_map(pins, ground(silent(f"{AKS}1"), silent(f"{AKS}2"), node(f"{AKS}9")))
    assert map_text(fixed.pins) == f"0={AKS}9:0,3\n1={AKS}1:1\n"
