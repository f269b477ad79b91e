"""Labels on nodes: what would change, and the change itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fourleaf.cli.bad_input import bad_input

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fourleaf.cli.cluster.read_cluster import ClusterAccess
    from fourleaf.k8s_bridge.cluster.protocol import Cluster, Target
    from fourleaf.model.config.spec import Topology
    from fourleaf.model.problems import Problem
    from fourleaf.model.topology import Levels
    from fourleaf.model.topology_import.cluster_nodes import ClusterNode
    from fourleaf.model.topology_import.description import Description
    from fourleaf.model.topology_import.labels import Diff

CONFIGURED = "spec.topology.levels"
"""What labels are called that the config lists one by one."""
MOST_NODES_SHOWN = 40
"""How many nodes a diff shows in a table."""


def target_levels(
    nodes: Sequence[ClusterNode], config: Topology, named: str | None
) -> tuple[str, Levels]:
    """The labels to write, and what they are called.

    Those of the preset `named`, else those that the config names, else those that nodes carry
    already, else `plain`: with two presets on one fabric the scheduler cannot tell which counts.
    Raises `BadInput` where nothing tells, or where a cloud writes those labels.
    """
    from fourleaf.model.config.topology_presets import PLAIN
    from fourleaf.model.topology import levels_of
    from fourleaf.model.topology_import.labels import carried_presets, foreign_labels, preset_levels

    carried = carried_presets(nodes)
    if named is None and config.levels:
        name = CONFIGURED
        labels = [level.node_label for level in config.levels]
        levels = levels_of(labels)
    else:
        known = named or config.preset
        if known is None and len(carried) > 1:
            raise _undecided(", ".join(carried), "nodes carry labels of several presets")
        name = known or (carried[0] if carried else PLAIN)
        levels = preset_levels(name)
    foreign = foreign_labels(levels)
    if foreign:
        raise _undecided(", ".join(foreign), "are labels that the cloud writes")
    return name, levels


def _undecided(value: str, message: str) -> Exception:
    from fourleaf.model.topology_import.labels import WRITABLE

    advice = (
        f"Name one with --preset ({', '.join(WRITABLE)}), and set spec.topology.preset of the "
        "scheduler to it."
    )
    return bad_input("--preset", message, advice, value=value)


def refuse_to_prune(described: Description) -> None:
    """Raise `BadInput` where `described` lacks nodes that it names: their labels would go."""
    from fourleaf.model.readers.topology.findings_text import sentence

    if described.cut_off is None:
        return
    message = f"removes no labels by this description, which is {sentence(described.cut_off)}"
    advice = "Give the whole output of ibnetdiscover, or leave --prune out."
    raise bad_input(described.source, message, advice, field="--prune")


def rival_lines(
    name: str, nodes: Sequence[ClusterNode], config: Topology
) -> Iterator[RenderableType]:
    """A word where the scheduler would not read what is written as `name`."""
    from rich.text import Text

    from fourleaf.model.topology_import.labels import carried_presets

    said = config.preset or (CONFIGURED if config.levels else None)
    rivals = [one for one in carried_presets(nodes) if one != name]
    if said is not None and said != name:
        text = f"the scheduler reads labels of {said}: set spec.topology.preset to {name}"
    elif said is None and rivals:
        also = " and ".join(rivals)
        text = f"nodes carry labels of {also} too: set spec.topology.preset to {name}"
    else:
        return
    yield Text(text, style="yellow")


def put_labels(reach: ClusterAccess, diff: Diff) -> None:
    """Make the changes of `diff` in the cluster of `reach`. Raises `BadInput`; see `apply_diff`."""
    reach.ask(lambda cluster: apply_diff(cluster, reach, diff))


async def apply_diff(cluster: Cluster, reach: ClusterAccess, diff: Diff) -> None:
    """Patch each node that changes, only while it is the node that was looked at.

    Raises `BadInput` that names those that were not patched, and why; all others were.
    """
    from fourleaf.cli.cluster.patches import patch_all
    from fourleaf.k8s_bridge.cluster.kinds import NODES
    from fourleaf.k8s_bridge.cluster.protocol import Target
    from fourleaf.model.problems import BadInput

    alike: dict[tuple[tuple[str, str | None], ...], list[Target]] = {}
    for change in diff.changes:
        key = tuple(sorted(change.patch.items()))
        alike.setdefault(key, []).append(Target("", change.node.name, change.node.uid))
    problems: list[Problem] = []
    for labels, targets in alike.items():
        try:
            patch = {"metadata": {"labels": dict(labels)}}
            await patch_all(cluster, reach, NODES, targets, patch)
        except BadInput as bad:
            problems += bad.problems
    if problems:
        raise BadInput(problems)


def diff_lines(diff: Diff) -> Iterator[RenderableType]:
    """Each node that changes, label by label, and counts of the rest."""
    from rich.text import Text

    for change in diff.changes[:MOST_NODES_SHOWN]:
        yield Text(change.node.name, style="bold")
        for key, (before, after) in change.labels.items():
            if before is not None:
                yield Text(f"  - {key}={before}", style="red")
            if after is not None:
                yield Text(f"  + {key}={after}", style="green")
    if len(diff.changes) > MOST_NODES_SHOWN:
        yield Text(f"and {len(diff.changes) - MOST_NODES_SHOWN} more nodes")
    yield Text(f"{len(diff.changes)} nodes change, {diff.same} stay as they are")
    if diff.stale:
        some = ", ".join(diff.stale[:8])
        yield Text(
            f"{len(diff.stale)} nodes keep labels that the source does not give: {some}\n"
            "  --prune removes them."
        )


def diff_document(diff: Diff, applied: bool) -> dict[str, Any]:
    """The diff as data."""
    from fourleaf.model.config.spec import API_VERSION

    return {
        "apiVersion": API_VERSION,
        "kind": "LabelDiff",
        "applied": applied,
        "changes": [
            {
                "node": one.node.name,
                "labels": {key: {"from": a, "to": b} for key, (a, b) in one.labels.items()},
            }
            for one in diff.changes
        ],
        "same": diff.same,
        "stale": list(diff.stale),
    }
