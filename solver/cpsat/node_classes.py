"""Node classes: how the nodes of a leaf are parted into classes of the same."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fourleaf.solver.cpsat.demand import NodeClass
from fourleaf.solver.cpsat.variables import GroupVariables
from fourleaf.solver.instance.cycle_state import CycleState


def node_classes_of(
    state: CycleState,
    leaf: int,
    here: Sequence[int],
    uses: list[RoleUse],
    worth: Sequence[int] | None,
    one_by_one: bool,
) -> list[NodeClass]:
    """The node classes of nodes `here` in a leaf for the roles that may put pods there.

    `worth`: node -> a number; nodes with different ones are kept apart. `one_by_one` gives each
    node a class of its own, which makes its rows exact whatever the requests are; so it is where
    pods demand something of the devices.
    """
    demanding = state.snapshot.demanding
    if one_by_one or (demanding and any(use.request.wants is not None for use in uses)):
        parts: list[tuple[int, ...]] = [(i,) for i in here]
    else:
        parts = _by_number(worth, here) if worth else [tuple(here)]
    if all(use.whole[leaf] for use in uses):
        return [NodeClass(leaf, nodes) for nodes in parts]
    eligible = {id(use.holds): use.holds for use in uses}
    node_classes = []
    for nodes in parts:
        split: dict[Hashable, list[int]] = {}
        for i in nodes:
            mask = tuple([holds[i] > 0 for holds in eligible.values()])
            if any(mask):
                split.setdefault(mask, []).append(i)
        node_classes += [NodeClass(leaf, tuple(part)) for part in split.values()]
    return node_classes


def finer_classes(state: CycleState, node_class: NodeClass) -> list[NodeClass]:
    """A node class as pods see it that prefer nodes; itself where its nodes are as good to them."""
    parts = _by_number(state.score_class_of, node_class.nodes)
    return [NodeClass(node_class.leaf, p) for p in parts] if len(parts) > 1 else [node_class]


def _by_number(numbers: Sequence[int], here: Sequence[int]) -> list[tuple[int, ...]]:
    """The nodes with the same number together."""
    parts: dict[int, list[int]] = {}
    for i in here:
        parts.setdefault(numbers[i], []).append(i)
    return [tuple(part) for part in parts.values()]


class RoleUse:
    """One role of group `number`, with what is looked up for every leaf."""

    def __init__(
        self, state: CycleState, number: int, variables: GroupVariables, role: int
    ) -> None:
        kind = variables.group.kind
        room = state.room(kind)
        self.number = number
        self.variables = variables
        self.pods = variables.pods
        self.node_classes = variables.node_classes
        self.role = role
        self.holds = kind.holds[role]
        self.whole = kind.whole[role]
        self.request = kind.requests[role]
        self.one = kind.key.one_per_node
        self.bound = variables.group.bound_nodes
        self.prefers = not variables.group.phantom and state.tells_apart(variables.group.gang, role)
        self.current_seats = variables.group.current_seats
        self.by_node = room.by_node[role]
        self.by_leaf = room.by_leaf[role]
