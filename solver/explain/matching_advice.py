"""Short facts about what would let a gang onto more nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import GPU_SOURCE_LABEL, OF_DEVICE_MAPS, Node, Taint
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.readers.objects.annotations import FEATURES
from fourleaf.model.readers.topology.node_features import HAS_IT, label_of
from fourleaf.model.resources import Resources, capacity_of, fits, is_extended
from fourleaf.solver.explain.own_taints import own_taints
from fourleaf.solver.instance.fabric_index import FabricIndex

_FEATURES = {(label_of(one), HAS_IT): f"the node feature {one}" for one in FEATURES}
"""Conditions of a selector that an annotation makes -> what the annotation asks for."""
_BY_CLASS = (
    "what a DeviceClass gives by that name (extendedResourceName) is to be asked for by a "
    "ResourceClaim"
)
MOST_NAMED = 3
GIB = 1 << 30
MIB = 1 << 20

Held = Sequence[tuple[Node, int]]
"""Nodes that would be gained, and how many pods each holds."""


def named(names: Sequence[str]) -> str:
    """A few of these names and how many more there are."""
    shown = list(names[:MOST_NAMED])
    more = len(names) - len(shown)
    if more:
        return f"{', '.join(shown)} and {more} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def label_step(names: Sequence[str]) -> str:
    """Give nodes that name no leaf the label of theirs."""
    one = len(names) == 1
    why = "it names none and stands" if one else "they name none, so each stands"
    return f"label {named(names)} with {'its' if one else 'their'} leaf: {why} apart"


def refused_step(names: Sequence[str]) -> str:
    """Let nodes in that take no pods for want of a leaf."""
    one = len(names) == 1
    return (
        f"label {named(names)} with {'its' if one else 'their'} leaf, or set "
        f"spec.topology.unlabelled to isolate: without a leaf {'it takes' if one else 'they take'} "
        "no pods"
    )


def unseal_step(names: Sequence[str]) -> str:
    """Let what nodes hold be recorded again, which only those can who run the scheduler."""
    return (
        f"mend the scheduler's record of {named(names)}, which its log names (record_sealed, "
        "record_unreadable or page_not_written)"
    )


def of_any_source(constraint: NodeConstraint) -> NodeConstraint:
    """`constraint` without its condition on who names the GPUs of a node."""
    selector = tuple(pair for pair in constraint.selector if pair[0] != GPU_SOURCE_LABEL)
    terms = (tuple(r for r in term if r.key != GPU_SOURCE_LABEL) for term in constraint.affinity)
    affinity = tuple(terms)
    return replace(constraint, selector=selector, affinity=affinity if all(affinity) else ())


def devices_step(role: Role, gained: Sequence[Node]) -> str:
    """What lets a pod have devices as it demands them."""
    names = named([node.name for node in gained])
    wants = role.request.wants
    unknown = all(node.allocatable.devices is None for node in gained)
    if unknown and wants is not None and wants.needs_inventory:
        return f"run the agent on {names}, of whose devices nothing is known"
    return f"demand no more of the devices than {names} can give"


def source_step(role: Role, gained: Sequence[Node]) -> str:
    """How a pod may ask for GPUs that no device plugin announces."""
    names = named([node.name for node in gained])
    resource = dict(role.constraint.selector).get(GPU_SOURCE_LABEL)
    if resource is None:
        return f"run the agent on {names}, or name devices there by a device map"
    mapped = any(node.labels.get(GPU_SOURCE_LABEL) == OF_DEVICE_MAPS for node in gained)
    way = "a device map" if mapped else "a GpuClaim or a device map"
    return f"run a device plugin on {names}, or ask by {way} and not for {resource}"


def selector_step(role: Role, gained: Held, missing: int) -> str:
    """The one condition of selector or affinity whose loss is enough, else all of them."""
    constraint = role.constraint
    parts: list[tuple[str, NodeConstraint]] = []
    for key, value in constraint.selector:
        rest = tuple(pair for pair in constraint.selector if pair != (key, value))
        asked = _FEATURES.get((key, value), f"the selector {key}={value}")
        parts.append((asked, replace(constraint, selector=rest)))
    if constraint.affinity:
        parts.append(("the required node affinity", replace(constraint, affinity=())))
    for name, without in parts:
        nodes = [(node, holds) for node, holds in gained if without.selects(node)]
        if sum(holds for _, holds in nodes) >= missing:
            return f"{_would_match(nodes)} without {name}"
    return f"{_would_match(gained)} without {' and '.join(name for name, _ in parts)}"


def _would_match(gained: Held) -> str:
    """Whether they have room now is another question, and no part of an answer that is kept."""
    products = {node.product for node, _ in gained}
    product = next(iter(products)) if len(products) == 1 else ""
    noun = "node" if len(gained) == 1 else "nodes"
    return f"{len(gained):,} more {noun}{f' of product {product}' if product else ''} would match"


def taint_step(role: Role, gained: Held, missing: int) -> str:
    """The one taint whose toleration is enough, else all of them."""
    standing = [
        (role.constraint.untolerated(own_taints(node).taints), holds) for node, holds in gained
    ]
    taints = list(dict.fromkeys(taint for one, _ in standing for taint in one))
    for taint in taints:
        if sum(holds for one, holds in standing if set(one) <= {taint}) >= missing:
            return f"tolerate taint {taint_name(taint)}"
    return f"tolerate taints {named(list(dict.fromkeys(taint_name(taint) for taint in taints)))}"


def taint_name(taint: Taint) -> str:
    """A taint as operators write it, without its effect."""
    return f"{taint.key}={taint.value}" if taint.value else taint.key


def bandwidth_step(fabric: FabricIndex, gained: Held, missing: int) -> str:
    """The bandwidth that enough nodes have, or that too few nodes state theirs."""
    default = fabric.default_bandwidth
    known: list[tuple[int, int]] = []
    for node, holds in gained:
        offered = default if node.bandwidth is None else node.bandwidth
        if offered is not None:
            known.append((offered, holds))
    enough = 0
    for offered, holds in sorted(known, reverse=True):
        enough += holds
        if enough >= missing:
            return f"ask for at most {offered} Mbit/s per node"
    silent = len(gained) - len(known)
    if all(node.bandwidth is None for node in fabric.nodes):
        who = "no node states its"
    else:
        who = "1 node does not state its" if silent == 1 else f"{silent} nodes do not state their"
    label = "label nodes topology.scheduler/network-bandwidth or set network.nodeBandwidth"
    return f"{who} bandwidth: {label}"


def domain_step(gang: Gang, gained: Held, missing: int) -> str:
    """The one leaf or spine that would be enough to open, else the spines of all nodes."""
    field = f"namespaces.{gang.key.namespace}.domains"
    for kind, of in (("leaf", 0), ("spine", 1)):
        holds: dict[str, int] = {}
        for node, count in gained:
            name = (node.leaf, node.spine)[of]
            holds[name] = holds.get(name, 0) + count
        for name, count in holds.items():
            if count >= missing:
                return f"add {kind} {name} to {field}"
    return f"add spines {named(list(dict.fromkeys(node.spine for node, _ in gained)))} to {field}"


def smaller_step(
    request: Resources, gained: Sequence[Node], pods: int, nodes: Sequence[Node], one: bool
) -> str:
    """The one amount of the request that so many pods would find if it were less; "" if none.

    Of several, the one that has to be cut least. `gained` hold `one` pod each, or all they can.
    Extended resources that none of all `nodes` announces are named first, all of them. Each may be
    one that a DeviceClass gives.
    """
    absent = [
        name
        for name, _ in request.extra
        if is_extended(name) and not any(offer(node.allocatable, name) for node in nodes)
    ]
    if absent:
        rest = replace(request, extra=tuple(e for e in request.extra if e[0] not in absent))
        if sum(fits(node.allocatable, rest) for node in gained) < pods:
            return ""
        plugin = "device plugin" if len(absent) == 1 else "device plugins"
        return f"run the {plugin} of {named(absent)}, which no node announces; {_BY_CLASS}"
    cuts = []
    for name in ("gpus", "cpu", "memory", *(key for key, _ in request.extra)):
        rest = without(request, name)
        offers = [(offer(node.allocatable, name), node) for node in gained]
        held = [(n, fits(node.allocatable, rest)) for n, node in offers if n]
        if one:
            held = [(n, min(1, most)) for n, most in held]
        whole = asked(request, name)
        if amount := _largest(held, pods, whole):
            cuts.append((amount / whole, f"ask for {_amount(name, amount)} per pod"))
    return max(cuts, key=lambda cut: cut[0])[1] if cuts else ""


def _largest(held: Sequence[tuple[int, int]], pods: int, below: int) -> int:
    """The largest amount `below` of which nodes hold so many pods, 0 if none.

    `held`: what each offers, and how many pods it would hold at most.
    """
    low, high = 0, below - 1
    while low < high:
        middle = (low + high + 1) // 2
        enough = sum(min(most, offered // middle) for offered, most in held) >= pods
        low, high = (middle, high) if enough else (low, middle - 1)
    return low


def without(request: Resources, name: str) -> Resources:
    """The request without one of its amounts."""
    match name:
        case "gpus":
            return replace(request, gpus=0)
        case "cpu":
            return replace(request, cpu=0)
        case "memory":
            return replace(request, memory=0)
    return replace(request, extra=tuple(pair for pair in request.extra if pair[0] != name))


def asked(request: Resources, name: str) -> int:
    """How much of one resource a pod asks for."""
    match name:
        case "gpus":
            return request.gpus
        case "cpu":
            return request.cpu or 0
        case "memory":
            return request.memory or 0
    return request.amount(name)


def offer(amount: Resources, name: str) -> int:
    """How much of one resource a node offers when empty; unstated amounts count as none."""
    match name:
        case "gpus":
            return amount.gpus
        case "cpu":
            return amount.cpu or 0
        case "memory":
            return amount.memory or 0
    return capacity_of(amount, name)


def _amount(name: str, value: int) -> str:
    match name:
        case "gpus":
            return f"at most {value} {'GPU' if value == 1 else 'GPUs'}"
        case "cpu":
            return f"at most {value}m of CPU"
        case "memory":
            size = f"{value // GIB}Gi" if value % GIB == 0 else f"{value // MIB}Mi"
            return f"at most {size} of memory"
    return f"at most {value} {name}"
