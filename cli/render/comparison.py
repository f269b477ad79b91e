"""Two plans side by side, for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.decisions import turned
from fourleaf.cli.render.glyphs import PALETTE, Glyphs
from fourleaf.cli.render.layout import heading, indented
from fourleaf.cli.render.proof import proof_line
from fourleaf.cli.render.waiting import waiting_lines
from fourleaf.cli.render.where import Where
from fourleaf.model.readers.config_patch import differences
from fourleaf.model.scores.comparison import ChangeKind, Comparison, GangChange
from fourleaf.model.scores.terms import shared_points

BAR_CELLS = 24
"""Cells of a bar of a term that is fully met."""


def comparison_view(comparison: Comparison, glyphs: Glyphs, wide: bool) -> Iterator[RenderableType]:
    """What of the config differs, then terms, gangs and proofs; `wide` lists all gangs."""
    before, after = comparison.before, comparison.after
    yield heading("config")
    found = [
        Text(f"{field}: {_stated(old)} -> {_stated(new)}")
        for field, old, new in differences(before.snapshot.config, after.snapshot.config)
    ]
    yield from map(indented, found or [Text("nothing differs", style="yellow")])
    yield Text()
    if before.plan.placements or after.plan.placements:
        yield heading("terms", "how far each is met, over all gangs placed: before, then after")
        yield indented(_bars(comparison, glyphs))
        yield Text()
    yield heading("gangs", _counts(comparison))
    yield from _gangs(comparison, glyphs, wide)
    yield Text()
    yield from _proofs(comparison)


def _stated(value: object) -> str:
    return "not stated" if value is None else str(value)


def _bars(comparison: Comparison, glyphs: Glyphs) -> Table:
    table = _empty("", "", "")
    before, after = comparison.terms_before, comparison.terms_after
    for number, name in enumerate(dict.fromkeys((*before, *after))):
        style, mark = PALETTE[number % len(PALETTE)], glyphs.bars[number % len(glyphs.bars)]
        for title, totals in ((name, before), ("", after)):
            value = totals[name].value / 1000 if name in totals else 0.0
            full = min(BAR_CELLS, max(0, round(value * BAR_CELLS)))
            bar = Text(mark * full, style=style)
            bar.append(glyphs.rest * (BAR_CELLS - full), style="dim")
            table.add_row(Text(title), bar, f"{value:.3f}" if name in totals else "-")
    return table


def _counts(comparison: Comparison) -> str:
    words = (
        (ChangeKind.SAME, "in place"),
        (ChangeKind.MOVED, "elsewhere"),
        (ChangeKind.SHUFFLED, "only shuffled"),
        (ChangeKind.NEWLY_PLACED, "newly placed"),
        (ChangeKind.NEWLY_WAITING, "newly waiting"),
        (ChangeKind.STILL_WAITING, "still waiting"),
    )
    counted = [(len(comparison.of(kind)), word) for kind, word in words]
    return ", ".join(f"{number:,} {word}" for number, word in counted if number) or "none"


def _gangs(comparison: Comparison, glyphs: Glyphs, wide: bool) -> Iterator[RenderableType]:
    kinds = {ChangeKind.MOVED, ChangeKind.NEWLY_PLACED, ChangeKind.NEWLY_WAITING}
    listed = [one for one in comparison.changes if wide or one.kind in kinds]
    if listed:
        yield indented(_table(listed, comparison, glyphs))
    late = comparison.of(ChangeKind.NEWLY_WAITING)
    if late:
        yield Text()
        yield heading("newly waiting")
        yield from map(indented, waiting_lines([one.waiting for one in late if one.waiting]))


def _table(changes: Iterable[GangChange], comparison: Comparison, glyphs: Glyphs) -> Table:
    old = Where(comparison.before.snapshot.fabric, glyphs)
    new = Where(comparison.after.snapshot.fabric, glyphs)
    table = _empty("gang", "before", "after", "decided by")
    for one in changes:
        first = old.leaves(node for _, node in one.before) or "waits"
        second = new.leaves(node for _, node in one.after) or "waits"
        if first == second and one.decision:
            first = old.nodes(node for _, node in one.before)
            second = new.nodes(node for _, node in one.after)
        table.add_row(Text(str(one.gang)), Text(first), Text(second), _why(one))
    return table


def _why(one: GangChange) -> Text:
    if one.kind is ChangeKind.SHUFFLED:
        return Text("nothing: as good under both configs", style="dim")
    if one.decision and one.held:
        return Text(turned(one.decision, one.held, one.size))
    if one.kind is ChangeKind.NEWLY_PLACED and one.waiting:
        return Text(f"had waited: {one.waiting.reason.kind.value}", style="green")
    if one.waiting:
        return Text(one.waiting.reason.kind.value, style="yellow")
    return Text("stays", style="dim")


def _proofs(comparison: Comparison) -> Iterator[Text]:
    plans = (("before", comparison.before.plan), ("after", comparison.after.plan))
    room = " -> ".join(f"{shared_points(plan):,}" for _, plan in plans)
    yield Text(f"room kept for likely gangs: {room} points")
    for title, plan in plans:
        yield Text(f"{title:6}  ", style="bold") + proof_line(plan)


def _empty(*titles: str) -> Table:
    table = Table(
        box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False, show_header=any(titles)
    )
    for title in titles:
        table.add_column(title, overflow="fold", no_wrap=title == "gang")
    return table
