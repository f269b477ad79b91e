"""What a bound pod holds is what it was granted, whatever its tenant writes afterwards."""

from __future__ import annotations

import pytest

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.devices.held_devices import BANDWIDTH, DEVICES, GPUS, Grant
from fourleaf.model.readers.live import LiveReader
from fourleaf.model.snapshot import RunningPod
from tests.model.readers.made import Body, config, job, node, owned, pod, reading

COUNT = "topology.scheduler/gpu-count"
WIDTH = "topology.scheduler/network-bandwidth"
CLAIM = "gpu.scheduling/claim"
ALL = "0,1,2,3,4,5,6,7"


def bound(gpus: int | None = None, **annotations: str) -> Body:
    """A running pod of ours on n1, with these annotations."""
    return pod("p", gpus, annotations=annotations, nodeName="n1", phase="Running")


def running(*bodies: Body, mode: str = "env") -> RunningPod:
    """The only pod of a cluster that runs, as a scheduler counts it."""
    reader = LiveReader()
    spec = {"devices": {"mode": mode}}
    reader.configure(SchedulerConfig.model_validate(config(**spec)))
    for body in (node(), *bodies):
        reader.put(body["apiVersion"].rpartition("/")[0], body["kind"], body)
    (found,) = reader.reading(0.0).snapshot.running
    return found


@pytest.mark.parametrize("said", ["1", "1000000", "nonsense"])
@pytest.mark.parametrize("mode", ["env", "count", "dra"])
def test_an_annotation_gives_nothing_back_and_takes_nothing(said: str, mode: str) -> None:
    """Eight were granted: eight are held. None were: none are."""
    some = bound(**{GPUS: "8", DEVICES: ALL, COUNT: said})
    assert running(some, mode=mode).request.gpus == 8
    none = bound(**{GPUS: "0", COUNT: said})
    assert running(none, mode=mode).request.gpus == 0


def test_an_owner_gives_nothing_back() -> None:
    """The same where the Job of the pod says it."""
    some = owned(bound(**{GPUS: "8", DEVICES: ALL}), "Job", "train")
    assert running(some, job(annotations={COUNT: "1"})).request.gpus == 8


@pytest.mark.parametrize("count", [1, 1024])
def test_a_claim_made_anew_gives_nothing_back(count: int) -> None:
    """Four were granted by a claim that is now for another number."""
    claim = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuClaim",
        "metadata": {"name": "c", "namespace": "ml"},
        "spec": {"devices": {"count": count}},
    }
    some = bound(**{GPUS: "4", DEVICES: "0,1,2,3", CLAIM: "c"})
    assert running(some, claim).request.gpus == 4


def test_limits_count_at_least() -> None:
    """Containers ask for 4, and the grant says less: it was tampered with by an administrator."""
    assert running(bound(4, **{GPUS: "1"})).request.gpus == 4


def test_devices_count_at_least() -> None:
    """A version that wrote devices alone bound it; its annotation is lowered since."""
    assert running(bound(**{DEVICES: ALL, COUNT: "1"})).request.gpus == 8


def test_a_pod_that_we_did_not_bind_holds_what_it_asks_for() -> None:
    """It came with its node: what it says of GPUs counts for nothing."""
    assert running(bound(2, **{COUNT: "8"})).request.gpus == 2
    assert running(bound(**{COUNT: "8"})).request.gpus == 0


def test_a_grant_that_is_not_written_down_is_believed_where_the_kubelet_chooses() -> None:
    """An older version bound it, and left nothing else to go by than what it says."""
    old = bound(**{"alloc.gpu.scheduling/commit": "c1", COUNT: "8"})
    assert running(old, mode="count").request.gpus == 8
    assert running(old).request.gpus == 0


def test_a_terminating_pod_holds_its_devices() -> None:
    """Until it is gone, whatever it says."""
    body = bound(**{GPUS: "8", DEVICES: ALL, COUNT: "1"})
    body["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert running(body).request.gpus == 8


def test_bandwidth_is_settled_too() -> None:
    """A running pod asks for all of the uplink; another says that it needs nothing any more."""
    more = bound(**{GPUS: "8", BANDWIDTH: "1000", WIDTH: "900Tbps"})
    assert running(more).bandwidth == 1000
    assert running(bound(**{GPUS: "8", WIDTH: "900Tbps"})).bandwidth is None


def test_a_member_on_its_way_holds_its_grant() -> None:
    """Between commit and binding the tenant says another number."""
    reader = LiveReader()
    waiting = pod("p", None, annotations={COUNT: "8"})
    waiting["metadata"]["uid"] = "uid-p"
    later = pod("p", None, annotations={COUNT: "1000000"})
    later["metadata"]["uid"] = "uid-p"
    for body in (node(), waiting):
        reader.put(body["apiVersion"].rpartition("/")[0], body["kind"], body)
    reader.assume("uid-p", "n1", (), Grant(8))
    reader.put("", "Pod", later)
    (found,) = reader.reading(0.0).snapshot.running
    assert found.request.gpus == 8


def test_files_have_no_grants() -> None:
    """What is read from files counts as it says."""
    (found,) = reading(node(), bound(**{COUNT: "8"})).snapshot.running
    assert found.request.gpus == 8
