"""PCI addresses."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourleaf.agent.pci import address, has_gpu, numa_node


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


@pytest.mark.parametrize(
    ("vendor", "kind", "found"),
    [
        ("0x10de", "0x030200", True),
        ("0x1002", "0x120000", True),
        ("0x10de", "0x020700", False),
        ("0x1a03", "0x030000", False),
    ],
    ids=["NVIDIA", "an accelerator of AMD", "a card for InfiniBand", "the screen of a BMC"],
)
def test_the_kernel_sees_gpus_without_a_driver(
    tmp_path: Path, vendor: str, kind: str, found: bool
) -> None:
    """By the vendor and the class of each device."""
    assert not has_gpu(tmp_path / "none")
    one = tmp_path / "0000:1b:00.0"
    one.mkdir()
    (one / "vendor").write_text(f"{vendor}\n")
    (one / "class").write_text(f"{kind}\n")
    assert has_gpu(tmp_path) is found


@pytest.mark.parametrize(("text", "node"), [("1\n", 1), ("0\n", 0), ("-1\n", None), ("x", None)])
def test_numa_nodes(tmp_path: Path, text: str, node: int | None) -> None:
    """The kernel says -1 where there is none."""
    (tmp_path / "0000:1b:00.0").mkdir()
    (tmp_path / "0000:1b:00.0" / "numa_node").write_text(text)
    assert numa_node("0000:1b:00.0", tmp_path) == node
    assert numa_node("0000:1c:00.0", tmp_path) is None
