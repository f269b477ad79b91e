"""Which nodes a name means: a node, a leaf or a spine."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from fourleaf.model.fabric import Fabric
from fourleaf.model.problems import BadInput, Problem, Severity

NEAR_NAMES = 3


def nodes_of(fabric: Fabric, places: Sequence[str], where: str) -> tuple[str, ...]:
    """The nodes that `places` name, in fabric order. Raises `BadInput` for unknown names."""
    found: dict[str, set[str]] = {name: {name} for name in fabric.nodes}
    for leaf in fabric.leaves:
        for place in (leaf.name, leaf.spine):
            if place not in fabric.nodes:
                found.setdefault(place, set()).update(node.name for node in leaf.nodes)
    problems = []
    for place in places:
        if place not in found:
            close = get_close_matches(place, found, NEAR_NAMES)
            advice = f"Perhaps {', '.join(close)}?" if close else "See `fourleaf plan` for names."
            message = "is no node, leaf or spine"
            problems.append(Problem(Severity.ERROR, where, place, "", "", message, advice))
    if problems:
        raise BadInput(problems)
    wanted = set().union(*(found[place] for place in places))
    return tuple(name for name in fabric.nodes if name in wanted)
