"""The fabric as a map: a row per spine, a group per leaf, a cell per node.

Fabrics too large for that get a cell per leaf, and beyond that the spines where something
was placed come first and the others are counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from rich.text import Text

from fourleaf.cli.render.glyphs import LETTERS, PALETTE, Glyphs
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot

MAX_ROWS = 64
LABEL_WIDTH = 16

Group = list["Cell"]


class NodeState(Enum):
    """What a node, or a leaf drawn as one cell, looks like before the plan."""

    FREE = "free"
    PARTLY = "partly"
    BUSY = "busy"
    CORDONED = "cordoned"
    NOT_READY = "not ready"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the map. `gangs` are those placed there now."""

    state: NodeState
    gangs: tuple[GangKey, ...] = ()


def letters(plan: Plan) -> dict[GangKey, str]:
    """The letter of each placed gang, in the order of the plan; they repeat after 52."""
    return {p.gang: LETTERS[i % len(LETTERS)] for i, p in enumerate(plan.placements)}


def styles(plan: Plan) -> dict[GangKey, str]:
    """The colours of each placed gang's cells."""
    return {p.gang: f"black on {PALETTE[i % len(PALETTE)]}" for i, p in enumerate(plan.placements)}


def fabric_map(
    snapshot: Snapshot, plan: Plan, width: int, glyphs: Glyphs, letter: str = "placed now"
) -> list[Text]:
    """The map and its legend as lines that fit into `width` columns; `letter` says what one is."""
    cells = node_cells(snapshot, plan)
    label = min(LABEL_WIDTH, max((len(name) for name in snapshot.fabric.spines), default=0)) + 2
    room = max(8, width - label)
    spines = _by_node(snapshot, cells)
    if sum(len(_wrap(groups, room)) for groups in spines.values()) > MAX_ROWS:
        spines = _by_leaf(snapshot, cells)
    drawing = _Drawing(plan, glyphs, room, label)
    lines: list[Text] = []
    hidden = 0
    for name, groups in _placed_first(spines):
        rows = drawing.rows(name, groups, _span(snapshot, name, glyphs))
        if len(lines) + len(rows) > MAX_ROWS:
            hidden += 1
        else:
            lines += rows
    if hidden:
        lines.append(Text(f"and {hidden:,} more spines", style="dim"))
    lines.append(Text())
    lines.append(legend(cells.values(), glyphs, letter if plan.placements else ""))
    return lines


def node_cells(snapshot: Snapshot, plan: Plan) -> dict[str, Cell]:
    """Node name -> its cell."""
    placed: dict[str, dict[GangKey, None]] = {}
    for placement in plan.placements:
        for _, node in placement.pods:
            placed.setdefault(node, {})[placement.gang] = None
    return {
        name: Cell(_state(snapshot, name), tuple(placed.get(name, ())))
        for name in snapshot.fabric.nodes
    }


def _state(snapshot: Snapshot, name: str) -> NodeState:
    node = snapshot.fabric.nodes[name]
    if not node.ready:
        return NodeState.NOT_READY
    if node.cordoned:
        return NodeState.CORDONED
    total, free = node.allocatable.gpus, snapshot.free[name].gpus
    if total and free <= 0:
        return NodeState.BUSY
    taken = free < total if total else name in snapshot.used
    return NodeState.PARTLY if taken else NodeState.FREE


def _by_node(snapshot: Snapshot, cells: Mapping[str, Cell]) -> dict[str, list[Group]]:
    leaves = snapshot.fabric.leaves
    return {
        spine: [[cells[node.name] for node in leaves[i].nodes] for i in positions]
        for spine, positions in snapshot.fabric.spines.items()
    }


def _by_leaf(snapshot: Snapshot, cells: Mapping[str, Cell]) -> dict[str, list[Group]]:
    drawn = _by_node(snapshot, cells)
    return {spine: [[_merged(group) for group in groups]] for spine, groups in drawn.items()}


def _merged(cells: Sequence[Cell]) -> Cell:
    """A leaf as one cell: what all its nodes are, or partly taken."""
    gangs = tuple(dict.fromkeys(gang for cell in cells for gang in cell.gangs))
    states = {cell.state for cell in cells}
    if len(states) == 1:
        return Cell(states.pop(), gangs)
    usable = states - {NodeState.CORDONED, NodeState.NOT_READY}
    return Cell(usable.pop() if len(usable) == 1 else NodeState.PARTLY, gangs)


def _placed_first(spines: Mapping[str, list[Group]]) -> list[tuple[str, list[Group]]]:
    """All spines in order, or where not all can be shown, those with placements first."""
    listed = list(spines.items())
    if len(listed) <= MAX_ROWS:
        return listed
    return sorted(listed, key=lambda item: not any(c.gangs for group in item[1] for c in group))


def _wrap(groups: Sequence[Group], room: int) -> list[list[Group]]:
    """Groups broken into rows of at most `room` columns, a blank between two groups."""
    rows: list[list[Group]] = []
    used = room
    for group in groups:
        for start in range(0, max(1, len(group)), room):
            piece = group[start : start + room]
            if used + 1 + len(piece) > room:
                rows.append([])
                used = -1
            rows[-1].append(piece)
            used += 1 + len(piece)
    return rows


def _span(snapshot: Snapshot, spine: str, glyphs: Glyphs) -> str:
    positions = snapshot.fabric.spines[spine]
    first, last = (snapshot.fabric.leaves[positions[i]].name for i in (0, -1))
    return first if first == last else f"{first} {glyphs.to} {last}"


class _Drawing:
    """Turns cells into text, with the letters and colours of one plan."""

    def __init__(self, plan: Plan, glyphs: Glyphs, room: int, label: int) -> None:
        self._letters = letters(plan)
        self._styles = styles(plan)
        self._glyphs = glyphs
        self._room = room
        self._label = label

    def rows(self, name: str, groups: Sequence[Group], span: str) -> list[Text]:
        """The rows of one spine; the leaves' names follow where there is room for them."""
        lines: list[Text] = []
        for row in _wrap(groups, self._room):
            head = "" if lines else clipped(name, self._label - 2)
            line = Text(head.ljust(self._label), style="bold", end="")
            for i, group in enumerate(row):
                line.append(" " if i else "", style="default")
                for cell in group:
                    line.append(*self._drawn(cell))
            lines.append(line)
        if len(lines) == 1 and len(lines[0]) + 2 + len(span) <= self._room + self._label:
            lines[0].append(f"  {span}", style="not bold dim")
        return lines

    def _drawn(self, cell: Cell) -> tuple[str, str]:
        if len(cell.gangs) == 1:
            gang = cell.gangs[0]
            return self._letters[gang], f"not bold {self._styles[gang]}"
        if cell.gangs:
            return self._glyphs.several, "not bold black on white"
        return state_glyph(cell.state, self._glyphs), f"not bold {STATE_STYLES[cell.state]}"


STATE_STYLES: Mapping[NodeState, str] = {
    NodeState.FREE: "green",
    NodeState.PARTLY: "grey62",
    NodeState.BUSY: "grey50",
    NodeState.CORDONED: "yellow",
    NodeState.NOT_READY: "red",
}


def state_glyph(state: NodeState, glyphs: Glyphs) -> str:
    """The character of a node on which nothing was placed."""
    match state:
        case NodeState.FREE:
            return glyphs.free
        case NodeState.PARTLY:
            return glyphs.partly
        case NodeState.BUSY:
            return glyphs.busy
        case NodeState.CORDONED:
            return glyphs.cordoned
        case NodeState.NOT_READY:
            return glyphs.not_ready


def clipped(name: str, width: int) -> str:
    """`name`, or its end where it is too long: names differ at the end."""
    return name if len(name) <= width else "~" + name[len(name) - width + 1 :]


def legend(cells: Iterable[Cell], glyphs: Glyphs, letter: str) -> Text:
    """What the characters of the map mean, only those that can occur here; `letter`: a letter."""
    cells = list(cells)
    seen = {cell.state for cell in cells}
    line = Text(style="dim")
    if letter:
        line.append("A", style=f"not dim black on {PALETTE[0]}")
        line.append(f" {letter}  ")
    if any(len(cell.gangs) > 1 for cell in cells):
        line.append(f"{glyphs.several} shared  ")
    for state in NodeState:
        if state in seen:
            line.append(state_glyph(state, glyphs), style=f"not dim {STATE_STYLES[state]}")
            line.append(f" {state.value}  ")
    line.rstrip()
    return line
