"""What is generated in `deploy/` is what its sources make now."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.controlplane.build import BuildError
from tests.deploy.generated import CHARTS, DEPLOY, from_charts, from_values


def test_generated_files_are_up_to_date() -> None:
    """Nobody has edited one, or changed its source alone."""
    try:
        expected = {**from_values(), **from_charts()}
    except BuildError as error:
        pytest.skip(f"helm cannot be had: {error}")
    stale = [str(path.relative_to(DEPLOY)) for path, text in expected.items() if read(path) != text]
    assert stale == [], "run python -m tests.deploy"


def test_charts_read_the_plain_manifests_themselves() -> None:
    """They are links, so that no second copy can grow old."""
    for name in ("rbac", "policies", "crds", "webhook", "monitoring"):
        link = CHARTS / "fourleaf" / "files" / name
        assert link.is_symlink()
        assert not os.readlink(link).startswith("/")
        assert link.resolve() == (DEPLOY / name).resolve()


def test_the_top_folder_can_be_applied() -> None:
    """`kubectl apply -f deploy/` finds one manifest, which is the whole of the base."""
    found = [path for path in DEPLOY.iterdir() if path.suffix in (".yaml", ".yml", ".json")]
    assert [path.name for path in found] == ["fourleaf.yaml"]
    assert found[0].resolve() == (DEPLOY / "kustomize" / "base" / "fourleaf.yaml").resolve()


def read(path: Path) -> str:
    """The file's content, "" where there is none."""
    return path.read_text("utf-8") if path.is_file() else ""
