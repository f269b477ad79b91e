"""Which nodes a pod may use, and which it prefers: selectors, node affinity, tolerations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from fourleaf.model.node import Node, Taint

_WHOLE = re.compile(r"[+-]?[0-9]{1,253}")
_PLAIN = re.compile(r"0|-?[1-9][0-9]*")
"""Numbers of taints and tolerations, which are compared only as they are usually written."""

HOSTNAME = "kubernetes.io/hostname"
NODE_NAME_FIELD = "metadata.name"


class Operator(StrEnum):
    """Operators of a node selector requirement, as in the Kubernetes API."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


@dataclass(frozen=True, slots=True)
class Requirement:
    """One condition on a label, or on `metadata.name` where `is_field` is set."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()
    is_field: bool = False

    def holds(self, node: Node) -> bool:
        """Whether `node` meets the condition (semantics of the Kubernetes API)."""
        if self.is_field:
            value: str | None = node.name if self.key == NODE_NAME_FIELD else None
        else:
            value = node.labels.get(self.key)
        match self.operator:
            case Operator.IN:
                return value is not None and value in self.values
            case Operator.NOT_IN:
                return value is None or value not in self.values
            case Operator.EXISTS:
                return value is not None
            case Operator.DOES_NOT_EXIST:
                return value is None
            case Operator.GT | Operator.LT:
                limit = number_in(self.values[0] if len(self.values) == 1 else None)
                return _compare(number_in(value), limit, self.operator)


def number_in(text: str | None) -> int | None:
    """The number that a label says, None where it says none: as `strconv.ParseInt` of Go has it."""
    if text is None or not _WHOLE.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def _compare(value: int | None, limit: int | None, operator: Operator) -> bool:
    if value is None or limit is None:
        return False
    return value > limit if operator is Operator.GT else value < limit


@dataclass(frozen=True, slots=True)
class Toleration:
    """What lets a pod onto a tainted node."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""

    def tolerates(self, taint: Taint) -> bool:
        """Whether this toleration covers `taint` (semantics of the Kubernetes API)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        if self.operator == "Exists":
            return True
        if self.operator in ("Gt", "Lt"):
            if not (self.key and _PLAIN.fullmatch(self.value) and _PLAIN.fullmatch(taint.value)):
                return False
            value, limit = number_in(taint.value), number_in(self.value)
            return _compare(value, limit, Operator(self.operator))
        return bool(self.key) and self.value == taint.value


FEW_TERMS = 4
"""Terms of affinity that are quicker to look at than to look up."""

MOST_KEPT = 256
"""Answers of one constraint that are kept, for nodes that differ in the labels it names."""


class _Remembers:
    """Room for what was worked out once. A hash of text is another elsewhere: it is no field."""

    __slots__ = ("_hash", "_labels", "_met", "_untolerated")
    _hash: int
    _labels: tuple[str, ...]
    _met: dict[tuple[str | None, ...], bool]
    _untolerated: dict[tuple[Taint, ...], tuple[Taint, ...]]


@dataclass(frozen=True, slots=True)
class NodeConstraint(_Remembers):
    """Everything about a pod that decides which nodes it may use, apart from room.

    `selector` is the pod's nodeSelector (all must match). `affinity` is its required
    node affinity: any term suffices, in a term all requirements must hold; empty means
    no demand. `features` are those that its kubelet has to declare.
    """

    selector: tuple[tuple[str, str], ...] = ()
    affinity: tuple[tuple[Requirement, ...], ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    features: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        # What is looked up by what pods ask for is so for each of them in every cycle.
        try:
            return self._hash
        except AttributeError:
            found = hash((self.selector, self.affinity, self.tolerations, self.features))
            object.__setattr__(self, "_hash", found)
            return found

    @property
    def conditions(self) -> int:
        """How many conditions and tolerations there are, which each node is held against."""
        terms = sum(max(1, len(term)) for term in self.affinity)
        return len(self.selector) + terms + len(self.tolerations)

    def selects(self, node: Node) -> bool:
        """Whether nodeSelector, required affinity and needed features accept `node`."""
        if not self.features <= node.features:
            return False
        if any(node.labels.get(key) != value for key, value in self.selector):
            return False
        if len(self.affinity) > FEW_TERMS:
            return self._meets_some(node)
        return not self.affinity or self._meets(node)

    def _meets(self, node: Node) -> bool:
        return any(term and all(r.holds(node) for r in term) for term in self.affinity)

    def _meets_some(self, node: Node) -> bool:
        """The same of many terms, looked at once for nodes that say the same of what they name."""
        try:
            known, labels = self._met, self._labels
        except AttributeError:
            every = [one for term in self.affinity for one in term]
            labels = tuple(dict.fromkeys(one.key for one in every if not one.is_field))
            # Of a node that is named by itself nothing can be kept for others.
            labels = () if any(one.is_field for one in every) else labels
            object.__setattr__(self, "_labels", labels)
            known = {}
            object.__setattr__(self, "_met", known)
        if not labels:
            return self._meets(node)
        said = tuple(map(node.labels.get, labels))
        found = known.get(said)
        if found is None:
            found = self._meets(node)
            if len(known) < MOST_KEPT:
                known[said] = found
        return found

    def tolerates(self, node: Node) -> bool:
        """Whether every taint of `node` that forbids scheduling is tolerated."""
        return not node.taints or not self.untolerated(node.taints)

    def untolerated(self, taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
        """Those of the taints of a node that keep the pod off it."""
        # Thousands of nodes have the same few taints.
        try:
            known = self._untolerated
        except AttributeError:
            known = {}
            object.__setattr__(self, "_untolerated", known)
        found = known.get(taints)
        if found is None:
            keys = {toleration.key for toleration in self.tolerations}
            found = known[taints] = tuple(
                taint
                for taint in taints
                if taint.effect in ("NoSchedule", "NoExecute")
                and not (
                    ("" in keys or taint.key in keys)
                    and any(toleration.tolerates(taint) for toleration in self.tolerations)
                )
            )
        return found

    def avoids(self, node: Node) -> bool:
        """Whether `node` has a taint that only advises against it, and that is not tolerated."""
        return any(
            not any(t.tolerates(taint) for t in self.tolerations)
            for taint in node.taints
            if taint.effect == "PreferNoSchedule"
        )


ANY_NODE = NodeConstraint()
"""Asks nothing; tolerates no taint."""


FULL_WEIGHT = 100
"""The largest weight that the Kubernetes API allows, and what a taint to be avoided counts."""


@dataclass(frozen=True, slots=True)
class Preference:
    """A pod prefers nodes that meet all `requirements`; `weight` is 1..100."""

    weight: int
    requirements: tuple[Requirement, ...]

    def holds(self, node: Node) -> bool:
        """Whether `node` is what the pod prefers."""
        return all(requirement.holds(node) for requirement in self.requirements)
