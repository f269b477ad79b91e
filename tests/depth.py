"""What runs where: each test belongs to exactly one of `make test`, `make e2e` and `make deep`.

`make test` runs all that a change can break at once. What needs minutes of waiting on a real
control plane, or tools that are compiled first, is marked `e2e`; what repeats a test of `make test`
on many more instances, seeds or schedules is marked `deep`.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest
from xdist.scheduler import LoadGroupScheduling

E2E = (
    "tests/controlplane/test_plane.py",
    "tests/deploy/test_delivery.py",
    "tests/deploy/test_images.py",
    "tests/deploy/test_monitoring.py",
    "tests/docs/test_commands.py",
    "tests/e2e/",
    "tests/faults/test_faults.py",
    "tests/history/test_real.py",
    "tests/k8s_bridge/test_real.py",
)
"""Files and folders that `make e2e` runs."""

THIN = (
    "tests/e2e/test_dialects.py",
    "tests/e2e/test_rbac.py",
)
"""The thin path through the real control plane that stays in `make test`: a scheduler binds gangs
of every dialect, and each account may do what its program does."""

DEEP = (
    "tests/explorer/test_code.py",
    "tests/explorer/test_relocations.py",
)
"""Files that `make deep` runs."""

TOGETHER = (
    "tests/docs/test_commands.py",
    *(f"tests/e2e/test_{name}.py" for name in ("agent", "bad_input", "chart", "crds", "dashboard")),
    *(f"tests/e2e/test_{name}.py" for name in ("device_map", "policies", "same_places")),
    *(f"tests/e2e/test_{name}.py" for name in ("seeds", "webhook")),
    *(f"tests/e2e/hostile/test_{name}.py" for name in ("clients", "evictions", "loads")),
)
"""Files of which one worker runs all tests: they share a control plane that is started once, or
start programs on the ports that these have by default."""

FIRST = {
    "tests/simulation/test_seeds.py::test_seeds": 0,
    "tests/simulator/tuning/test_shutdown.py::test_workers_end_with_the_command": 1,
    "tests/solver/batch/test_equals_brute_force.py::test_seeded_instances_by_their_relaxation": 2,
    "tests/solver/batch/test_equals_brute_force.py::test_seeded_instances": 3,
    "tests/solver/batch/test_large_phantoms.py::": 1,
    "tests/solver/relocation/test_equals_brute_force.py::": 3,
    "tests/solver/relocation/test_limits_equal_brute_force.py::": 3,
    "tests/solver/forecast/test_earliest_start.py::": 1,
}
"""Tests in blocks of instances -> how many blocks of each stay in `make test`; the rest is deep."""

SHARED = ("tests/e2e/test_same_places.py::test_a_row",)
"""Tests of `make e2e` in many instances, of which a share runs where one is asked for."""

SHARE_VARIABLE = "FOURLEAF_DEEP_SHARE"
"""With `2/4`, `make deep` runs the second quarter of the blocks of instances and seeds, and of the
mutants, and `make e2e` that of what is `SHARED`; unset, all of them."""


def share() -> tuple[int, int]:
    """Which part of how many parts runs. Raises `ValueError` where the variable names none."""
    part, _, parts = os.environ.get(SHARE_VARIABLE, "1/1").partition("/")
    if not 1 <= int(part) <= int(parts):
        raise ValueError(f"{SHARE_VARIABLE} = {part}/{parts}: give PART/PARTS, such as 2/4")
    return int(part), int(parts)


def is_in_turn(number: int) -> bool:
    """Whether the instance, seed or mutant of this number is in the part that runs."""
    part, parts = share()
    return number % parts == part - 1


def mark(items: list[pytest.Item]) -> list[pytest.Item]:
    """Mark what `make e2e` and `make deep` run; returns what of these is not in turn."""
    seen: Counter[str] = Counter()
    later = []
    for item in items:
        name = item.nodeid.split("[")[0]
        blocks = next((n for begin, n in FIRST.items() if name.startswith(begin)), None)
        if item.nodeid.startswith(DEEP):
            item.add_marker("deep")
        elif item.nodeid.startswith(E2E) and not item.nodeid.startswith(THIN):
            item.add_marker("e2e")
            if name in SHARED:
                seen[name] += 1
                if not is_in_turn(seen[name]):
                    later.append(item)
        elif blocks is not None and "[" in item.nodeid:
            seen[name] += 1
            if seen[name] > blocks:
                item.add_marker("deep")
                if not is_in_turn(seen[name]):
                    later.append(item)
    return later


class OneWorkerAFile(LoadGroupScheduling):
    """Sends all tests of the files in `TOGETHER` to the same worker, others wherever there is room.

    The marker `xdist_group` is lost with this version of pytest, which does not say so.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::", maxsplit=1)[0]
        return path if path in TOGETHER else nodeid
