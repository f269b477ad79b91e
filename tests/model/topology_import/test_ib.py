"""Dumps of ibnetdiscover: fat trees, rail-optimised fabrics, and what is odd about them."""

from __future__ import annotations

import pytest

from fourleaf.model.problems import BadInput
from fourleaf.model.readers.topology.findings import FindingKind
from fourleaf.model.topology_import.description import DescriptionFormat, ScalableUnit
from tests.model.topology_import.made import Dump, described, findings, leaves, rails


def fat_tree() -> Dump:
    """Two pods of two leaf switches of four nodes, two spines a pod, one core."""
    dump = Dump()
    core = dump.switch("core")
    for pod in (1, 2):
        spines = [dump.switch(f"pod{pod}-spine{number}") for number in (1, 2)]
        for spine in spines:
            dump.cable(spine, core)
        for number in (1, 2):
            leaf = dump.switch(f"pod{pod}-leaf{number}")
            for node in range(1, 5):
                dump.host(f"n{pod}{number}{node}", [leaf])
            for spine in spines:
                dump.cable(leaf, spine)
    return dump


def test_a_fat_tree_has_leaves_spines_and_a_core() -> None:
    """Two spine switches over the same leaves are one spine, told by what they share."""
    one = described(fat_tree().text())
    assert one.format is DescriptionFormat.IBNETDISCOVER
    assert leaves(one) == {
        ("core", f"pod{pod}-spinex", f"pod{pod}-leaf{leaf}"): [
            f"n{pod}{leaf}{node}" for node in range(1, 5)
        ]
        for pod in (1, 2)
        for leaf in (1, 2)
    }
    assert one.units == ()
    assert findings(one) == {}


def test_rails_of_128_nodes_make_units_of_32() -> None:
    """Eight rails, four units: each stands for a leaf, and that is said; nothing else is odd."""
    one = described(rails().text())
    assert leaves(one) == {
        ("", "spine-x", f"leaf-{unit}-x"): [f"gpu-{unit}-{node}" for node in range(1, 33)]
        for unit in range(1, 5)
    }
    switches = tuple(f"leaf-1-{rail}" for rail in range(1, 9))
    assert one.units[0] == ScalableUnit("leaf-1-x", switches)
    found = findings(one)
    assert list(found) == [FindingKind.RAIL_UNITS]
    assert found[FindingKind.RAIL_UNITS].is_note
    assert (found[FindingKind.RAIL_UNITS].count, found[FindingKind.RAIL_UNITS].number("rails")) == (
        4,
        8,
    )


def test_a_cable_in_the_wrong_unit_merges_nothing() -> None:
    """A node with one of eight adapters elsewhere stays where the seven are, and is named."""
    dump = rails(units=2, nodes=4)
    wrong = next(c for c in dump.cables if dump.adapters.get(c[0]) == "gpu-1-2 mlx5_3")
    target = next(guid for guid, name in dump.switches.items() if "leaf-2-4:" in name)
    del dump.cables[wrong]
    dump.cable(wrong[0], target)
    one = described(dump.text())
    assert [len(nodes) for nodes in leaves(one).values()] == [4, 4]
    found = findings(one)
    assert found[FindingKind.NODE_IN_TWO_LEAVES].names == ("gpu-1-2",)


def test_a_slow_link_is_named_once_with_both_ends() -> None:
    """One adapter at 2xNDR among four at 4xNDR, and an uplink at 4xHDR among four."""
    dump = rails(units=1, nodes=4, rails=1)
    cables = list(dump.cables)
    dump.cables[cables[1]] = "2xNDR"
    dump.cables[cables[-1]] = "4xHDR"
    slow = findings(described(dump.text()))[FindingKind.LINK_DEGRADED]
    assert slow.count == 2
    assert set(slow.names) == {
        "leaf-1-1[2] to gpu-1-2 (2xNDR)",
        "leaf-1-1[8] to spine-4 (4xHDR)",
    }


def test_speed_is_read_behind_the_description() -> None:
    """A host that is called `4xSDR` does not run at it."""
    dump = rails(units=1, nodes=3, rails=1)
    dump.host("4xSDR", [next(g for g, n in dump.switches.items() if "leaf-1-1:" in n)])
    assert FindingKind.LINK_DEGRADED not in findings(described(dump.text()))


def test_a_host_short_of_adapters_is_told_with_what_its_unit_has() -> None:
    """Seven of eight adapters are in the fabric."""
    dump = rails(units=2, nodes=4)
    gone = next(c for c in dump.cables if dump.adapters.get(c[0]) == "gpu-2-3 mlx5_7")
    del dump.cables[gone]
    found = findings(described(dump.text()))
    assert found[FindingKind.HOST_SHORT_OF_HCAS].names == ("gpu-2-3 (7 of 8)",)


def test_a_unit_whose_leaf_switch_is_down_is_told() -> None:
    """One switch of a unit is not in the dump: its unit has seven rails, all nodes with it."""
    dump = rails(units=3, nodes=4)
    down = next(guid for guid, name in dump.switches.items() if "leaf-2-5:" in name)
    del dump.switches[down]
    dump.cables = {cable: s for cable, s in dump.cables.items() if down not in cable}
    found = findings(described(dump.text()))
    assert found[FindingKind.UNIT_SHORT_OF_RAILS].names == ("leaf-2-x (7)",)
    assert FindingKind.HOST_SHORT_OF_HCAS not in found


def test_missing_uplinks_are_told() -> None:
    """A leaf switch with three of four uplinks, and one with none, which is an island."""
    dump = rails(units=4, nodes=4, rails=1)
    tops = {guid for guid, name in dump.switches.items() if "spine" in name}
    up = [c for c in dump.cables if c[2] in tops]
    del dump.cables[up[0]]
    for cable in up[4:8]:
        del dump.cables[cable]
    found = findings(described(dump.text()))
    assert found[FindingKind.UPLINKS_UNEQUAL].names == ("leaf-1-1 (3)",)
    assert found[FindingKind.SWITCH_WITHOUT_UPLINK].names == ("leaf-2-1",)
    assert found[FindingKind.ISLANDS].names == ("leaf-1-1", "leaf-2-1")


def test_leaf_switches_that_are_cabled_to_each_other_are_no_islands() -> None:
    """Two switches and no spine: one fabric."""
    dump = Dump()
    one, other = dump.switch("sw-1"), dump.switch("sw-2")
    for number in range(4):
        dump.host(f"a{number}", [one])
        dump.host(f"b{number}", [other])
    dump.cable(one, other)
    assert described(dump.text()).islands == ("sw-1",)


def test_a_link_that_one_end_alone_knows_is_told() -> None:
    """The adapter lists the link, its switch does not."""
    dump = rails(units=1, nodes=4, rails=2)
    adapter, _, switch, port = next(iter(dump.cables))
    dump.one_sided.add((switch, port))
    found = findings(described(dump.text()))
    assert found[FindingKind.LINK_ONE_SIDED].names == ("gpu-1-1[1] to leaf-1-1[1]",)
    assert adapter in dump.adapters


def test_a_manager_on_a_spine_leaves_the_spine_a_spine() -> None:
    """The host on it has no leaf; all others keep theirs."""
    dump = fat_tree()
    spine = next(guid for guid, name in dump.switches.items() if "pod1-spine1:" in name)
    dump.host("ufm1", [spine])
    one = described(dump.text())
    assert len(leaves(one)) == 4
    assert findings(one)[FindingKind.NODE_WITHOUT_LEAF].names == ("ufm1",)


def test_adapters_without_a_host_are_counted_and_aggregation_nodes_are_not() -> None:
    """`Aggregation Node` is the switch's own; a card with its factory name is somebody's."""
    dump = rails(units=1, nodes=4, rails=2)
    leaf = next(guid for guid, name in dump.switches.items() if "leaf" in name)
    for title in ("Mellanox Technologies Aggregation Node", "MT4129 ConnectX7   Mellanox"):
        dump.cable(dump.adapter(title), leaf)
    dump.cable(dump.adapter("localhost mlx5_0"), leaf)
    found = findings(described(dump.text()))
    assert found[FindingKind.HOSTS_UNNAMED].count == 2


def test_switches_without_names_go_by_their_guid() -> None:
    """Factory descriptions name nobody; a name that two switches share names none of them."""
    dump = fat_tree()
    guids = list(dump.switches)
    dump.switches[guids[-1]] = "SwitchIB Mellanox Technologies"
    dump.switches[guids[-2]] = dump.switches[guids[-3]]
    one = described(dump.text())
    assert f"{guids[-1]}" in {place.leaf for place in one.positions}
    found = findings(one)
    assert found[FindingKind.SWITCH_NAME_TWICE].count == 1
    assert guids[-1] in found[FindingKind.SWITCHES_UNNAMED].names


def test_old_dumps_are_read_too() -> None:
    """No speeds, no port GUIDs, one word for a host, chassis headings, a warning in between."""
    one = described(
        "ibwarn: [565044] sim_connect: attached as client 1\n"
        "Chassis 1 (guid 0x5442ba00003000)\n"
        'Switch  24 "S-0008f104003f1e29"         # "line-1" base port 0 lid 742 lmc 0\n'
        '[24][ext 3]    "H-0002c90200247010"[1]         # "atlas35" lid 1252\n'
        '[23]    "H-0002c9020024d5f8"[1]         # "atlas34" lid 3640\n\n'
        "Non-Chassis Nodes\n"
        'Ca\t2 "H-0002c90200247010"\t# "atlas35"\n'
        '[1](2c90200247011)\t"S-0008f104003f1e29"[24]\t# lid 1252 lmc 0 "line-1" lid 742\n\n'
        'Ca\t2 "H-0002c9020024d5f8"\t# "atlas34"\n'
        '[1](2c9020024d5f9)\t"S-0008f104003f1e29"[23]\t# lid 3640 lmc 0 "line-1" lid 742\n'
    )
    assert leaves(one) == {("", "", "line-1"): ["atlas34", "atlas35"]}


def section(text: str, head: str) -> int:
    """Where the section begins whose first line holds `head`."""
    return text.rindex("\n\n", 0, text.index(head)) + 2


def test_a_dump_that_ends_early_says_whom_it_lacks() -> None:
    """Two units of four nodes on two rails: the section of gpu-2-3's first adapter is not there."""
    text = rails(units=2, nodes=4, rails=2).text()
    one = described(text[: section(text, 'Ca\t2 "H-e09d73030070000c"')])
    assert sum(len(nodes) for nodes in leaves(one).values()) == 6
    cut = findings(one)[FindingKind.CUT_OFF]
    assert not cut.is_note
    assert (cut.number("many"), cut.number("some")) == (4, 0)
    assert (cut.count, cut.names) == (2, ("gpu-2-3", "gpu-2-4"))
    assert one.cut_off == cut


def test_a_whole_dump_is_not_cut_off() -> None:
    """Each device that a link leads to has its section."""
    assert described(rails(units=2, nodes=4, rails=2).text()).cut_off is None


def test_a_dump_of_switches_alone_is_refused_as_cut_off() -> None:
    """Not for what its adapters are called: there are none."""
    text = rails(units=1, nodes=4, rails=2).text()
    with pytest.raises(BadInput, match="cut off: 8 adapters and 0 switches") as caught:
        described(text[: section(text, "Ca\t2")])
    (problem,) = caught.value.problems
    assert "gpu-1-1, gpu-1-2, gpu-1-3, gpu-1-4" in problem.message
    assert "whole output" in problem.advice


def test_a_switch_without_a_section_is_counted_as_such() -> None:
    """The adapters of a host say whereto they are cabled."""
    text = rails(units=1, nodes=2, rails=2, spines=1).text()
    start = section(text, "MF0;leaf-1-2:")
    one = described(text[:start] + text[text.index("\n\n", start) + 2 :])
    assert one.cut_off is not None
    assert (one.cut_off.number("many"), one.cut_off.number("some")) == (0, 1)
