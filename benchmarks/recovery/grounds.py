"""What is tried: a gang of 8 on a spine of its own, which of its nodes die, what else is free."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tests.controlplane.fleet import Fleet
from tests.e2e.owner import Team

SIZE = 8
"""Members of the gang, each of a whole node."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where there is room: leaves of `per_leaf` nodes; `filled` ones are taken by others.

    The gang stands on the first ones.
    """

    name: str
    leaves: int
    per_leaf: int
    filled: tuple[int, ...] = ()

    @property
    def beyond(self) -> range:
        """The leaves on which the gang does not stand."""
        return range(-(-SIZE // self.per_leaf), self.leaves)

    @property
    def is_full(self) -> bool:
        """Whether nothing is free beside the gang."""
        return SIZE % self.per_leaf == 0 and set(self.beyond) == set(self.filled)

    def fleet(self, sites: int) -> Fleet:
        """The nodes of so many sites, a spine each."""
        return Fleet(
            sites * self.leaves * self.per_leaf,
            per_leaf=self.per_leaf,
            leaves_per_spine=self.leaves,
        )

    def sites(self, count: int) -> list[Site]:
        """So many of them."""
        names, size = self.fleet(count).names(), self.leaves * self.per_leaf
        slug = self.name.replace(" ", "-")
        return [
            Site(self, Team(f"{slug}-{number}", SIZE), tuple(names[number * size :][:size]))
            for number in range(count)
        ]


GROUNDS = (
    Ground("in the leaf", 2, 10),
    Ground("next door", 4, 4),
    Ground("elsewhere", 5, 4, (2,)),
    Ground("nowhere", 4, 4, (2, 3)),
)
LOST = (1, 2, SIZE)
"""How many nodes of the gang die."""


@dataclass(frozen=True, slots=True)
class Site:
    """One run: the `nodes` of a spine, leaf after leaf, and the team that may use it alone."""

    ground: Ground
    team: Team
    nodes: tuple[str, ...]

    def leaf(self, node: str) -> int:
        """The number of the leaf of a node."""
        return self.nodes.index(node) // self.ground.per_leaf

    def on(self, leaves: Iterable[int]) -> list[str]:
        """The nodes of these leaves."""
        wanted = set(leaves)
        return [node for node in self.nodes if self.leaf(node) in wanted]
