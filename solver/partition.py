"""How the nodes of a leaf are parted into bins."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fourleaf.solver.bins import Bin
from fourleaf.solver.user import User
from fourleaf.solver.view import View


def bins_of(
    view: View,
    leaf: int,
    here: Sequence[int],
    users: list[User],
    scored: bool,
    one_by_one: bool,
) -> list[Bin]:
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
        return [Bin(leaf, nodes) for nodes in groups]
    eligible = {id(user.holds): user.holds for user in users}
    bins = []
    for nodes in groups:
        split: dict[Hashable, list[int]] = {}
        for i in nodes:
            mask = tuple([holds[i] > 0 for holds in eligible.values()])
            if any(mask):
                split.setdefault(mask, []).append(i)
        bins += [Bin(leaf, tuple(part)) for part in split.values()]
    return bins


def _comfortable(view: View, here: Sequence[int]) -> list[tuple[int, ...]]:
    """The nodes grouped by comfort."""
    comfort = view.comfort_id
    groups: dict[int, list[int]] = {}
    for i in here:
        groups.setdefault(comfort[i], []).append(i)
    return [tuple(group) for group in groups.values()]
