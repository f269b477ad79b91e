"""What the ApplicationSet needs of Argo CD is said where one looks for it."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from tests.deploy.generated import DEPLOY

SET = DEPLOY / "argocd" / "applicationset.yaml"
FLAG = "--enable-progressive-syncs"
"""Without it the controller ignores `strategy` and says nothing."""


def test_charts_come_from_the_repository_of_the_project() -> None:
    """It can be applied as it is: `repoURL` is where the project is kept."""
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())["project"]
    source = yaml.safe_load(SET.read_text())["spec"]["template"]["spec"]["source"]
    assert source["repoURL"] == project["urls"]["Homepage"]


@pytest.mark.parametrize("path", [SET, DEPLOY.parent / "docs" / "install.md"], ids=lambda p: p.name)
def test_an_order_comes_with_the_flag_that_makes_it_hold(path: Path) -> None:
    """RollingSync does nothing in a controller as it comes."""
    strategy = yaml.safe_load(SET.read_text())["spec"].get("strategy", {})
    assert (strategy.get("type") == "RollingSync") == (FLAG in path.read_text())
