"""Likeness of pods to what others do to them, and what was done to a gang in the last reading.

Of gangs of one pod also: whether what keeps one of them from its place keeps the other as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, TypeAlias

from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.node_constraint import Requirement
from fourleaf.model.readers.pods.pod_terms import SpreadConstraint
from fourleaf.model.readers.pods.pods import Pod

Step: TypeAlias = Requirement | SpreadConstraint
"""What others do to the nodes of a gang: what these must be; or a constraint that leaves none."""
Steps: TypeAlias = tuple[Step, ...]


class Likeness:
    """What decides what others do to a waiting pod; pods of equal ones are alike."""

    __slots__ = ("_hash", "_what")

    def __init__(self, *what: object) -> None:
        self._what = what
        self._hash = hash(what)

    @classmethod
    def of(cls, pod: Pod) -> Likeness:
        """That of a pod."""
        return cls(pod.namespace, pod.wants, tuple(pod.labels.items()))

    @classmethod
    def of_kind(cls, gang: Gang, pod: Pod) -> Likeness:
        """That of a gang of one pod: but for names and age, another one of it is the same gang."""
        shape = replace(
            gang,
            key=GangKey(gang.key.namespace, ""),
            created=0.0,
            roles=tuple(replace(role, pods=()) for role in gang.roles),
        )
        return cls(pod.wants, tuple(pod.labels.items()), shape)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Likeness) and self._what == other._what)


class Narrowed(NamedTuple):
    """What these steps made of a gang."""

    of: Gang
    by: Steps
    gang: Gang


class HeldBack(NamedTuple):
    """What became of a gang that others hold back: one that goes first, or what `by` says."""

    of: Gang
    by: GangKey | str
    gang: Gang
