"""What a scenario is: a name, one sentence that must hold, and what happens."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.faults import scenarios

if TYPE_CHECKING:
    from tests.faults.stage import Stage


@dataclass(frozen=True, slots=True)
class Needs:
    """The control plane that a scenario needs, and how its replicas run.

    `flags` are more flags of kube-apiserver, `arguments` more of `fourleaf run`. Where any
    `controllers` are named, kube-controller-manager runs these.
    """

    nodes: int = 16
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    controllers: tuple[str, ...] = ()


def _available() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """One fault, or one family of them, told apart by the seed.

    `run` raises `AssertionError` where something does not hold; what always has to hold is
    checked after it. `quick` ones take part in the test run, with `Stage.brief` set.
    `unavailable` says why it cannot run here, "" where it can.
    """

    name: str
    must: str
    run: Callable[[Stage], None]
    needs: Needs = field(default_factory=Needs)
    quick: bool = False
    unavailable: Callable[[], str] = _available


def every_scenario() -> dict[str, Scenario]:
    """All scenarios by name: the `SCENARIOS` of each module beside this one."""
    return {one.name: one for one in _found()}


def _found() -> Iterator[Scenario]:
    for module in pkgutil.iter_modules(scenarios.__path__, f"{scenarios.__name__}."):
        yield from getattr(importlib.import_module(module.name), "SCENARIOS", ())
