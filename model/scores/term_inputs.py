"""What a term is measured on, before it becomes a value: amounts by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from fourleaf.model.config.spec import BUILT_IN_TERMS
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.member_tally import Placed
from fourleaf.model.validator.recompute import (
    BANDWIDTH,
    DOMAIN,
    FEWEST_NODES,
    PREFERENCES,
    SPREAD,
    unmet_share,
)
from fourleaf.model.validator.uplinks import demand, uplink_of
from fourleaf.model.weights import SCALE

Raw = Mapping[str, int]
"""Amounts by name; which names, `raw_of` says."""

COMFORT, ALIGNMENT, UTILIZATION, HISTORY = BUILT_IN_TERMS


def raw_of(snapshot: Snapshot, one: Placed, name: str) -> Raw:
    """The amounts behind term `name`; none for custom terms, whose value says it all.

    `resourceAvailability`: `cpu`, `memory`, `pods`, the least thousandths of each that remain
    on a node used; `taken` of the `free` GPUs of the leaves used. `topologyAlignment`: `leaves`
    and `spines` used, `fewest` of both together, and with a preferred domain `preferred`, its
    pods inside. `domainUtilization`: `gpus` of the leaves used, `used` of them afterwards.
    `historicalPerformance`: `failures`, the mean failure rate in thousandths. `bandwidth`:
    `asked` and `uplink` in Mbit/s where the load is highest. `domain`: `pods`, `preferred` of
    them in the domain that the gang prefers.
    `preferences`: `pods`, `met` of them on nodes that meet all of their preferences.
    `fewestNodes` and `spread`: `pods`, the `nodes` and `leaves` that they stand on.
    """
    measure = _MEASURES.get(name)
    return measure(snapshot, one) if measure else {}


def _comfort(snapshot: Snapshot, one: Placed) -> Raw:
    least: dict[str, int] = {}
    for role, name in set(one.standing.here):
        asked = one.gang.roles[role].request
        node, free = snapshot.fabric.nodes[name].allocatable, snapshot.free[name]
        for what, share in _remaining(node, free, asked).items():
            least[what] = min(share, least.get(what, SCALE))
    after = _utilization(snapshot, one)
    taken = sum(one.standing.new_gpus.values())
    return least | {"taken": taken, "free": after["gpus"] - after["used"] + taken}


def _remaining(whole: Resources, free: Resources, asked: Resources) -> dict[str, int]:
    rows = (
        ("cpu", whole.cpu, free.cpu, asked.cpu),
        ("memory", whole.memory, free.memory, asked.memory),
        ("pods", whole.pods, free.pods, asked.pods),
    )
    return {
        name: max(0, SCALE * ((left or 0) - (want or 0)) // full)
        for name, full, left, want in rows
        if full
    }


def _alignment(snapshot: Snapshot, one: Placed) -> Raw:
    standing, paths = one.standing, one.locations.paths
    raw = {
        "leaves": len(standing.leaves),
        "spines": len({paths.spine_of[leaf] for leaf in standing.leaves}),
        "fewest": one.locations.fewest,
    }
    raw.update(_domain(snapshot, one))
    return raw


def _domain(snapshot: Snapshot, one: Placed) -> Raw:
    wish = one.gang.preferred_domain
    if wish is None:
        return {}
    leaves, leaf_of = snapshot.fabric.leaves, snapshot.fabric.leaf_of
    hosts = [leaves[leaf_of[node]] for _, node in one.standing.here]
    inside = sum(wish in (leaf.name, leaf.spine) for leaf in hosts)
    return {"pods": len(hosts), "preferred": inside}


def _utilization(snapshot: Snapshot, one: Placed) -> Raw:
    new = one.standing.new_gpus
    total = used = 0
    for leaf in {snapshot.fabric.leaf_of[node] for _, node in one.standing.here}:
        for node in snapshot.fabric.leaves[leaf].nodes:
            if node.schedulable:
                total += node.allocatable.gpus
                used += max(0, node.allocatable.gpus - snapshot.free[node.name].gpus)
        used += new.get(leaf, 0)
    return {"used": used, "gpus": total}


def _history(snapshot: Snapshot, one: Placed) -> Raw:
    nodes = Counter(node for _, node in one.standing.here)
    rates = sum(snapshot.fabric.nodes[node].failure_permille * n for node, n in nodes.items())
    return {"failures": rates // max(1, nodes.total())}


def _bandwidth(snapshot: Snapshot, one: Placed) -> Raw:
    spec, leaves = snapshot.config.spec, snapshot.fabric.leaves
    loads = [
        (asked, uplink)
        for leaf, asked in demand(one).items()
        if asked and (uplink := uplink_of(spec, leaves[leaf])) is not None
    ]
    if not loads:
        return {}
    asked, uplink = max(loads, key=lambda load: load[0] / max(1, load[1]))
    return {"asked": asked, "uplink": uplink}


def _preferences(snapshot: Snapshot, one: Placed) -> Raw:
    pods = Counter(one.standing.here)
    roles, nodes = one.gang.roles, snapshot.fabric.nodes
    met = sum(n for (role, node), n in pods.items() if not unmet_share(roles[role], nodes[node]))
    return {"pods": pods.total(), "met": met}


def _places(snapshot: Snapshot, one: Placed) -> Raw:
    nodes = {node for _, node in one.standing.here}
    leaves = {snapshot.fabric.leaf_of[node] for node in nodes}
    return {"pods": len(one.standing.here), "nodes": len(nodes), "leaves": len(leaves)}


_MEASURES: Mapping[str, Callable[[Snapshot, Placed], Raw]] = {
    COMFORT: _comfort,
    ALIGNMENT: _alignment,
    UTILIZATION: _utilization,
    HISTORY: _history,
    BANDWIDTH: _bandwidth,
    DOMAIN: _domain,
    PREFERENCES: _preferences,
    FEWEST_NODES: _places,
    SPREAD: _places,
}
