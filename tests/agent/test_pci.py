"""PCI addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourleaf.agent.pci import address, numa_node


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("00000000:1B:00.0", "0000:1b:00.0"),
        ("0000:1b:00.0", "0000:1b:00.0"),
        ("00010000:04:00.0", "10000:04:00.0"),
        ("0001:C3:1F.7", "0001:c3:1f.7"),
        ("0000:1b:00", "0000:1b:00.0"),
        ("", ""),
        ("N/A", ""),
        ("0000:1b:00.9", ""),
    ],
)
def test_addresses(text: str, found: str) -> None:
    """Those of drivers become those of the kernel."""
    assert address(text) == found


@pytest.mark.parametrize(("text", "node"), [("1\n", 1), ("0\n", 0), ("-1\n", None), ("x", None)])
def test_numa_nodes(tmp_path: Path, text: str, node: int | None) -> None:
    """The kernel says -1 where there is none."""
    (tmp_path / "0000:1b:00.0").mkdir()
    (tmp_path / "0000:1b:00.0" / "numa_node").write_text(text)
    assert numa_node("0000:1b:00.0", tmp_path) == node
    assert numa_node("0000:1c:00.0", tmp_path) is None
