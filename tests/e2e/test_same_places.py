"""Rows of clusters worked out by hand, given to kube-scheduler and to ours: the same places."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.controlplane.fixtures import Plane
from tests.controlplane.releases import since
from tests.controlplane.waiting import eventually
from tests.e2e.given import AT_ONCE, Stage
from tests.e2e.replica import Replica, grant
from tests.filters.kube_filters import Body
from tests.filters.tables.nodes import tainted
from tests.filters.tables.table import ALL, SPACES, Row, Standing
from tests.filters.test_tables import ROWS
from tests.model.readers.made import OURS

pytestmark = since(36, "what some rows are about")

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

_LIMITED: Body = {"containers": [{"name": "main", "resources": {"limits": {"cpu": "3"}}}]}
_SERVES: Body = {
    "hostNetwork": True,
    "containers": [{"name": "main", "ports": [{"containerPort": 80}]}],
}
_SANDBOX: Body = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "sandbox"},
    "handler": "sandbox",
    "overhead": {"podFixed": {"cpu": "2"}},
    "scheduling": {"nodeSelector": {"zone": "z0"}, "tolerations": [{"operator": "Exists"}]},
}
FILLED_IN = (
    Row("limits that stand for requests", "n1 n2 n3", _LIMITED, (Standing("n0", cpu="2"),)),
    Row(
        "ports of the containers of pods on the network of their host",
        "n1 n2 n3",
        _SERVES,
        (Standing("n0", spec=_SERVES),),
    ),
    Row(
        "a taint that every pod tolerates for a while",
        ALL,
        nodes={"n0": tainted("NoExecute", "", "node.kubernetes.io/not-ready")},
    ),
    Row(
        "nodes, tolerations and overhead of a runtime class",
        "n1",
        {"runtimeClassName": "sandbox"},
        (Standing("n0", cpu="1"),),
        nodes={"n1": tainted()},
        others=(_SANDBOX,),
        requests={"cpu": "1500m"},
    ),
)
"""Rows about what the API server fills in, which the readers do not do."""


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


def test_nearly_all_rows_are_given() -> None:
    """What no API server takes is one row, by name."""
    assert len(NOT_GIVEN) == 1
    assert {row.name for row in ROWS} >= NOT_GIVEN.keys()


@pytest.mark.parametrize("row", [*ROWS, *FILLED_IN], ids=lambda row: row.name)
def test_a_row(stage: Stage, row: Row) -> None:
    """Ours is bound where kube-scheduler may bind its copy, waits where that waits, and says why.

    What the page of predicates refuses by name waits here alone.
    """
    if row.name in NOT_GIVEN:
        pytest.skip(NOT_GIVEN[row.name])
    fits = frozenset(row.fits.split())
    theirs = stage.answer(row, THEIRS, fits)
    assert theirs.node in (fits or {""}), theirs
    used = frozenset() if row.refused else fits - {*row.unused.split()}
    mine = stage.answer(row, OURS, used)
    assert mine.node in (used or {""}), mine
    assert used or mine.why
    assert (row.refused or row.gated).lower() in mine.why.lower()
