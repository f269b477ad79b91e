"""Names that users of the older schedulers type: targets of make, files, labels."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TARGETS = ("test", "unit", "e2e", "fix-nodes")
FILES = ("LICENSE", "CONTRIBUTING.md", "TROUBLESHOOTING.md", "docs/architecture.md")


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_is_there(target: str) -> None:
    """Each is explained by `make` alone, too."""
    assert re.search(rf"^{target}:.* ## \S", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_there(name: str) -> None:
    """And says something."""
    assert len((ROOT / name).read_text()) > 500


def test_logs_are_found_by_their_labels() -> None:
    """Pods of the scheduler carry the labels that `kubectl logs -l` was given for both names."""
    text = (ROOT / "deploy" / "fourleaf.yaml").read_text()
    assert "app.kubernetes.io/name: gpu-scheduler\n        app: topology-scheduler\n" in text
