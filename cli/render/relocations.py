"""Drains and defragmentations for people: what moves where, who starts, and the proof."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.cli.render.proof import relocation_line
from fourleaf.cli.render.waiting import waiting_lines
from fourleaf.cli.render.where import Where
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move
from fourleaf.model.previews.defrag import DefragPreview
from fourleaf.model.previews.drain import Drained
from fourleaf.model.readers.objects.annotations import REPAIR_POLICY
from fourleaf.model.relocation import FreeLeaves
from fourleaf.model.running_gang import RepairPolicy


def drain_view(answer: Drained, fabric: Fabric, glyphs: Glyphs) -> Iterator[RenderableType]:
    """What becomes of every gang on the nodes, from top to bottom."""
    where = Where(fabric, glyphs)
    yield _heading("drain", f"{_count(len(answer.nodes), 'node')}: {where.nodes(answer.nodes)}")
    plan = answer.plan
    if answer.moves:
        gangs, pods = _count(len(answer.moves), "gang"), _count(answer.count, "pod")
        yield from _section("moves", f"{pods} of {gangs}")
        yield _indented(_moves((key, m) for key, moves in answer.moves.items() for m in moves))
    if plan.lost:
        yield from _section("no place", f"{_count(len(plan.lost), 'gang')} would not survive")
        for one in plan.lost:
            yield from map(_indented, waiting_lines([one]))
            if one.gang in answer.tied:
                advice = (
                    f"unblock: set {REPAIR_POLICY} to {RepairPolicy.MOVE}, so that others of it"
                )
                policy = f"move too; it is {answer.tied[one.gang]}"
                yield Padding(Text(f"{advice} {policy}", style="green"), (0, 0, 0, 4))
    for title, keys, fate in (
        ("stay", plan.waits, "wait for their nodes, as their repair policy says"),
        ("start over", plan.restarts, "are evicted whole, as their repair policy says"),
    ):
        if keys:
            yield from _section(title, f"{_count(len(keys), 'gang')} that {fate}")
            yield from (_indented(Text(str(key))) for key in keys)
    yield from _left_behind(answer)
    if not (answer.moves or plan.lost or plan.waits or plan.restarts or answer.staying):
        yield Text("no gang stands there")
    if not answer.enabled:
        yield Text("repair.enabled is false in the config: the scheduler moves no gang", "yellow")
    yield Text()
    yield relocation_line(plan, answer.count, "proven fewest")


def _left_behind(answer: Drained) -> Iterator[RenderableType]:
    """What stays, what ends, and what is gone for good."""
    if answer.staying:
        facts = f"{_count(len(answer.staying), 'gang')} with pods that no controller makes anew"
        yield from _section("stay where they are", facts)
        for gang, pods in answer.staying.items():
            yield _indented(Text(f"{gang}: delete {', '.join(pods)} yourself, or let it end"))
    if answer.ended:
        facts = f"{_count(len(answer.ended), 'Job')}, for evicted pods count as failed"
        yield from _section("would end", facts)
        yield from (_indented(Text(str(one), style="yellow")) for one in answer.ended)
        yield _indented(Text("unblock: raise their spec.backoffLimit first", style="green"))
    if answer.unowned:
        facts = f"{_count(len(answer.unowned), 'pod')} without a controller: they are not made anew"
        yield from _section("evicted for good", facts)
        yield _indented(Text(", ".join(answer.unowned)))
    if answer.others:
        facts = (
            f"{_count(len(answer.others), 'pod')} of other schedulers; kubectl drain evicts them"
        )
        yield from _section("others", facts)
        yield _indented(Text(", ".join(answer.others)))


def defrag_view(
    answer: DefragPreview, fabric: Fabric, glyphs: Glyphs, wide: bool = False
) -> Iterator[RenderableType]:
    """What moves, who could start then, and the room before and after."""
    where = Where(fabric, glyphs)
    plan = answer.plan
    young = f", {answer.young:,} more once they have run longer" if answer.young else ""
    movable = f"{_count(answer.movable, 'gang')} may move{young}"
    yield _heading("defragmentation", f"at most {_count(answer.budget, 'pod')}; {movable}")
    if plan.moves:
        yield from _section("moves", _count(len(plan.moves), "pod"))
        yield _indented(_moves((answer.gangs[m.namespace, m.pod], m) for m in plan.moves))
    if plan.placements:
        yield from _section("could start", _count(len(plan.placements), "gang"))
        for one in plan.placements:
            nodes = where.nodes(node for _, node in one.pods)
            yield _indented(Text(f"{one.gang}  {nodes}"))
    if plan.waiting:
        yield from _section("still waiting", _count(len(plan.waiting), "gang"))
        if wide:
            yield from map(_indented, waiting_lines(plan.waiting))
        else:
            yield _indented(Text(", ".join(str(one.gang) for one in plan.waiting)))
    yield from _section("free", "whole leaves, and disjoint pairs and quads of adjacent ones")
    yield _indented(_rooms(plan.before, plan.after))
    yield Text()
    if not plan.moves:
        yield Text("no moves win anything" if answer.movable else "no gang may be moved")
    yield relocation_line(plan, len(plan.moves), "proven best")


def _section(title: str, facts: str) -> Iterator[Text]:
    yield Text()
    yield _heading(title, facts)


def _heading(title: str, facts: str) -> Text:
    line = Text(title, style="bold")
    line.append(f"  {facts}", style="not bold dim")
    return line


def _indented(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 2))


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _moves(moves: Iterable[tuple[GangKey, Move]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for title in ("gang", "pod", "from", "to", "why"):
        table.add_column(title, overflow="fold")
    before: GangKey | None = None
    for key, move in moves:
        name = "" if key == before else str(key)
        before = key
        source = Text(move.source or "-", style="default" if move.source else "dim")
        table.add_row(Text(name), Text(move.pod), source, Text(move.target), Text(move.why))
    return table


def _rooms(before: FreeLeaves, after: FreeLeaves) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    table.add_column("")
    for title in ("leaves", "pairs", "quads"):
        table.add_column(title, justify="right")
    for name, room in (("before", before), ("after", after)):
        table.add_row(name, f"{room.leaves:,}", f"{room.pairs:,}", f"{room.quads:,}")
    return table
