"""Custom rules, terms and steps of bindings, plugged in by entry points."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from inspect import isclass, signature
from typing import Any, Protocol

from fourleaf.model.config.spec import BUILT_IN_TERMS
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.problems import shown
from fourleaf.model.resources import Resources

RULES_GROUP = "fourleaf.rules"
TERMS_GROUP = "fourleaf.terms"
BINDINGS_GROUP = "fourleaf.bindings"
MOST_POINTS = 1000


class Rule(Protocol):
    """A law of one's own about which nodes a role may use; never looks at what is busy.

    It must be hashable and give the same answer for the same arguments.
    """

    @property
    def name(self) -> str:
        """What explanations call it."""

    def allows(self, gang: Gang, role: Role, node: Node) -> bool:
        """Whether pods of `role` of `gang` may use `node`."""


class NodeTerm(Protocol):
    """A score of one's own for a pod on a node, 0..1000."""

    @property
    def name(self) -> str:
        """What `scoringWeights` and plans call it."""

    def value(self, gang: Gang, role: Role, node: Node, free: Resources) -> int:
        """How good `node`, which has `free` left, is for a pod of `role`: 0..1000."""


class LeafTerm(Protocol):
    """A score of one's own for the pods of a gang in a leaf, 0..1000."""

    @property
    def name(self) -> str:
        """What `scoringWeights` and plans call it."""

    def value(self, gang: Gang, leaf: Leaf, gpus: int) -> int:
        """How good `leaf` is for `gang` with `gpus` of its GPUs placed there: 0..1000."""


@dataclass(frozen=True, slots=True)
class PodBinding:
    """A pod, by name and UID, the node that it goes to, and the numbers of its GPUs there.

    GPUs that it has by ResourceClaims have no numbers.
    """

    name: str
    uid: str
    node: str
    devices: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class GangBinding:
    """Pods of one gang that are bound together: all that are not bound yet.

    `epoch` is that of the leader, and grows from one to the next: what is written with it can be
    told from what a leader writes that has been replaced.
    """

    gang: GangKey
    pods: tuple[PodBinding, ...]
    epoch: int


class BindingPlugin(Protocol):
    """Steps of one's own before a gang is bound, after it, or both: it may lack either method."""

    @property
    def name(self) -> str:
        """What reasons and events call it."""

    def before(self, binding: GangBinding) -> str | None:
        """Why these pods are not to be bound, None where they may be."""

    def after(self, binding: GangBinding) -> str | None:
        """Take note that they are; what is to be told of it, None for nothing."""


@dataclass(frozen=True, slots=True)
class Extensions:
    """The custom rules and terms in force.

    A term counts only where `scoringWeights` of the config names it.
    """

    rules: tuple[Rule, ...] = ()
    node_terms: tuple[NodeTerm, ...] = ()
    leaf_terms: tuple[LeafTerm, ...] = ()


NO_EXTENSIONS = Extensions()
"""What holds where no package brings any."""


class ExtensionError(Exception):
    """An installed package offers what is none of these, or one that fails. Says which."""


@dataclass(frozen=True, slots=True)
class _Guard:
    """Stands before what `entry` offers, so that whatever goes wrong there carries its name."""

    entry: str
    name: str
    offered: Any

    def call(self, method: Callable[..., Any], gang: Gang, place: str, *about: object) -> Any:
        try:
            return method(gang, *about)
        except Exception as wrong:
            raise ExtensionError(
                f"{self.entry} raised {type(wrong).__name__} for {gang.key} on {place}: {wrong}"
            ) from wrong

    def points(self, found: object, gang: Gang, place: str) -> int:
        if type(found) is int and 0 <= found <= MOST_POINTS:
            return found
        raise ExtensionError(
            f"{self.entry} gave {shown(found)} for {gang.key} on {place}; "
            f"give a whole number from 0 to {MOST_POINTS}"
        )


class _GuardedRule(_Guard):
    __slots__ = ()

    def allows(self, gang: Gang, role: Role, node: Node) -> bool:
        return bool(self.call(self.offered.allows, gang, node.name, role, node))


class _GuardedNodeTerm(_Guard):
    __slots__ = ()

    def value(self, gang: Gang, role: Role, node: Node, free: Resources) -> int:
        found = self.call(self.offered.value, gang, node.name, role, node, free)
        return self.points(found, gang, node.name)


class _GuardedLeafTerm(_Guard):
    __slots__ = ()

    def value(self, gang: Gang, leaf: Leaf, gpus: int) -> int:
        found = self.call(self.offered.value, gang, leaf.name, leaf, gpus)
        return self.points(found, gang, leaf.name)


def load() -> Extensions:
    """Load what installed packages offer under `fourleaf.rules` and `fourleaf.terms`.

    An entry point names an object, or a class that is made without arguments. A term whose
    `value` takes (gang, role, node, free) is a node term, one that takes (gang, leaf, gpus)
    a leaf term. Raises `ExtensionError` for anything else, for a name that is taken, and for
    what cannot be imported. So do the rules and terms themselves where they raise, or where a
    value is none of 0..1000; the message names the entry point.
    """
    rules = tuple(
        _GuardedRule(entry, rule.name, rule) for entry, rule in _offered(RULES_GROUP, "allows")
    )
    node_terms: list[NodeTerm] = []
    leaf_terms: list[LeafTerm] = []
    taken = set(BUILT_IN_TERMS) | {"bandwidth", "domain", "preferences"}
    for entry, term in _offered(TERMS_GROUP, "value"):
        if term.name in taken:
            raise ExtensionError(f"{TERMS_GROUP}: the name {term.name} is taken; use another")
        taken.add(term.name)
        arguments = len(signature(term.value).parameters)
        if arguments == 4:
            node_terms.append(_GuardedNodeTerm(entry, term.name, term))
        elif arguments == 3:
            leaf_terms.append(_GuardedLeafTerm(entry, term.name, term))
        else:
            raise ExtensionError(
                f"{TERMS_GROUP}: value() of {term.name} takes {arguments} arguments; give it "
                "(gang, role, node, free) or (gang, leaf, gpus)"
            )
    return Extensions(rules, tuple(node_terms), tuple(leaf_terms))


def load_bindings() -> tuple[BindingPlugin, ...]:
    """Load what installed packages offer under `fourleaf.bindings`, by name.

    Raises `ExtensionError` as `load` does.
    """
    return tuple(plugin for _, plugin in _offered(BINDINGS_GROUP, "before", "after"))


def unknown_weights(weights: Iterable[str], extensions: Extensions) -> list[str]:
    """The names in `scoringWeights` that are no term: neither built in nor of a package."""
    known = {*BUILT_IN_TERMS}
    known.update(term.name for term in extensions.node_terms)
    known.update(term.name for term in extensions.leaf_terms)
    return sorted(set(weights) - known)


def _offered(group: str, *methods: str) -> Iterator[tuple[str, Any]]:
    """Every object under `group` that has any of `methods`, with its entry point, by name."""
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        title = f"{group}: {entry.name}"
        try:
            thing = entry.load()
            thing = thing() if isclass(thing) else thing
        except Exception as wrong:
            raise ExtensionError(f"{title} cannot be loaded: {wrong}") from wrong
        able = any(callable(getattr(thing, method, None)) for method in methods)
        if not isinstance(getattr(thing, "name", None), str) or not able:
            wanted = " or ".join(f"{method}()" for method in methods)
            raise ExtensionError(f"{title} needs a name and a method {wanted}")
        if not isinstance(thing, Hashable):
            raise ExtensionError(f"{title} is not hashable; a frozen dataclass is")
        yield title, thing
