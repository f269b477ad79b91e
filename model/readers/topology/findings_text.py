"""Findings as sentences, and what to do about each."""

from __future__ import annotations

from collections.abc import Mapping

from fourleaf.model.readers.topology.findings import Finding, FindingKind

CUT_OFF_ADVICE = (
    "Discover the fabric again and give the whole output, up to its last line; hosts without a "
    "section are left out."
)
_LABEL_THEM = (
    "Run `fourleaf topology apply SOURCE` with what ibnetdiscover, Slurm or topograph say of the "
    "fabric, or with a CSV of node, leaf and spine"
)
_TEXTS: Mapping[FindingKind, tuple[str, str]] = {
    FindingKind.RAIL_UNITS: (
        "rail-optimised, up to {rails} rails: the adapters of a node go to different leaf "
        "switches, so units of switches that share their nodes stand for leaves",
        "Nothing to do: nodes of one unit reach each other over one switch on every rail.",
    ),
    FindingKind.BLOCKS_AS_LEAVES: (
        "blocks stand for leaves, without spines, as a block file names no switches above",
        "Give the tree of the fabric instead where gangs need more than one block.",
    ),
    FindingKind.LEVELS_LEFT_OUT: (
        "levels of switches above spine and core are left out",
        "Nothing to do: gangs are placed by leaf and spine.",
    ),
    FindingKind.SWITCHES_UNNAMED: (
        "switches without a name of their own go by their GUID",
        "Name them in the fabric manager, so that labels can be read.",
    ),
    FindingKind.LEAVES_DISCOVERED: (
        "no label names a leaf, so leaves are those that agents discovered, by one source",
        "Nothing to do. Labels win where they name a leaf.",
    ),
    FindingKind.NODE_DISCOVERED: (
        "nodes name no leaf, and stand where agents discovered them, beside nodes that name one",
        "Nothing to do. Label them where that is wrong.",
    ),
    FindingKind.CUT_OFF: (
        "cut off: {many} adapters and {some} switches that links lead to have no section",
        CUT_OFF_ADVICE,
    ),
    FindingKind.HOSTS_UNNAMED: (
        "adapters name no host, so it is not known whose they are",
        "Start rdma-ndd on those hosts, which sets the description to HOST DEVICE.",
    ),
    FindingKind.NODE_IN_TWO_LEAVES: (
        "nodes stand under more than one leaf",
        "Check their cables or lines; one that is split evenly gets no place.",
    ),
    FindingKind.NODE_TWICE: (
        "nodes are listed twice",
        "Take out one of the two.",
    ),
    FindingKind.SWITCH_IN_TWO_LEAVES: (
        "switches, as agents discovered them, have nodes of several leaves by their labels",
        "Correct the labels, or the cables. Labels count.",
    ),
    FindingKind.CLIQUE_IN_TWO_LEAVES: (
        "NVLink cliques have nodes of several leaves",
        "Check the labels and cables of their nodes: a clique stands in one rack.",
    ),
    FindingKind.DISCOVERY_FAILED: (
        "sources that agents discover by cannot be used, or not as a whole",
        "See status.topology.faults: kubectl get gns NODE -o yaml.",
    ),
    FindingKind.FEW_DISCOVERED: (
        "nodes were discovered, no more than half of those with GPUs, so no leaf is made of them",
        "See which agents run, and status.topology.faults of the others: kubectl get gns -o yaml.",
    ),
    FindingKind.FLAT_FABRIC: (
        "nodes name no leaf, and no other does: all stand in one, and no leaf rule holds",
        f"{_LABEL_THEM}.",
    ),
    FindingKind.NODE_WITHOUT_LEAF: (
        "nodes stand under no leaf, so each stands apart",
        f"Cable them, or label them. {_LABEL_THEM}.",
    ),
    FindingKind.NODE_REFUSED: (
        "nodes name no leaf, so by the config they take no pods",
        f"{_LABEL_THEM}, or set spec.topology.unlabelled to isolate.",
    ),
    FindingKind.LEAF_WITHOUT_NODES: (
        "switches have nothing under them, so they are no leaves",
        "Nothing breaks where they are empty on purpose. Check that no node is missing.",
    ),
    FindingKind.LABEL_MISSING: (
        "nodes have a leaf, and lack the label of a level above it",
        "Label them: `fourleaf topology apply` writes all levels.",
    ),
    FindingKind.PRESETS_DRAW: (
        "presets fit the nodes as well as the one that is used",
        "Set spec.topology.preset to the one that is meant.",
    ),
    FindingKind.LEAF_NAME_TWICE: (
        "leaves of several spines share a name",
        "Nothing breaks: they are told apart by their spine. Unique names are easier to read.",
    ),
    FindingKind.SWITCH_NAME_TWICE: (
        "several switches share a name, and go by their GUID",
        "Give each switch a name of its own in the fabric manager.",
    ),
    FindingKind.UNEVEN_LEAVES: (
        "leaves have another size than the usual {usual} nodes",
        "Nothing breaks: complete leaves may differ. Check that no node is missing.",
    ),
    FindingKind.LEAF_TOO_SMALL: (
        "leaves can never be used by a gang of {gang} nodes, which takes the fewest "
        "leaves that could hold it: {leaves}",
        "Keep them for smaller gangs, or ask with topology-policy Preferred.",
    ),
    FindingKind.ORDER_DIFFERS: (
        "spines list their leaves in another order than the natural one of their names",
        "Adjacency follows names, leaf-2 before leaf-10. Where cables follow the list, set "
        "spec.topology.adjacency to explicit edges.",
    ),
    FindingKind.ORDER_GAP: (
        "leaves count as adjacent though numbers between them are missing",
        "Where they are not next to each other, set spec.topology.adjacency to explicit edges.",
    ),
    FindingKind.ISLANDS: (
        "no switch joins the parts of the fabric, named by their first leaf",
        "Check the cables between them; a gang that spans both could not talk.",
    ),
    FindingKind.LINK_DEGRADED: (
        "links are slower than most of their peers",
        "Reseat or replace the cable; see `iblinkinfo` and the port's error counters.",
    ),
    FindingKind.LINK_ONE_SIDED: (
        "links are known to one end alone",
        "Discover the fabric again; where it stays, the port is failing.",
    ),
    FindingKind.SWITCH_WITHOUT_UPLINK: (
        "leaf switches have no uplink",
        "Cable them to the spines: their nodes reach no others.",
    ),
    FindingKind.UPLINKS_UNEQUAL: (
        "leaf switches have fewer uplinks than the usual {usual}",
        "Look for dead cables; traffic that leaves those switches is slower.",
    ),
    FindingKind.HOST_SHORT_OF_HCAS: (
        "hosts have fewer adapters in the fabric than most of their unit",
        "Check their adapters and cables: a gang is as fast as its slowest node.",
    ),
    FindingKind.UNIT_SHORT_OF_RAILS: (
        "units have fewer rails than the usual {usual}",
        "A leaf switch of theirs is down or not discovered: bring it back.",
    ),
}


def sentence(one: Finding) -> str:
    """What `one` says, with some of the names."""
    text = f"{_TEXTS[one.kind][0].format(**dict(one.numbers))} ({one.count})"
    if not one.names:
        return text
    more = one.count - len(one.names)
    return f"{text}: {', '.join(one.names)}{f' and {more} more' if more > 0 else ''}"


def meaning(kind: FindingKind) -> str:
    """What findings of `kind` say, with their numbers left open."""
    return _TEXTS[kind][0].replace("{", "").replace("}", "")


def advice(one: Finding) -> str:
    """What to do about `one`."""
    return _TEXTS[one.kind][1]
