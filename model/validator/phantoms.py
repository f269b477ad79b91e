"""Law 8: phantoms stand on nodes that are free for them, each in a legal location."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from fourleaf.model.job_mix import likely_gangs
from fourleaf.model.plan import Phantom, Plan
from fourleaf.model.resources import Resources, plus
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.cross_gang_laws import over
from fourleaf.model.validator.facts import FabricFacts
from fourleaf.model.validator.locations import LegalLocations
from fourleaf.model.validator.static_keys import Counts


def phantom_breaches(
    snapshot: Snapshot, plan: Plan, facts: FabricFacts, taken: Mapping[str, Resources]
) -> Iterator[Breach]:
    """Every breach of law 8. `taken` is what the placements put on each node."""
    if not plan.phantoms:
        return
    values = {(shape.nodes, shape.gpus): shape.value for shape in likely_gangs(snapshot)}
    known = snapshot.fabric.nodes
    for node, times in Counter(n for p in plan.phantoms for n in p.hosts).items():
        if times > 1:
            yield Breach(Law.PHANTOM, None, node, f"holds {times} phantom pods")
    for phantom in plan.phantoms:
        value = values.get((phantom.nodes, phantom.gpus))
        name = f"phantom of {phantom.nodes} nodes of {phantom.gpus} GPUs"
        if value is None:
            yield Breach(Law.PHANTOM, None, name, "is no shape of the job mix")
            continue
        if value != phantom.value:
            detail = f"says it is worth {phantom.value}, it is worth {value}"
            yield Breach(Law.PHANTOM, None, name, detail)
        if len(phantom.hosts) != phantom.nodes:
            yield Breach(Law.PHANTOM, None, name, f"stands on {len(phantom.hosts)} nodes")
        if any(node not in known for node in phantom.hosts):
            yield Breach(Law.PHANTOM, None, name, "stands on a node that is not in the fabric")
            continue
        locations = facts.of_phantom(snapshot.config.spec, phantom.nodes, phantom.gpus)
        yield from _standing(snapshot, phantom, name, locations, taken)


def _standing(
    snapshot: Snapshot,
    phantom: Phantom,
    name: str,
    locations: LegalLocations,
    taken: Mapping[str, Resources],
) -> Iterator[Breach]:
    request = Resources(gpus=phantom.gpus)
    leaves: dict[int, Counts] = {}
    for node in phantom.hosts:
        leaf = snapshot.fabric.leaf_of[node]
        leaves[leaf] = (leaves.get(leaf, (0,))[0] + 1,)
        if not locations.room.eligible(0, node):
            yield Breach(Law.PHANTOM, None, node, f"not eligible for a {name}")
        asked = plus(taken[node], request) if node in taken else request
        # What a placement overdraws is its own breach; here only what a phantom asks for counts.
        if any(what in ("GPUs", "pod slots") for what, _, _ in over(snapshot.free[node], asked)):
            yield Breach(Law.PHANTOM, None, node, f"not free for a {name}")
    if len(phantom.hosts) == phantom.nodes:
        fault = locations.fault(leaves)
        if fault is not None:
            yield Breach(Law.PHANTOM, None, name, fault)
