"""All about one gang, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.gangs import asked
from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.cli.render.layout import indented, plain_table
from fourleaf.cli.render.proof import proven
from fourleaf.cli.render.queue import age
from fourleaf.cli.render.waiting import waiting_lines
from fourleaf.cli.render.where import Where
from fourleaf.model.snapshot import Snapshot

if TYPE_CHECKING:
    from fourleaf.cli.answers import RunningMember, WhyAnswer


def why_lines(
    answer: WhyAnswer, snapshot: Snapshot, now: float, glyphs: Glyphs
) -> Iterator[RenderableType]:
    """Where the gang stands, and what planning it now comes to."""
    where = Where(snapshot.fabric, glyphs)
    if answer.standing:
        leaves = where.leaves(one.node for one in answer.standing)
        pods = f"{len(answer.standing)} pod" + ("" if len(answer.standing) == 1 else "s")
        yield _head(answer, f"runs: {pods} on {leaves}", "green")
        yield indented(_table(answer.standing))
    gang = answer.gang
    if gang is None:
        return
    if answer.standing:
        yield Text()
    facts = f"priority {gang.priority}, {asked(gang, glyphs)} GPUs, {age(now - gang.created)} old"
    if answer.placement:
        nodes = where.nodes(node for _, node in answer.placement.pods)
        leaves = where.leaves(node for _, node in answer.placement.pods)
        yield _head(answer, "would be placed now", "green")
        yield indented(Text(facts, style="dim"))
        yield indented(Text(f"leaves: {leaves}"))
        yield indented(Text(f"nodes in rank order: {nodes}"))
        if answer.status:
            yield indented(Text("plan: ").append(proven(answer.status, answer.gap)))
    elif answer.waiting:
        head, *lines = waiting_lines([answer.waiting])
        yield head
        yield indented(Text(facts, style="dim"))
        yield from lines
    elif answer.told and answer.told.kind:
        yield _head(answer, answer.told.kind.value, "yellow")
        yield indented(Text(facts, style="dim"))
        for step in answer.told.unblock:
            yield indented(Text(f"unblock: {step}", style="green"))
        sentence, near, miss = answer.told.sentence.partition("; nearest: ")
        yield indented(Text(sentence))
        if near:
            yield indented(Text(f"nearest: {miss}"))
        yield indented(Text("as the scheduler says; --plan plans anew", style="dim"))


def _head(answer: WhyAnswer, text: str, style: str) -> Text:
    line = Text(str(answer.key), style="bold")
    line.append(f"  {text}", style=f"not bold {style}")
    return line


def _table(standing: tuple[RunningMember, ...]) -> Table:
    table = plain_table("pod", "node", "leaf", "devices")
    for one in standing:
        devices = ",".join(map(str, one.devices))
        table.add_row(Text(one.pod), Text(one.node), Text(one.leaf), devices)
    return table
