"""Custom rules and terms, plugged in by entry points."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Protocol

from model.fabric import Leaf
from model.gang import Gang, Role
from model.node import Node
from model.resources import Resources

RULES_GROUP = "fourleaf.rules"
TERMS_GROUP = "fourleaf.terms"


class Rule(Protocol):
    """A law of one's own about which nodes a role may use; never looks at what is busy."""

    name: str

    def allows(self, gang: Gang, role: Role, node: Node) -> bool: ...


class NodeTerm(Protocol):
    """A score of one's own for a pod on a node, 0..1000."""

    name: str

    def value(self, gang: Gang, role: Role, node: Node, free: Resources) -> int: ...


class LeafTerm(Protocol):
    """A score of one's own for the pods of a gang in a leaf, 0..1000."""

    name: str

    def value(self, gang: Gang, leaf: Leaf, gpus: int) -> int: ...


@dataclass(frozen=True, slots=True)
class Extensions:
    """The custom rules and terms in force."""

    rules: tuple[Rule, ...] = ()
    node_terms: tuple[NodeTerm, ...] = ()
    leaf_terms: tuple[LeafTerm, ...] = ()
