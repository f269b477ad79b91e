"""The fabric as a map: spines, leaves, nodes, and who holds which GPUs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.holders import Holder, held_by
from fourleaf.dashboard.views.marks import Marks, letters, style
from fourleaf.model.fabric import AdjacencyKind, Fabric, Leaf
from fourleaf.model.gang import GangKey
from fourleaf.model.node import Node
from fourleaf.model.reasons.text import counted
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.model.validator.uplinks import running_demand, uplink_of

MOST_BAR_PARTS = 16
"""Parts of a node's bar at most; nodes with more GPUs are drawn to scale."""


class Block(View):
    """GPUs of a node side by side that one gang holds, or another pod, or that are free."""

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


def key_of(row: SpineRow, leaf: LeafCell) -> str:
    """What a leaf is known by in a page; leaves of two spines may share a name."""
    return f"{row.name}/{leaf.name}"


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


def words(totals: Totals) -> dict[str, str]:
    """What stands after the numbers of gangs, which is one word for one and another for more."""
    running = totals.running
    return {
        "runs": f"{counted(running, 'gang').partition(' ')[2]} {'runs' if running == 1 else 'run'}",
        "waits": "waits" if totals.waiting == 1 else "wait",
    }


class FabricView(View):
    """The whole map. `unsynced` names kinds that are not up to date."""

    version: int
    cluster: str
    now: float
    totals: Totals
    unsynced: tuple[str, ...]
    spines: tuple[SpineRow, ...]


class FabricMap:
    """Draws the map; nodes and leaves that are as they were before stay the same objects."""

    def __init__(self, cluster: str, marks: Marks) -> None:
        self._cluster = cluster
        self._marks = marks
        self._cells: dict[str, tuple[Node, tuple[RunningPod, ...], NodeCell]] = {}
        self._leaves: dict[tuple[str, str], LeafCell] = {}

    def view(self, moment: ClusterMoment) -> FabricView:
        """The map of `moment`."""
        snapshot = moment.snapshot
        fabric = snapshot.fabric
        tally = _Tally(snapshot)
        self._marks.keep(tally.gangs)
        self._cells = {node.name: self._cell(node, tally) for node in fabric.nodes.values()}
        uplinks = [uplink_of(snapshot.config.spec, leaf) for leaf in fabric.leaves]
        taken = running_demand(snapshot, ()) if any(uplinks) else {}
        rows, leaves = [], {}
        for spine, positions in fabric.spines.items():
            row = []
            for before, position in zip((None, *positions), positions, strict=False):
                joined = before is not None and _are_joined(fabric, before, position)
                leaf = self._leaf(
                    fabric.leaves[position], joined, uplinks[position], taken.get(position, 0)
                )
                leaves[spine, leaf.name] = leaf
                row.append(leaf)
            rows.append(_row(spine, row))
        self._leaves = leaves
        return FabricView.model_construct(
            version=moment.version,
            cluster=self._cluster,
            now=snapshot.now,
            totals=_totals(snapshot, rows, tally),
            unsynced=moment.unsynced,
            spines=tuple(rows),
        )

    def _cell(self, node: Node, tally: _Tally) -> tuple[Node, tuple[RunningPod, ...], NodeCell]:
        pods = tuple(tally.on.get(node.name, ()))
        known = self._cells.get(node.name)
        # A gang keeps its mark for as long as it is there, so the same pods look the same.
        if known is not None and known[0] == node and known[1] == pods:
            return known
        return node, pods, _drawn(node, pods, self._marks)

    def _leaf(self, leaf: Leaf, joined: bool, uplink: int | None, used: int) -> LeafCell:
        cells = tuple(self._cells[node.name][2] for node in leaf.nodes)
        known = self._leaves.get((leaf.spine, leaf.name))
        if known is not None and (
            known.joined == joined
            and known.uplink_mbit == uplink
            and known.uplink_used_mbit == used
            and len(known.nodes) == len(cells)
            and all(one is other for one, other in zip(known.nodes, cells, strict=True))
        ):
            return known
        return LeafCell.model_construct(
            name=leaf.name,
            joined=joined,
            whole=bool(cells) and all(one.state == "free" for one in cells),
            uplink_mbit=uplink,
            uplink_used_mbit=used,
            nodes=cells,
        )


class _Tally:
    """The running pods by node, the gangs of ours among them, and all their GPUs."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.on: dict[str, list[RunningPod]] = {}
        self.gangs: dict[GangKey, None] = {}
        self.gpus = 0
        for pod in snapshot.running:
            self.on.setdefault(pod.node, []).append(pod)
            self.gpus += pod.request.gpus
            if pod.ours and pod.gang is not None:
                self.gangs[pod.gang] = None


def _row(spine: str, leaves: Sequence[LeafCell]) -> SpineRow:
    cells = [cell for leaf in leaves for cell in leaf.nodes]
    return SpineRow.model_construct(
        name=spine,
        free=sum(cell.free for cell in cells),
        gpus=sum(cell.gpus for cell in cells),
        leaves=tuple(leaves),
    )


def _totals(snapshot: Snapshot, rows: Sequence[SpineRow], tally: _Tally) -> Totals:
    nodes = snapshot.fabric.nodes.values()
    return Totals(
        nodes=len(nodes),
        schedulable=sum(node.schedulable for node in nodes),
        gpus=sum(node.allocatable.gpus for node in nodes),
        used=tally.gpus,
        leaves=len(snapshot.fabric.leaves),
        whole_leaves=sum(leaf.whole for row in rows for leaf in row.leaves),
        running=len(tally.gangs),
        waiting=len(snapshot.gangs),
    )


def state_of(node: Node, pods: Sequence[RunningPod]) -> str:
    """The state of a node, on which `pods` run, in one word."""
    if not node.ready:
        return "down"
    if node.cordoned:
        return "cordoned"
    if node.held_back:
        return "held"
    total = node.allocatable.gpus
    taken = sum(pod.request.gpus for pod in pods)
    if total and taken >= total:
        return "busy"
    return "partly" if taken or (pods and not total) else "free"


STATES = {
    "free": "free",
    "partly": "partly used",
    "busy": "full",
    "cordoned": "cordoned",
    "held": "held back: its devices are not known for sure",
    "down": "not ready",
}
"""What the states mean in words."""


def _drawn(node: Node, pods: Sequence[RunningPod], marks: Marks) -> NodeCell:
    gpus = max(0, node.allocatable.gpus)
    holders = list(held_by(node, pods).values())
    state = state_of(node, pods)
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


def _blocks(holders: Sequence[Holder], marks: Marks) -> list[Block]:
    scale = max(1, -(-len(holders) // MOST_BAR_PARTS))
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


def _are_joined(fabric: Fabric, before: int, after: int) -> bool:
    """Whether two leaves, by their positions, are adjacent."""
    if fabric.adjacency is not AdjacencyKind.EXPLICIT:
        return after == before + 1
    pair = fabric.leaves[before].name, fabric.leaves[after].name
    return pair in fabric.edges or pair[::-1] in fabric.edges
