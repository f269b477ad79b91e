"""Custom rules and terms, plugged in by entry points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from inspect import isclass, signature
from typing import Any, Protocol

from model.config import BUILT_IN_TERMS
from model.fabric import Leaf
from model.gang import Gang, Role
from model.node import Node
from model.resources import Resources

RULES_GROUP = "fourleaf.rules"
TERMS_GROUP = "fourleaf.terms"


class Rule(Protocol):
    """A law of one's own about which nodes a role may use; never looks at what is busy.

    It must be hashable and give the same answer for the same arguments.
    """

    name: str

    def allows(self, gang: Gang, role: Role, node: Node) -> bool:
        """Whether pods of `role` of `gang` may use `node`."""
        ...


class NodeTerm(Protocol):
    """A score of one's own for a pod on a node, 0..1000."""

    name: str

    def value(self, gang: Gang, role: Role, node: Node, free: Resources) -> int:
        """How good `node`, which has `free` left, is for a pod of `role`: 0..1000."""
        ...


class LeafTerm(Protocol):
    """A score of one's own for the pods of a gang in a leaf, 0..1000."""

    name: str

    def value(self, gang: Gang, leaf: Leaf, gpus: int) -> int:
        """How good `leaf` is for `gang` with `gpus` of its GPUs placed there: 0..1000."""
        ...


@dataclass(frozen=True, slots=True)
class Extensions:
    """The custom rules and terms in force.

    A term counts only where `scoringWeights` of the config names it.
    """

    rules: tuple[Rule, ...] = ()
    node_terms: tuple[NodeTerm, ...] = ()
    leaf_terms: tuple[LeafTerm, ...] = ()


class ExtensionError(Exception):
    """An installed package offers something that is no rule or term. The message says which."""


def load() -> Extensions:
    """Load what installed packages offer under `fourleaf.rules` and `fourleaf.terms`.

    An entry point names an object, or a class that is made without arguments. A term whose
    `value` takes (gang, role, node, free) is a node term, one that takes (gang, leaf, gpus)
    a leaf term. Raises `ExtensionError` for anything else, for a name that is taken, and for
    what cannot be imported.
    """
    rules = tuple(_offered(RULES_GROUP, "allows"))
    node_terms: list[NodeTerm] = []
    leaf_terms: list[LeafTerm] = []
    taken = set(BUILT_IN_TERMS) | {"bandwidth"}
    for term in _offered(TERMS_GROUP, "value"):
        if term.name in taken:
            raise ExtensionError(f"{TERMS_GROUP}: the name {term.name} is taken; use another")
        taken.add(term.name)
        arguments = len(signature(term.value).parameters)
        if arguments == 4:
            node_terms.append(term)
        elif arguments == 3:
            leaf_terms.append(term)
        else:
            raise ExtensionError(
                f"{TERMS_GROUP}: value() of {term.name} takes {arguments} arguments; give it "
                "(gang, role, node, free) or (gang, leaf, gpus)"
            )
    return Extensions(rules, tuple(node_terms), tuple(leaf_terms))


def unknown_weights(weights: Iterable[str], extensions: Extensions) -> list[str]:
    """The names in `scoringWeights` that are no term: neither built in nor of a package."""
    known = {*BUILT_IN_TERMS}
    known.update(term.name for term in extensions.node_terms)
    known.update(term.name for term in extensions.leaf_terms)
    return sorted(set(weights) - known)


def _offered(group: str, method: str) -> Iterator[Any]:
    """Every object under `group`, by name, once it is known to have a name and the method."""
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        try:
            thing = entry.load()
            thing = thing() if isclass(thing) else thing
        except Exception as wrong:
            raise ExtensionError(f"{group}: {entry.name} cannot be loaded: {wrong}") from wrong
        if not isinstance(getattr(thing, "name", None), str) or not callable(
            getattr(thing, method, None)
        ):
            raise ExtensionError(f"{group}: {entry.name} needs a name and a method {method}()")
        yield thing
