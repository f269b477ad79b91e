"""How the nodes of a leaf are parted into bins."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fourleaf.solver.cpsat.variables import GroupVariables, NodeClass
from fourleaf.solver.instance.cycle_state import CycleState


def node_classes_of(
    view: CycleState,
    leaf: int,
    here: Sequence[int],
    users: list[RoleUse],
    scored: bool,
    one_by_one: bool,
) -> list[NodeClass]:
    """The bins of nodes `here` in a leaf for the roles that may put pods there.

    `scored` keeps nodes apart that a score could tell apart. `one_by_one` gives each node
    a bin of its own, which makes the rows of the bin exact whatever the requests are; so it is
    where somebody demands something of the devices.
    """
    demanding = view.snapshot.demanding
    if one_by_one or (demanding and any(user.request.wants is not None for user in users)):
        groups: list[tuple[int, ...]] = [(i,) for i in here]
    else:
        groups = _comfortable(view, here) if scored else [tuple(here)]
    if all(user.whole[leaf] for user in users):
        return [NodeClass(leaf, nodes) for nodes in groups]
    eligible = {id(user.holds): user.holds for user in users}
    bins = []
    for nodes in groups:
        split: dict[Hashable, list[int]] = {}
        for i in nodes:
            mask = tuple([holds[i] > 0 for holds in eligible.values()])
            if any(mask):
                split.setdefault(mask, []).append(i)
        bins += [NodeClass(leaf, tuple(part)) for part in split.values()]
    return bins


def _comfortable(view: CycleState, here: Sequence[int]) -> list[tuple[int, ...]]:
    """The nodes grouped by comfort."""
    comfort = view.comfort_id
    groups: dict[int, list[int]] = {}
    for i in here:
        groups.setdefault(comfort[i], []).append(i)
    return [tuple(group) for group in groups.values()]


class RoleUse:
    """One role of unit `number`, with what is looked up for every leaf."""

    __slots__ = (
        "bins",
        "bound",
        "by_leaf",
        "by_node",
        "holds",
        "number",
        "one",
        "pods",
        "request",
        "role",
        "stand",
        "variables",
        "whole",
    )

    def __init__(self, view: CycleState, number: int, variables: GroupVariables, role: int) -> None:
        kind = variables.unit.kind
        room = view.room(kind)
        self.number = number
        self.variables = variables
        self.pods = variables.pods
        self.bins = variables.bins
        self.role = role
        self.holds = kind.holds[role]
        self.whole = kind.whole[role]
        self.request = kind.requests[role]
        self.one = kind.key.one_per_node
        self.bound = variables.unit.bound_nodes
        self.stand = variables.unit.stand
        self.by_node = room.by_node[role]
        self.by_leaf = room.by_leaf[role]
