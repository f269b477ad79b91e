"""The fabric as a map: spines, leaves, nodes, and who holds which GPUs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from dashboard.views.marks import Marks, letters, style
from dashboard.views.view import View
from dashboard.world.sight import Sight
from model.fabric import AdjacencyKind, Fabric, Leaf
from model.gang import GangKey
from model.node import Node
from model.snapshot import RunningPod, Snapshot
from model.validator.uplinks import running_demand, uplink_of

WIDEST = 16
"""Parts of a node's bar at most; nodes with more GPUs are drawn to scale."""


class Block(View):
    """GPUs of a node side by side that one gang, another pod, or nobody holds."""

    gang: str
    gpus: int
    letters: str
    style: str
    width: int


class NodeCell(View):
    """A node on the map. `state` is `free`, `partly`, `busy`, `cordoned`, `held` or `down`."""

    name: str
    state: str
    gpus: int
    free: int
    label: str
    blocks: tuple[Block, ...]


class LeafCell(View):
    """A leaf. `joined` says that it is adjacent to the one before it on the map."""

    name: str
    joined: bool
    whole: bool
    uplink_mbit: int | None
    uplink_used_mbit: int
    nodes: tuple[NodeCell, ...]


class SpineRow(View):
    """A spine with its leaves in natural order."""

    name: str
    free: int
    gpus: int
    leaves: tuple[LeafCell, ...]


class Totals(View):
    """Sums over the fabric."""

    nodes: int
    schedulable: int
    gpus: int
    used: int
    leaves: int
    whole_leaves: int
    running: int
    waiting: int


class FabricView(View):
    """The whole map. `unsynced` names kinds that are not up to date."""

    version: int
    cluster: str
    now: float
    totals: Totals
    unsynced: tuple[str, ...]
    spines: tuple[SpineRow, ...]


def fabric_view(sight: Sight, marks: Marks, cluster: str) -> FabricView:
    """The map of `sight`. `marks` keeps the gangs that run there."""
    snapshot = sight.snapshot
    at = _by_node(snapshot)
    marks.keep(pod.gang for pod in snapshot.running if pod.ours and pod.gang is not None)
    taken = running_demand(snapshot, ())
    joins = _Joins(snapshot.fabric)
    rows = []
    for spine, positions in snapshot.fabric.spines.items():
        leaves = []
        for before, position in zip((None, *positions), positions, strict=False):
            leaf = snapshot.fabric.leaves[position]
            cells = tuple(
                _cell(snapshot, node, at.get(node.name, ()), marks) for node in leaf.nodes
            )
            leaves.append(
                LeafCell.model_construct(
                    name=leaf.name,
                    joined=before is not None and joins(before, position),
                    whole=bool(cells) and all(one.state == "free" for one in cells),
                    uplink_mbit=uplink_of(snapshot.config.spec, leaf),
                    uplink_used_mbit=taken.get(position, 0),
                    nodes=cells,
                )
            )
        cells = tuple(cell for leaf in leaves for cell in leaf.nodes)
        rows.append(
            SpineRow.model_construct(
                name=spine,
                free=sum(cell.free for cell in cells),
                gpus=sum(cell.gpus for cell in cells),
                leaves=tuple(leaves),
            )
        )
    return FabricView.model_construct(
        version=sight.version,
        cluster=cluster,
        now=snapshot.now,
        totals=_totals(snapshot, rows),
        unsynced=sight.unsynced,
        spines=tuple(rows),
    )


def _totals(snapshot: Snapshot, rows: Sequence[SpineRow]) -> Totals:
    nodes = snapshot.fabric.nodes.values()
    return Totals(
        nodes=len(nodes),
        schedulable=sum(node.schedulable for node in nodes),
        gpus=sum(node.allocatable.gpus for node in nodes),
        used=sum(held.gpus for held in snapshot.used.values()),
        leaves=len(snapshot.fabric.leaves),
        whole_leaves=sum(leaf.whole for row in rows for leaf in row.leaves),
        running=len({pod.gang for pod in snapshot.running if pod.ours and pod.gang}),
        waiting=len(snapshot.gangs),
    )


def _by_node(snapshot: Snapshot) -> Mapping[str, Sequence[RunningPod]]:
    found: dict[str, list[RunningPod]] = {}
    for pod in snapshot.running:
        if pod.request.gpus > 0:
            found.setdefault(pod.node, []).append(pod)
    return found


def state_of(snapshot: Snapshot, node: Node) -> str:
    """The state of a node in one word."""
    if not node.ready:
        return "down"
    if node.cordoned:
        return "cordoned"
    if node.held_back:
        return "held"
    total, free = node.allocatable.gpus, snapshot.free[node.name].gpus
    if total and free <= 0:
        return "busy"
    taken = free < total if total else node.name in snapshot.used
    return "partly" if taken else "free"


STATES = {
    "free": "free",
    "partly": "partly used",
    "busy": "full",
    "cordoned": "cordoned",
    "held": "held back: its devices are not known for sure",
    "down": "not ready",
}
"""What the states mean in words."""


def _cell(snapshot: Snapshot, node: Node, pods: Sequence[RunningPod], marks: Marks) -> NodeCell:
    gpus = max(0, node.allocatable.gpus)
    holders = held_by(node, pods)
    state = state_of(snapshot, node)
    blocks = tuple(_blocks(holders, marks))
    free = holders.count(None)
    return NodeCell.model_construct(
        name=node.name,
        state=state,
        gpus=gpus,
        free=free,
        label=_label(node, state, gpus, free, blocks),
        blocks=blocks,
    )


Holder = GangKey | str | None
"""Who holds a GPU: a gang of ours, any other pod, or nobody."""


def held_by(node: Node, pods: Sequence[RunningPod]) -> list[Holder]:
    """Who holds each GPU of `node`; pods whose devices are not known take the first free ones."""
    cells: list[Holder] = [None] * max(0, node.allocatable.gpus)
    for pod in pods:
        for device in pod.devices:
            if device < len(cells):
                cells[device] = _holder(pod)
    position = 0
    for pod in pods:
        left = 0 if pod.devices else pod.request.gpus
        while left and position < len(cells):
            if cells[position] is None:
                cells[position] = _holder(pod)
                left -= 1
            position += 1
    return cells


def _holder(pod: RunningPod) -> Holder:
    return pod.gang if pod.ours and pod.gang is not None else str(pod)


def _blocks(holders: Sequence[Holder], marks: Marks) -> list[Block]:
    scale = max(1, -(-len(holders) // WIDEST))
    found = []
    for holder, run in groupby(holders):
        gpus = len(list(run))
        if isinstance(holder, GangKey):
            number = marks.of(holder)
            name, text, look = str(holder), letters(number), style(number)
        else:
            name, text, look = holder or "", "", "free" if holder is None else "other"
        width = max(1, gpus // scale)
        found.append(
            Block.model_construct(gang=name, gpus=gpus, letters=text, style=look, width=width)
        )
    return found


def _label(node: Node, state: str, gpus: int, free: int, blocks: Sequence[Block]) -> str:
    """The node in words, for those who cannot see or tell the colours."""
    parts = [f"{node.name}: {STATES[state]}", f"{free} of {gpus} GPUs free"]
    held: dict[str, int] = {}
    for block in blocks:
        if block.gang:
            held[block.gang] = held.get(block.gang, 0) + block.gpus
    parts += [f"{name} holds {count}" for name, count in held.items()]
    return ", ".join(parts)


class _Joins:
    """Whether two leaves, by their positions, are adjacent."""

    def __init__(self, fabric: Fabric) -> None:
        self._explicit = fabric.adjacency is AdjacencyKind.EXPLICIT
        self._leaves: Sequence[Leaf] = fabric.leaves
        self._edges = fabric.edges

    def __call__(self, before: int, after: int) -> bool:
        if not self._explicit:
            return after == before + 1
        pair = self._leaves[before].name, self._leaves[after].name
        return pair in self._edges or pair[::-1] in self._edges
