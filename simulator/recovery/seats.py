"""Where all members of a gang stand once some have come and some have moved."""

from __future__ import annotations

from collections.abc import Mapping

from model.gang import Gang
from simulator.recovery.protocol import Seats


def seats_of(gang: Gang, changes: Mapping[str, str]) -> Seats:
    """(pod, node) of every member in rank order, where `changes` names new nodes of some."""
    bound = {pod: node for role in gang.roles for pod, node in role.bound}
    names = [pod for role in gang.roles for pod in (*(p for p, _ in role.bound), *role.pods)]
    return tuple((pod, changes.get(pod) or bound[pod]) for pod in sorted(names, key=rank))


def rank(pod: str) -> int:
    """The number at the end of a member's name."""
    return int(pod.rpartition("-")[2])
