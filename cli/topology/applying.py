"""Labels on nodes: what would change, and the change itself."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cli.clusters import connected

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cli.live import Reach
    from k8s_bridge.cluster.protocol import Cluster, Target
    from model.problems import Problem
    from model.topologies.known import KnownNode
    from model.topologies.labelling import Diff

SHOWN = 40
"""How many nodes a diff shows in a table."""


def preset_for(nodes: Sequence[KnownNode], named: str | None) -> tuple[str, tuple[str, ...]]:
    """The preset to write, and others that nodes carry.

    Two presets on one fabric and the scheduler cannot tell which counts, so that without a name
    the one that is there is kept. Raises `BadInput` where that is not ours to write.
    """
    from model.problems import BadInput, Problem, Severity
    from model.topologies.labelling import WRITABLE, carried_presets
    from model.topology import PLAIN

    carried = carried_presets(nodes)
    preset = named or (carried[0] if carried else PLAIN)
    if named is None and (len(carried) > 1 or preset not in WRITABLE):
        message = "nodes carry these labels already"
        advice = (
            f"Name one with --preset ({', '.join(WRITABLE)}), and set spec.topology.preset of the "
            "scheduler to it."
        )
        value = ", ".join(carried)
        raise BadInput([Problem(Severity.ERROR, "--preset", "", "", value, message, advice)])
    return preset, tuple(one for one in carried if one != preset)


def rival_lines(preset: str, rivals: Sequence[str]) -> Iterator[RenderableType]:
    """A word about other presets that nodes carry."""
    from rich.text import Text

    if rivals:
        yield Text(
            f"nodes carry labels of {' and '.join(rivals)} too: set spec.topology.preset of the "
            f"scheduler to {preset}",
            style="yellow",
        )


def put_labels(reach: Reach, diff: Diff) -> None:
    """Make the changes of `diff` in the cluster of `reach`. Raises `BadInput`; see `apply_diff`."""
    asyncio.run(_put(reach, diff))


async def _put(reach: Reach, diff: Diff) -> None:
    async with connected(reach.kubeconfig, reach.context) as cluster:
        await apply_diff(cluster, reach, diff)


async def apply_diff(cluster: Cluster, reach: Reach, diff: Diff) -> None:
    """Patch each node that changes, only while it is the node that was looked at.

    Raises `BadInput` that names those that were not patched, and why; all others were.
    """
    from cli.patching import patch_all
    from k8s_bridge.cluster.kinds import NODES
    from k8s_bridge.cluster.protocol import Target
    from model.problems import BadInput

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

    for change in diff.changes[:SHOWN]:
        yield Text(change.node.name, style="bold")
        for key, (before, after) in change.labels.items():
            if before is not None:
                yield Text(f"  - {key}={before}", style="red")
            if after is not None:
                yield Text(f"  + {key}={after}", style="green")
    if len(diff.changes) > SHOWN:
        yield Text(f"and {len(diff.changes) - SHOWN} more nodes")
    yield Text(f"{len(diff.changes)} nodes change, {diff.same} stay as they are")
    if diff.stale:
        some = ", ".join(diff.stale[:8])
        yield Text(
            f"{len(diff.stale)} nodes keep labels that the source does not give: {some}\n"
            "  --prune removes them."
        )


def diff_document(diff: Diff, applied: bool) -> dict[str, Any]:
    """The diff as data."""
    from model.config import API_VERSION

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
