"""The one decision of this package: what to tell after a cycle."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.k8s_bridge.telling.claims import what_of_claims
from fourleaf.k8s_bridge.telling.facts import Facts, Told
from fourleaf.k8s_bridge.telling.groups.statuses import what_of_groups
from fourleaf.k8s_bridge.telling.problems import what_is_wrong
from fourleaf.k8s_bridge.telling.tells import Tell
from fourleaf.k8s_bridge.telling.waiting import what_waits


@dataclass(frozen=True, slots=True)
class News:
    """What to write, and what to remember for the next cycle."""

    tells: tuple[Tell, ...]
    told: Told


def what_to_tell(before: Told, facts: Facts) -> News:
    """What has changed since `before`, as far as anybody outside should know.

    Says nothing about pods whose gang was placed: a write would change the version that
    their bindings carry.
    """
    waiting, said = what_waits(before, facts)
    wrong, errors = what_is_wrong(before, facts)
    groups, group_said = what_of_groups(before, said, facts)
    return News((*wrong, *groups, *what_of_claims(facts), *waiting), Told(said, group_said, errors))
