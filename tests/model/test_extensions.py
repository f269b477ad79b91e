"""Custom rules and terms come in by entry points, and what is none is refused by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints

import pytest

from fourleaf.model import extensions
from fourleaf.model.extensions import ExtensionError, Extensions, GangBinding, load, load_bindings
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, Role
from fourleaf.model.node import Node
from fourleaf.model.resources import Resources


class Anywhere:
    """A rule that allows everything."""

    name = "anywhere"

    def allows(self, gang: Gang, role: Role, node: Node) -> bool:
        """Allow."""
        return True


class Cool:
    """A node term."""

    name = "cool"

    def value(self, gang: Gang, role: Role, node: Node, free: Resources) -> int:
        """Value every node alike."""
        return 500


class Near:
    """A leaf term."""

    name = "near"

    def value(self, gang: Gang, leaf: Leaf, gpus: int) -> int:
        """Value every leaf alike."""
        return 500


class Step:
    """A step before bindings, and none after them."""

    name = "step"

    def before(self, binding: GangBinding) -> str | None:
        """Let every gang be bound."""
        return None


class Taken(Cool):
    """A term under the name of a built-in one."""

    name = "topologyAlignment"


class Odd:
    """A term whose value takes too little."""

    name = "odd"

    def value(self, gang: Gang) -> int:
        """Value a gang."""
        return 1


near = Near()


def offer(monkeypatch: pytest.MonkeyPatch, **offered: tuple[str, str]) -> None:
    """Let entry points offer (group, object of this module) by name."""
    points = EntryPoints(
        EntryPoint(name, f"{__name__}:{what}", group) for name, (group, what) in offered.items()
    )
    monkeypatch.setattr(extensions, "entry_points", lambda group: points.select(group=group))


def test_nothing_installed_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without entry points there are no custom rules and terms."""
    offer(monkeypatch)
    assert load() == Extensions()


def test_rules_and_both_kinds_of_terms(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class is made, an object taken, and terms are told apart by what value() takes."""
    offer(
        monkeypatch,
        anywhere=("fourleaf.rules", "Anywhere"),
        cool=("fourleaf.terms", "Cool"),
        near=("fourleaf.terms", "near"),
    )
    found = load()
    assert [rule.name for rule in found.rules] == ["anywhere"]
    assert [term.name for term in found.node_terms] == ["cool"]
    assert [term.name for term in found.leaf_terms] == ["near"]


def test_steps_of_bindings(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the two methods is enough, none is not, which names the entry point."""
    offer(monkeypatch, step=("fourleaf.bindings", "Step"))
    assert [type(one) for one in load_bindings()] == [Step]
    offer(monkeypatch, cool=("fourleaf.bindings", "Cool"))
    with pytest.raises(ExtensionError, match=r"bindings: cool needs .* before\(\) or after\(\)"):
        load_bindings()


@pytest.mark.parametrize(
    ("group", "what", "message"),
    [
        ("fourleaf.rules", "Cool", "needs a name and a method allows"),
        ("fourleaf.terms", "Taken", "the name topologyAlignment is taken"),
        ("fourleaf.terms", "Odd", "takes 1 arguments"),
        ("fourleaf.terms", "Missing", "bad cannot be loaded"),
    ],
)
def test_what_is_none_is_refused(
    monkeypatch: pytest.MonkeyPatch, group: str, what: str, message: str
) -> None:
    """The error names the group and what is wrong with the entry."""
    offer(monkeypatch, bad=(group, what))
    with pytest.raises(ExtensionError, match=message):
        load()
