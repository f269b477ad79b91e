"""Placed gangs as a table, and their scores as bars of objective terms."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.fabric_map import clipped, letters, styles
from fourleaf.cli.render.glyphs import PALETTE, Glyphs
from fourleaf.cli.render.layout import plain_table
from fourleaf.cli.render.where import Where
from fourleaf.model.config.spec import BUILT_IN_TERMS
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Placement, Plan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.weights import SCALE

BAR_WIDTH = 36
NAME_WIDTH = 22


def gang_table(snapshot: Snapshot, plan: Plan, glyphs: Glyphs) -> Table:
    """One row per placed gang: what it asks for, where it goes, how good that is."""
    gangs = {gang.key: gang for gang in snapshot.gangs}
    marks, colours = letters(plan), styles(plan)
    where = Where(snapshot.fabric, glyphs)
    table = plain_table("", "gang")
    table.add_column("priority", justify="right")
    table.add_column(f"pods {glyphs.times} GPUs", justify="right")
    table.add_column("leaves", overflow="fold")
    table.add_column("score", justify="right")
    for placement in plan.placements:
        gang = gangs.get(placement.gang)
        table.add_row(
            Text(marks[placement.gang], style=colours[placement.gang]),
            Text(str(placement.gang)),
            str(gang.priority) if gang else "",
            Text(asked(gang, glyphs) if gang else ""),
            Text(where.leaves(node for _, node in placement.pods)),
            f"{per_mille(gang, placement) / SCALE:.3f}" if gang else "",
        )
    return table


def asked(gang: Gang, glyphs: Glyphs) -> str:
    """`8 x 8`, or `1 x 8 + 4 x 0` where roles differ."""
    return " + ".join(f"{r.size} {glyphs.times} {r.request.gpus}" for r in gang.roles)


def asked_gpus(gang: Gang, glyphs: Glyphs) -> str:
    """`8 x 8 GPUs`, and `2 x 1 GPU` where no pod asks for another number than one."""
    single = all(role.request.gpus == 1 for role in gang.roles)
    return f"{asked(gang, glyphs)} GPU" + ("" if single else "s")


def unbound_weight(gang: Gang) -> int:
    """What the pods that were placed count for."""
    return sum(gang.pod_weight(role) * len(role.pods) for role in gang.roles)


def per_mille(gang: Gang, placement: Placement) -> int:
    """The score per GPU in thousandths: 1000 is the best that the weights can give."""
    return placement.score // max(1, unbound_weight(gang))


def term_names(plan: Plan) -> list[str]:
    """Built-in terms first, then custom ones, penalties last; only those that occur."""
    seen = {name for p in plan.placements for name, points in p.terms if points > 0}
    built_in = [name for name in BUILT_IN_TERMS if name in seen]
    return built_in + sorted(seen - set(built_in))


def _penalties(plan: Plan) -> list[str]:
    return sorted({name for p in plan.placements for name, points in p.terms if points < 0})


def bars(snapshot: Snapshot, plan: Plan, glyphs: Glyphs) -> list[Text]:
    """One bar per gang, and the key. A full bar is the best score that the weights can give."""
    gangs = {gang.key: gang for gang in snapshot.gangs}
    names = term_names(plan)
    width = min(NAME_WIDTH, max((len(str(p.gang)) for p in plan.placements), default=0))
    lines = []
    for placement in plan.placements:
        gang = gangs.get(placement.gang)
        if gang is None:
            continue
        line = Text(clipped(str(placement.gang), width).ljust(width + 2))
        line.append_text(_bar(dict(placement.terms), unbound_weight(gang), names, glyphs))
        line.append(f"  {per_mille(gang, placement) / SCALE:.3f}")
        lost = sum(points for _, points in placement.terms if points < 0)
        if lost:
            line.append(f"  {lost / SCALE / max(1, unbound_weight(gang)):.3f}", "red")
        lines.append(line)
    return [*lines, *_key(names, _penalties(plan), width + 2, glyphs)]


def _bar(points: dict[str, int], weight: int, names: Sequence[str], glyphs: Glyphs) -> Text:
    """Cells in proportion, rounded so that they add up to the rounded total."""
    full = SCALE * max(1, weight)
    line = Text()
    reached, drawn = 0, 0
    for i, name in enumerate(names):
        reached += max(0, points.get(name, 0))
        end = min(BAR_WIDTH, (reached * BAR_WIDTH + full // 2) // full)
        mark = glyphs.bars[i % len(glyphs.bars)]
        line.append(mark * (end - drawn), style=PALETTE[i % len(PALETTE)])
        drawn = max(drawn, end)
    line.append(glyphs.rest * (BAR_WIDTH - drawn), style="dim")
    return line


def _key(names: Sequence[str], penalties: Sequence[str], indent: int, glyphs: Glyphs) -> list[Text]:
    """Which mark is which term; penalties are the numbers after the score."""
    marks = [
        (glyphs.bars[i % len(glyphs.bars)], PALETTE[i % len(PALETTE)], name)
        for i, name in enumerate(names)
    ]
    marks += [("-n", "red", f"{name} penalty") for name in penalties]
    lines = [Text(" " * indent)]
    for mark, style, name in marks:
        if len(lines[-1]) > indent and len(lines[-1]) + len(name) + 3 > indent + BAR_WIDTH + 14:
            lines.append(Text(" " * indent))
        lines[-1].append(mark, style=style)
        lines[-1].append(f" {name}  ", style="dim")
    for line in lines:
        line.rstrip()
    return [line for line in lines if line.plain]


def pod_table(snapshot: Snapshot, plan: Plan, glyphs: Glyphs) -> Table:
    """Every gang's nodes in rank order, for `-o wide`."""
    marks, colours = letters(plan), styles(plan)
    where = Where(snapshot.fabric, glyphs)
    table = plain_table("", "gang", "nodes in rank order")
    for placement in plan.placements:
        table.add_row(
            Text(marks[placement.gang], style=colours[placement.gang]),
            Text(str(placement.gang)),
            Text(where.nodes(node for _, node in placement.pods)),
        )
    return table
