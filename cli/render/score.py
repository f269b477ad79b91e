"""Scores for people: one gang term by term, or many in a row each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.decisions import decided, gain
from fourleaf.cli.render.gangs import asked_gpus
from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.cli.render.layout import indented, plain_table
from fourleaf.cli.render.proof import proof_line
from fourleaf.cli.render.term_inputs import measured
from fourleaf.cli.render.waiting import waiting_lines
from fourleaf.cli.render.where import Where
from fourleaf.model.reasons.text import counted
from fourleaf.model.scores.terms import GangScore, shared_points
from fourleaf.model.weights import SCALE
from fourleaf.solver.explain.appraisal import Appraisal, PlacementState

if TYPE_CHECKING:
    from fourleaf.cli.answers import Scores

PLACED = {PlacementState.PLACED_NOW: "would be placed now", PlacementState.PLACED: "runs"}


def gang_lines(scores: Scores, glyphs: Glyphs, wide: bool) -> Iterator[RenderableType]:
    """Each gang with a row per term; `wide` names the nodes of both places."""
    where = Where(scores.snapshot.fabric, glyphs)
    for number, one in enumerate(scores.gangs):
        if number:
            yield Text()
        thorough = scores.wanted is not None or one.state is PlacementState.PLACED_NOW
        yield from _gang(one, where, glyphs, wide, thorough)


def _gang(
    one: Appraisal, where: Where, glyphs: Glyphs, wide: bool, thorough: bool
) -> Iterator[RenderableType]:
    if one.waiting:
        yield from waiting_lines([one.waiting])
        return
    head = Text(str(one.gang.key), style="bold")
    if one.score is None:
        head.append("  runs on a node that is gone", style="not bold yellow")
        yield head
        return
    head.append(f"  {PLACED[one.state]} on {_leaves(one.score, where)}", style="not bold green")
    yield head
    gang = one.gang
    facts = f"{asked_gpus(gang, glyphs)}, {gang.strategy}, priority {gang.priority}"
    if gang.latency_sensitive:
        facts += ", latency-sensitive"
    yield indented(Text(facts, style="dim"))
    yield Text()
    yield indented(_terms(one.score, one.other))
    yield Text()
    yield indented(Text(f"{one.score.points:,} points for {one.score.size:,} GPUs", style="dim"))
    if one.other and one.decision:
        reason = decided(one.decision, one.score.size)
        yield indented(Text(f"next best: {_leaves(one.other, where)}; {reason}"))
    elif thorough:
        yield indented(Text("next best: no other leaves have room for it"))
    if wide:
        for title, place in (("nodes", one.score), ("nodes there", one.other)):
            if place:
                yield indented(Text(f"{title}: {where.nodes(node for _, node in place.pods)}"))


def _terms(here: GangScore, there: GangScore | None) -> Table:
    table = _empty(("term", "measured", "value", "weight", "score"))
    if there:
        for title in ("next", "gain"):
            table.add_column(title, justify="right")
    theirs = there.by_term if there else {}
    size = here.size
    for term in here.terms:
        row: list[RenderableType] = [
            Text(term.name),
            Text(measured(term.name, term.raw), style="dim"),
            f"{term.value / SCALE:.3f}",
            f"{term.weight / SCALE:.3f}",
            f"{term.points / SCALE / max(1, size):.3f}",
        ]
        if there:
            other = theirs.get(term.name, 0)
            row += [f"{other / SCALE / max(1, size):.3f}", _gain(term.points - other, size)]
        table.add_row(*row)
    total: list[RenderableType] = [Text("score", style="bold"), "", "", "", _per_gpu(here)]
    if there:
        total += [_per_gpu(there), _gain(here.points - there.points, size)]
    table.add_row(*total)
    return table


def list_lines(scores: Scores, glyphs: Glyphs, wide: bool) -> Iterator[RenderableType]:
    """A row per gang, and how their points make the objective; `wide` takes each apart."""
    where = Where(scores.snapshot.fabric, glyphs)
    if not scores.gangs:
        yield Text("no gang runs or waits")
        return
    if wide:
        yield from gang_lines(scores, glyphs, wide)
    else:
        yield _narrow(scores, where)
    yield Text()
    yield from _sum(scores)
    yield proof_line(scores.plan)


def _sum(scores: Scores) -> Iterator[Text]:
    """How the points of those placed now make the objective."""
    placed = [
        one.score.points
        for one in scores.gangs
        if one.score and one.state is PlacementState.PLACED_NOW
    ]
    if not placed:
        return
    room, whole = shared_points(scores.plan), scores.plan.objective
    others = whole - sum(placed) - room
    elsewhere = f" + {others:,} of other namespaces" if others else ""
    yield Text(
        f"{sum(placed):,} points of {counted(len(placed), 'gang')} placed now{elsewhere} + "
        f"{room:,} for room kept = {whole:,}"
    )


def _narrow(scores: Scores, where: Where) -> Table:
    table = _empty(("gang", "leaves", "score", "next", "decided by"))
    for one in scores.gangs:
        name = Text(str(one.gang.key))
        if one.score is None:
            why = one.waiting.reason.kind.value if one.waiting else "its node is gone"
            table.add_row(name, Text("-", style="dim"), "", "", Text(why, style="yellow"))
            continue
        row = [name, Text(_leaves(one.score, where)), _per_gpu(one.score)]
        if one.other and one.decision:
            row += [_per_gpu(one.other), Text(decided(one.decision, one.score.size))]
        elif one.state is PlacementState.PLACED_NOW:
            row += [Text("-", style="dim"), Text("no other leaves have room", style="dim")]
        else:
            row += [Text("-", style="dim"), Text("it runs", style="dim")]
        table.add_row(*row)
    return table


def _empty(titles: tuple[str, ...]) -> Table:
    table = plain_table()
    for title in titles:
        number = title in ("value", "weight", "score", "next")
        whole = title in ("gang", "term")
        table.add_column(
            title, justify="right" if number else "left", overflow="fold", no_wrap=whole
        )
    return table


def _leaves(score: GangScore, where: Where) -> str:
    return where.leaves(node for _, node in score.pods)


def _per_gpu(score: GangScore) -> Text:
    return Text(f"{score.points / SCALE / max(1, score.size):.3f}", style="bold")


def _gain(points: int, size: int) -> Text:
    style = "green" if points > 0 else "red" if points < 0 else "dim"
    return Text(gain(points, size), style=style)
