"""GPUs that an annotation alone gives, with and without `devices.requireLimits`."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model.readers.made import Body, config, job, node, pod, reading

COUNT = {"topology.scheduler/gpu-count": "4"}
CLAIM = {"gpu.scheduling/claim": "c"}
MAP = {"gpu-scheduling-map": "0=n1:4,5,6,7"}
REQUIRED = config(devices={"requireLimits": True})


def _asked(*bodies: Body) -> tuple[int, str]:
    """GPUs of the only gang's only pod, and why it is held."""
    spec = {"devices": {"count": 4}}
    claim: Body = {
        "apiVersion": "gpu.scheduling/v1",
        "kind": "GpuClaim",
        "metadata": {"name": "c", "namespace": "ml"},
        "spec": spec,
    }
    (gang,) = reading(node(), claim, *bodies, strict=False).snapshot.gangs
    return gang.roles[0].request.gpus, gang.hold.detail if gang.hold else ""


@pytest.mark.parametrize("said", [COUNT, CLAIM, MAP], ids=["count", "claim", "map"])
def test_an_annotation_alone(said: dict[str, str]) -> None:
    """It gives GPUs unless limits are required; with limits that say the same it always does."""
    alone, limited = (pod("p-0", gpus, annotations=said) for gpus in (None, 4))
    assert _asked(alone) == _asked(limited) == _asked(REQUIRED, limited) == (4, "")
    gpus, why = _asked(REQUIRED, alone)
    assert gpus == 0
    assert "alone gives p-0 4 GPUs, which no quota would count" in why


@pytest.mark.parametrize("gpus", [None, 4])
def test_what_an_owner_says(gpus: Any) -> None:
    """The annotation of a Job gives no more to its pods than one of their own."""
    made = job("p", gpus, annotations=COUNT, completionMode="Indexed", parallelism=1, completions=1)
    assert _asked(made) == (4, "")
    assert bool(_asked(REQUIRED, made)[1]) == (gpus is None)


def test_pods_that_run_keep_what_they_have() -> None:
    """A config that changes takes no GPU from a pod that was granted it."""
    had = {"alloc.gpu.scheduling/devices": "4,5,6,7"}
    runs = pod("p-0", None, annotations=MAP | had, nodeName="n1", phase="Running")
    found = reading(node(), REQUIRED, runs)
    assert (found.snapshot.running[0].request.gpus, found.problems) == (4, ())
