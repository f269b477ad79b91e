"""A whole plan for people: the map, the gangs, their scores, who waits, and the proof."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.fabric_map import fabric_map
from fourleaf.cli.render.gangs import bars, gang_table, pod_table
from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.cli.render.layout import INDENT, heading, indented, plain_table
from fourleaf.cli.render.proof import proof_line
from fourleaf.cli.render.waiting import waiting_lines
from fourleaf.model.plan import Move, Plan
from fourleaf.model.reasons.text import counted
from fourleaf.model.snapshot import Snapshot


def plan_view(
    snapshot: Snapshot,
    plan: Plan,
    width: int,
    glyphs: Glyphs,
    wide: bool = False,
    namespace: str | None = None,
) -> Iterator[RenderableType]:
    """Everything worth seeing of `plan`, from top to bottom, for `width` columns.

    `namespace`: the one that its gangs are of, where others are left out.
    """
    yield heading("fabric", _fabric_facts(snapshot))
    yield from map(indented, fabric_map(snapshot, plan, width - INDENT, glyphs))
    if plan.placements:
        yield Text()
        yield heading("placed", counted(len(plan.placements), "gang"))
        yield indented(gang_table(snapshot, plan, glyphs))
        if wide:
            yield Text()
            yield indented(pod_table(snapshot, plan, glyphs))
        yield Text()
        yield heading("score", "1.000 is the best that the weights can give")
        yield from map(indented, bars(snapshot, plan, glyphs))
    if plan.moves:
        yield Text()
        yield heading("moves", counted(len(plan.moves), "pod"))
        yield indented(_moves(plan.moves))
    if plan.waiting:
        yield Text()
        yield heading("waiting", counted(len(plan.waiting), "gang"))
        yield from map(indented, waiting_lines(plan.waiting))
    if not plan.placements and not plan.waiting:
        yield Text()
        yield _nothing(snapshot, namespace)
    yield Text()
    if plan.phantoms:
        yield _kept(plan, glyphs)
    yield proof_line(plan)


def _nothing(snapshot: Snapshot, namespace: str | None) -> Text:
    """What stands in place of gangs where the input has none to place."""
    if namespace is not None and snapshot.gangs:
        return Text(f"no gang of {namespace} waits", style="yellow")
    names = " or ".join(snapshot.config.spec.scheduler_names)
    return Text(f"no gang waits: no pod without a node has schedulerName {names}", style="yellow")


def _fabric_facts(snapshot: Snapshot) -> str:
    nodes = snapshot.fabric.nodes.values()
    free = sum(max(0, snapshot.free[n.name].gpus) for n in nodes if n.schedulable)
    return (
        f"{counted(len(nodes), 'node')}, {counted(len(snapshot.fabric.leaves), 'leaf')}, "
        f"{counted(len(snapshot.fabric.spines), 'spine')}; "
        f"{free:,} of {sum(n.allocatable.gpus for n in nodes):,} GPUs were free"
    )


def _kept(plan: Plan, glyphs: Glyphs) -> Text:
    """Which likely gangs could still start afterwards."""
    sizes = Counter(phantom.nodes for phantom in plan.phantoms)
    kept = ", ".join(
        f"{times} {glyphs.times} {counted(nodes, 'node')}" for nodes, times in sorted(sizes.items())
    )
    return Text(f"room kept for the gangs likely to come next: {kept}")


def _moves(moves: tuple[Move, ...]) -> Table:
    table = plain_table("pod", "from", "to", "why")
    for move in moves:
        table.add_row(
            Text(f"{move.namespace}/{move.pod}"), move.source, move.target, Text(move.why)
        )
    return table
