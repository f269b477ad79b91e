"""The solver process fits into its container beside its parent."""

from __future__ import annotations

import os
from pathlib import Path

from fourleaf.solver.process.memory_limit import (
    LEAST_MIB,
    MIB,
    SPARE_MIB,
    container_limit_mib,
    resident_mib,
    within_container,
)


def test_the_smallest_limit_on_the_way_up_counts(tmp_path: Path) -> None:
    """The group itself has none, the pod's 2 GiB count; what is no number is no limit."""
    (tmp_path / "pod/main").mkdir(parents=True)
    (tmp_path / "pod/main/memory.max").write_text("max\n")
    (tmp_path / "pod/memory.max").write_text(f"{2048 * MIB}\n")
    own = tmp_path / "own"
    own.write_text("0::/pod/main\n")
    assert container_limit_mib(tmp_path, own) == 2048


def test_the_older_version_of_cgroups_is_read_too(tmp_path: Path) -> None:
    """Its controllers have folders of their own, and no limit is a very large number."""
    (tmp_path / "memory/pod").mkdir(parents=True)
    (tmp_path / "memory/memory.limit_in_bytes").write_text(f"{2**63 - 4096}\n")
    limit = tmp_path / "memory/pod/memory.limit_in_bytes"
    own = tmp_path / "own"
    own.write_text("5:cpu:/pod\n4:memory:/pod\n")
    limit.write_text(f"{512 * MIB}\n")
    assert container_limit_mib(tmp_path, own) == 512
    limit.unlink()
    assert container_limit_mib(tmp_path, own) is None


def test_nothing_is_known_without_cgroups(tmp_path: Path) -> None:
    """No file, no limit."""
    assert container_limit_mib(tmp_path, tmp_path / "none") is None


def test_what_others_hold_and_may_come_to_hold_is_left_to_them() -> None:
    """Of 2048 MiB, 600 are held and 128 kept; a small container leaves the least."""
    assert within_container(4096, 2048, 600) == 2048 - 600 - SPARE_MIB
    assert within_container(512, 2048, 600) == 512
    assert within_container(4096, 700, 600) == LEAST_MIB
    assert within_container(4096, None, 600) == 4096
    assert resident_mib(os.getpid()) > 0
