"""What is odd about a fabric, as data: a kind, counts and some names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from fourleaf.model.topology import natural_key

MOST_NAMES = 8
"""How many names a finding keeps; its count says how many there are."""


class FindingKind(StrEnum):
    """What a finding is about. The first ones are notes: true and in order."""

    RAIL_UNITS = "RailUnits"
    BLOCKS_AS_LEAVES = "BlocksAsLeaves"
    LEVELS_LEFT_OUT = "LevelsLeftOut"
    SWITCHES_UNNAMED = "SwitchesUnnamed"
    LEAVES_DISCOVERED = "LeavesDiscovered"
    NODE_DISCOVERED = "NodeDiscovered"
    CUT_OFF = "CutOff"
    HOSTS_UNNAMED = "HostsUnnamed"
    NODE_IN_TWO_LEAVES = "NodeInTwoLeaves"
    NODE_TWICE = "NodeTwice"
    SWITCH_IN_TWO_LEAVES = "SwitchInTwoLeaves"
    CLIQUE_IN_TWO_LEAVES = "CliqueInTwoLeaves"
    DISCOVERY_FAILED = "DiscoveryFailed"
    FEW_DISCOVERED = "FewDiscovered"
    FLAT_FABRIC = "FlatFabric"
    NODE_WITHOUT_LEAF = "NodeWithoutLeaf"
    NODE_REFUSED = "NodeRefused"
    LEAF_WITHOUT_NODES = "LeafWithoutNodes"
    LABEL_MISSING = "LabelMissing"
    PRESETS_DRAW = "PresetsDraw"
    LEAF_NAME_TWICE = "LeafNameTwice"
    SWITCH_NAME_TWICE = "SwitchNameTwice"
    UNEVEN_LEAVES = "UnevenLeaves"
    LEAF_TOO_SMALL = "LeafTooSmall"
    ORDER_DIFFERS = "OrderDiffers"
    ORDER_GAP = "OrderGap"
    ISLANDS = "Islands"
    LINK_DEGRADED = "LinkDegraded"
    LINK_ONE_SIDED = "LinkOneSided"
    SWITCH_WITHOUT_UPLINK = "SwitchWithoutUplink"
    UPLINKS_UNEQUAL = "UplinksUnequal"
    HOST_SHORT_OF_HCAS = "HostShortOfHcas"
    UNIT_SHORT_OF_RAILS = "UnitShortOfRails"


NOTES = frozenset(
    {
        FindingKind.RAIL_UNITS,
        FindingKind.BLOCKS_AS_LEAVES,
        FindingKind.LEVELS_LEFT_OUT,
        FindingKind.SWITCHES_UNNAMED,
        FindingKind.LEAVES_DISCOVERED,
        FindingKind.NODE_DISCOVERED,
    }
)
"""Kinds that say how the source was understood, and ask for nothing."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One kind of oddity: how many things it concerns, some of their names, named numbers."""

    kind: FindingKind
    count: int
    names: tuple[str, ...] = ()
    numbers: tuple[tuple[str, int], ...] = ()

    @property
    def is_note(self) -> bool:
        """Whether it asks for nothing."""
        return self.kind in NOTES

    def number(self, name: str) -> int:
        """The number `name`, 0 where absent."""
        return dict(self.numbers).get(name, 0)


def finding(kind: FindingKind, names: Iterable[str], **numbers: int) -> tuple[Finding, ...]:
    """A finding about all of `names`, nothing where there are none. Names in natural order."""
    every = sorted(names, key=natural_key)
    if not every:
        return ()
    return (Finding(kind, len(every), tuple(every[:MOST_NAMES]), tuple(numbers.items())),)
