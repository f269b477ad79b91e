"""What `lint` understood of an input: nodes, leaves, gangs by dialect, where leaves come from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fourleaf.model.config.owner_kinds import merged
from fourleaf.model.config.spec import Spec
from fourleaf.model.config.topology_presets import PRESETS
from fourleaf.model.readers import InputReading, Source
from fourleaf.model.readers.gangs.dialects import Dialect, membership
from fourleaf.model.readers.gangs.expansion import Expansion
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.owners import Owners
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.pods import read_pod
from fourleaf.model.reasons.text import counted
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.topology import choose_levels, levels_of


def understood(reading: InputReading, sources: Sequence[Source]) -> list[tuple[str, str]]:
    """What the input says, as pairs of a word and the facts."""
    snapshot = reading.snapshot
    nodes = snapshot.fabric.nodes.values()
    down = sum(not node.schedulable for node in nodes)
    sizes = Counter(len(leaf.nodes) for leaf in snapshot.fabric.leaves)
    held = sum(gang.hold is not None for gang in snapshot.gangs)
    dialects = _gangs_by_dialect(sources, snapshot.config.spec)
    ours = sum(pod.ours for pod in snapshot.running)
    facts = [
        (
            "nodes",
            f"{len(nodes):,} with {sum(n.allocatable.gpus for n in nodes):,} GPUs; "
            f"{down:,} cordoned or not ready",
        ),
        (
            "leaves",
            f"{len(snapshot.fabric.leaves):,}"
            + "".join(f"; {times:,} of {counted(size, 'node')}" for size, times in _sorted(sizes)),
        ),
        ("spines", f"{len(snapshot.fabric.spines):,}"),
        ("topology", _topology_source(snapshot)),
        ("running", f"{counted(len(snapshot.running), 'pod')}, {ours:,} of them ours"),
        ("waiting", f"{counted(len(snapshot.gangs), 'gang')}, {held:,} of them held back"),
        ("dialects", ", ".join(f"{name} {times:,}" for name, times in dialects) or "none"),
        ("config", reading.config_source),
    ]
    if reading.ignored:
        ignored = ", ".join(f"{kind} {times:,}" for kind, times in sorted(reading.ignored.items()))
        facts.append(("ignored", ignored))
    return facts


def _gangs_by_dialect(sources: Sequence[Source], spec: Spec) -> list[tuple[str, int]]:
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


def _topology_source(snapshot: Snapshot) -> str:
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


def _sorted(sizes: Counter[int]) -> list[tuple[int, int]]:
    return sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
