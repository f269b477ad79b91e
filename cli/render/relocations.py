"""Drains and defragmentations for people: what moves where, who starts, and the proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.cli.render.layout import heading, indented, plain_table
from fourleaf.cli.render.proof import relocation_line
from fourleaf.cli.render.waiting import waiting_lines
from fourleaf.cli.render.where import Where
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move
from fourleaf.model.previews.defrag import DefragPreview
from fourleaf.model.previews.drain import Drained
from fourleaf.model.readers.objects.annotations import REPAIR_POLICY
from fourleaf.model.reasons.text import counted
from fourleaf.model.relocation import FreeLeaves
from fourleaf.model.running_gang import RepairPolicy


def drain_view(answer: Drained, fabric: Fabric, glyphs: Glyphs) -> Iterator[RenderableType]:
    """What becomes of every gang on the nodes, from top to bottom."""
    where = Where(fabric, glyphs)
    yield heading("drain", f"{counted(len(answer.nodes), 'node')}: {where.nodes(answer.nodes)}")
    plan = answer.plan
    if answer.moves:
        gangs, pods = counted(len(answer.moves), "gang"), counted(answer.count, "pod")
        yield from _section("moves", f"{pods} of {gangs}")
        yield indented(_moves((key, m) for key, moves in answer.moves.items() for m in moves))
    yield from _lost(answer)
    for title, keys, fate in (
        ("stay", plan.waits, "wait for their nodes, as their repair policy says"),
        ("start over", plan.restarts, "are evicted whole, as their repair policy says"),
    ):
        if keys:
            yield from _section(title, f"{counted(len(keys), 'gang')} that {fate}")
            yield from (indented(Text(str(key))) for key in keys)
    yield from _left_behind(answer)
    there = answer.moves or plan.lost or plan.waits or plan.restarts
    if not (there or answer.staying or answer.promised):
        yield Text("no gang stands there")
    if not answer.enabled:
        yield Text("repair.enabled is false in the config: the scheduler moves no gang", "yellow")
    yield Text()
    yield relocation_line(plan, answer.count, "proven fewest")


def _lost(answer: Drained) -> Iterator[RenderableType]:
    """The gangs that stay for want of another place, and as their pods may not go."""
    for title, gangs, why in (
        ("no place", answer.placeless, "{} no other legal place, and {} where {}"),
        ("may not go", answer.kept, "{} pods that may not be evicted, and {} where {}"),
    ):
        one_alone = len(gangs) == 1
        words = ("has", "stays", "it is") if one_alone else ("have", "stay", "they are")
        if gangs:
            yield from _section(title, f"{counted(len(gangs), 'gang')} {why.format(*words)}")
        for one in gangs:
            yield from map(indented, waiting_lines([one]))
            if one.gang in answer.tied:
                advice = (
                    f"unblock: set {REPAIR_POLICY} to {RepairPolicy.MOVE}, so that others of it "
                    f"move too; it is {answer.tied[one.gang]}"
                )
                yield indented(indented(Text(advice, style="green")))


def _left_behind(answer: Drained) -> Iterator[RenderableType]:
    """What stays, what loses its places, what ends, and what is gone for good."""
    if answer.promised:
        facts = f"{counted(len(answer.promised), 'gang')} for which pods were told to go"
        yield from _section("would lose places", facts)
        for gang, nodes in answer.promised.items():
            yield indented(Text(f"{gang}: on {', '.join(nodes)}", style="yellow"))
        yield indented(Text("unblock: wait until they run, and drain then", style="green"))
    if answer.staying:
        facts = f"{counted(len(answer.staying), 'gang')} with pods that no controller makes anew"
        yield from _section("stay where they are", facts)
        for gang, pods in answer.staying.items():
            yield indented(Text(f"{gang}: delete {', '.join(pods)} yourself, or let it end"))
    if answer.ended:
        facts = f"{counted(len(answer.ended), 'Job')}, for evicted pods count as failed"
        yield from _section("would end", facts)
        yield from (indented(Text(str(one), style="yellow")) for one in answer.ended)
        advice = "unblock: raise their spec.backoffLimit first, or drain without --end-jobs"
        yield indented(Text(advice, style="green"))
    if answer.unowned:
        facts = (
            f"{counted(len(answer.unowned), 'pod')} without a controller: they are not made anew"
        )
        yield from _section("evicted for good", facts)
        yield indented(Text(", ".join(answer.unowned)))
    if answer.others:
        facts = (
            f"{counted(len(answer.others), 'pod')} of other schedulers; kubectl drain evicts them"
        )
        yield from _section("others", facts)
        yield indented(Text(", ".join(answer.others)))


def defrag_view(
    answer: DefragPreview, fabric: Fabric, glyphs: Glyphs, wide: bool = False
) -> Iterator[RenderableType]:
    """What moves, who could start then, and the room before and after."""
    where = Where(fabric, glyphs)
    plan = answer.plan
    young = f", {answer.young:,} more once they have run longer" if answer.young else ""
    movable = f"{counted(answer.movable, 'gang')} may move{young}"
    yield heading("defragmentation", f"at most {counted(answer.budget, 'pod')}; {movable}")
    if plan.moves:
        yield from _section("moves", counted(len(plan.moves), "pod"))
        yield indented(_moves((answer.gangs[m.namespace, m.pod], m) for m in plan.moves))
    if plan.placements:
        yield from _section("could start", counted(len(plan.placements), "gang"))
        for one in plan.placements:
            nodes = where.nodes(node for _, node in one.pods)
            yield indented(Text(f"{one.gang}  {nodes}"))
    if plan.waiting:
        yield from _section("still waiting", counted(len(plan.waiting), "gang"))
        if wide:
            yield from map(indented, waiting_lines(plan.waiting))
        else:
            yield indented(Text(", ".join(str(one.gang) for one in plan.waiting)))
    yield from _section("free", "whole leaves, and disjoint pairs and quads of adjacent ones")
    yield indented(_rooms(plan.before, plan.after))
    yield Text()
    if not plan.moves:
        yield Text("no moves win anything" if answer.movable else "no gang may be moved")
    yield relocation_line(plan, len(plan.moves), "proven best")


def _section(title: str, facts: str) -> Iterator[Text]:
    yield Text()
    yield heading(title, facts)


def _moves(moves: Iterable[tuple[GangKey, Move]]) -> Table:
    table = plain_table("gang", "pod", "from", "to", "why")
    before: GangKey | None = None
    for key, move in moves:
        name = "" if key == before else str(key)
        before = key
        source = Text(move.source or "-", style="default" if move.source else "dim")
        table.add_row(Text(name), Text(move.pod), source, Text(move.target), Text(move.why))
    return table


def _rooms(before: FreeLeaves, after: FreeLeaves) -> Table:
    table = plain_table("")
    for title in ("leaves", "pairs", "quads"):
        table.add_column(title, justify="right")
    for name, room in (("before", before), ("after", after)):
        table.add_row(name, f"{room.leaves:,}", f"{room.pairs:,}", f"{room.quads:,}")
    return table
