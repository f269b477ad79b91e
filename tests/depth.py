"""What runs where: each test belongs to exactly one of `make test`, `make e2e` and `make deep`.

`make test` runs all that a change can break at once. What needs minutes of waiting on a real
control plane, or tools that are compiled first, is marked `e2e`; what repeats a test of `make test`
on many more instances, seeds or schedules is marked `deep`.
"""

from __future__ import annotations

from collections.abc import Iterable

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
    "tests/k8s_bridge/reporting/test_real.py",
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
    "tests/simulation/test_seeds.py::test_seeds[",
)
"""Files, and tests, that `make deep` runs."""

TOGETHER = (
    "tests/docs/test_commands.py",
    *(f"tests/e2e/test_{name}.py" for name in ("agent", "bad_input", "chart", "crds", "dashboard")),
    *(f"tests/e2e/test_{name}.py" for name in ("device_map", "policies", "seeds", "webhook")),
)
"""Files of which one worker runs all tests: they share a control plane that is started once, or
start programs on the ports that these have by default."""

FIRST = {
    "tests/simulator/tuning/test_shutdown.py::test_workers_end_with_the_command": 1,
    "tests/solver/batch/test_equals_brute_force.py::test_seeded_instances": 3,
    "tests/solver/relocation/test_equals_brute_force.py::": 3,
    "tests/solver/relocation/test_limits_equal_brute_force.py::": 3,
    "tests/solver/forecast/test_earliest_start.py::": 1,
}
"""Tests in blocks of instances -> how many blocks of each stay in `make test`; the rest is deep."""


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark what `make e2e` and `make deep` run."""
    seen: dict[str, int] = {}
    for item in items:
        name = item.nodeid.split("[")[0]
        blocks = next((n for begin, n in FIRST.items() if name.startswith(begin)), None)
        if item.nodeid.startswith(DEEP):
            item.add_marker("deep")
        elif item.nodeid.startswith(E2E) and not item.nodeid.startswith(THIN):
            item.add_marker("e2e")
        elif blocks is not None and "[" in item.nodeid:
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > blocks:
                item.add_marker("deep")


class OneWorkerAFile(LoadGroupScheduling):
    """Sends all tests of the files in `TOGETHER` to the same worker, others wherever there is room.

    The marker `xdist_group` is lost with this version of pytest, which does not say so.
    """

    def _split_scope(self, nodeid: str) -> str:
        path = nodeid.split("::", maxsplit=1)[0]
        return path if path in TOGETHER else nodeid
