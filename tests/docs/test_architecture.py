"""The steps on the page of the architecture are those of functions that exist."""

from __future__ import annotations

import ast
import re

import pytest

from tests.docs.test_guides import ROOT

PAGE = ROOT / "docs" / "architecture.md"
FUNCTION = re.compile(r"^`([A-Za-z_.]+)` \(`([\w/]+\.py)`\)", re.M)
FOUND = FUNCTION.findall(PAGE.read_text("utf-8"))


@pytest.mark.parametrize(("name", "path"), FOUND, ids=lambda part: part)
def test_every_function_with_steps_exists(name: str, path: str) -> None:
    """Under the name that the page gives it, in the file beside the name."""
    names = set()
    for one in ast.parse((ROOT / path).read_text("utf-8")).body:
        inside = one.body if isinstance(one, ast.ClassDef) else []
        names |= {getattr(one, "name", "")}
        names |= {f"{getattr(one, 'name', '')}.{getattr(part, 'name', '')}" for part in inside}
    assert name in names


def test_every_program_has_its_steps() -> None:
    """Scheduler, solver, webhook, agent and dashboard, with what they call."""
    assert len(FOUND) >= 10
