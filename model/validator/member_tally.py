"""Where the members of a gang stand: the tally that laws and terms are read from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Gang
from fourleaf.model.validator.locations import LegalLocations
from fourleaf.model.validator.static_keys import Counts


@dataclass(frozen=True, slots=True)
class MemberTally:
    """A gang on the fabric: `here` are (role, node) of the pods placed now, in their order.

    `leaves` are pods per role by leaf position, bound members included; `hosts` is how many
    members stand on each node, bound ones included; `new_gpus` the GPUs placed now, by leaf.
    `lost` are nodes of bound members that the fabric does not know.
    """

    here: tuple[tuple[int, str], ...]
    leaves: dict[int, Counts]
    hosts: dict[str, int]
    new_gpus: dict[int, int]
    lost: tuple[str, ...] = ()

    def spans(self) -> bool:
        """Whether the gang stands in more than one leaf."""
        return len(self.leaves) > 1


@dataclass(frozen=True, slots=True)
class Placed:
    """A gang that the plan places, with where it stands and its leaf rule."""

    gang: Gang
    standing: MemberTally
    locations: LegalLocations


def stand(fabric: Fabric, gang: Gang, pods: Iterable[tuple[str, str]]) -> MemberTally:
    """Tally `pods`, (pod, node) of unbound members, together with the bound members.

    Raises `KeyError` for a pod that is no unbound member, or a node outside the fabric.
    """
    role_of = {pod: r for r, role in enumerate(gang.roles) for pod in role.pods}
    leaf_of = fabric.leaf_of
    here = tuple((role_of[pod], node) for pod, node in pods)
    counts: dict[int, list[int]] = {}
    hosts: dict[str, int] = {}
    new_gpus: dict[int, int] = {}
    lost: list[str] = []

    def add(role: int, node: str) -> int:
        leaf = leaf_of[node]
        row = counts.get(leaf)
        if row is None:
            row = counts[leaf] = [0] * len(gang.roles)
        row[role] += 1
        hosts[node] = hosts.get(node, 0) + 1
        return leaf

    for r, node in here:
        leaf = add(r, node)
        new_gpus[leaf] = new_gpus.get(leaf, 0) + gang.roles[r].request.gpus
    for r, role in enumerate(gang.roles):
        for _, node in role.bound:
            if node in leaf_of:
                add(r, node)
            else:
                lost.append(node)
    leaves = {leaf: tuple(row) for leaf, row in counts.items()}
    return MemberTally(here, leaves, hosts, new_gpus, tuple(lost))
