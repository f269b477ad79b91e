"""Rows of clusters worked out by hand, given to kube-scheduler and to ours: the same places."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.controlplane.fixtures import Plane
from tests.controlplane.waiting import eventually
from tests.e2e.given import AT_ONCE, Stage
from tests.e2e.replica import Replica, grant
from tests.filters.tables.table import SPACES, Row
from tests.filters.test_tables import ROWS
from tests.model.readers.made import OURS

THEIRS = "default-scheduler"
GATES = "TaintTolerationComparisonOperators=true,UserNamespacesHostNetworkSupport=true"
APISERVER_FLAGS = (
    f"--feature-gates={GATES}",
    # No controller runs that would take off what these put on nodes and volumes.
    "--disable-admission-plugins=TaintNodesByCondition,StorageObjectInUseProtection",
)
NOT_GIVEN = {
    "a volume of two zones by label of which one has no name": "no label may end in `_`",
}
"""Rows that no API server takes, and why."""


@pytest.fixture(scope="module")
def stage(module_control_plane: Plane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Both schedulers on an empty cluster."""
    plane = module_control_plane
    if not plane.managed:
        pytest.skip("the cluster that the environment names has nodes of its own")
    plane.scheduler(None, f"--feature-gates={GATES}")
    grant(plane, "scheduler-a")
    with plane.api() as api, ThreadPoolExecutor(AT_ONCE) as pool:
        for name, labels in SPACES.items():
            api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
        with Replica(plane, "scheduler-a", tmp_path_factory.mktemp("replica")) as replica:
            eventually(lambda: replica.leads, "it leads")
            yield Stage(api, pool)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row(stage: Stage, row: Row) -> None:
    """Ours is bound where kube-scheduler may bind its copy, waits where that waits, and says why.

    What the page of predicates refuses by name waits here alone.
    """
    if row.name in NOT_GIVEN:
        pytest.skip(NOT_GIVEN[row.name])
    fits = frozenset(row.fits.split())
    theirs = stage.answer(row, THEIRS)
    assert (theirs.node in fits) if fits else theirs.why, theirs
    mine = stage.answer(row, OURS)
    used = fits - {*row.unused.split()}
    if used and not row.refused:
        assert mine.node in used, mine
    else:
        assert mine.why, mine
        assert (row.refused or row.gated).lower() in mine.why.lower()
