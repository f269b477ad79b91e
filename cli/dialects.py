"""What `lint` says beyond the snapshot: the dialects of gangs, and the labels of the topology."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fourleaf.model.config.owner_kinds import merged
from fourleaf.model.config.spec import Spec
from fourleaf.model.config.topology_presets import PRESETS
from fourleaf.model.readers import Source
from fourleaf.model.readers.gangs.dialects import Dialect, membership
from fourleaf.model.readers.gangs.expansion import Expansion
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.owners import Owners
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.pods import read_pod
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.topology import choose_levels, levels_of


def gangs_by_dialect(sources: Sequence[Source], spec: Spec) -> list[tuple[str, int]]:
    """How many waiting gangs are written in each dialect, in the order of recognition."""
    inventory = Inventory(Report())
    inventory.take(sources)
    kinds = merged(spec.owner_kinds)
    inventory.adopt(kinds)
    owners = Owners(inventory, kinds=kinds)
    pods = [read_pod(one, one.name, owners) for one in inventory.of("", "Pod")]
    pods.extend(Expansion(owners, spec).pods(pods))
    gangs = {
        (pod.namespace, *membership(pod))
        for pod in pods
        if pod.waits and pod.scheduler in spec.scheduler_names
    }
    counts = Counter(dialect for _, dialect, _ in gangs)
    known = [dialect.value for dialect in Dialect]
    order = [*known, *sorted(counts.keys() - set(known))]
    return [(dialect, counts[dialect]) for dialect in order if counts[dialect]]


def topology_source(snapshot: Snapshot) -> str:
    """The preset or the labels that leaves and spines come from."""
    topology = snapshot.config.spec.topology
    labels = [n.labels for n in snapshot.fabric.nodes.values() if n.allocatable.gpus]
    levels = choose_levels(topology, labels)
    if levels is None or snapshot.fabric.flat:
        if refused := len(snapshot.fabric.refused):
            return f"no node names a leaf; {refused:,} take no pods for it"
        return "no node names a leaf; all stand in one" if labels else "no GPU node"
    named = f"leaf by {levels.leaf}" + (f", spine by {levels.spine}" if levels.spine else "")
    if topology.levels:
        return f"configured levels: {named}"
    presets = [
        name for name, sets in PRESETS.items() if levels in [levels_of(labels) for labels in sets]
    ]
    found = "configured" if topology.preset else "detected"
    return f"preset {presets[0]}, {found}: {named}"
