"""A scheduler name that is misspelt is told of; another scheduler's is not."""

from __future__ import annotations

import pytest

from fourleaf.model.readers.pods.scheduler_names import meant_scheduler
from tests.model.readers.made import job, node, pod, pod_spec, reading

OURS = ("topology-aware-scheduler", "gpu-scheduler")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("topolgy-aware-scheduler", "topology-aware-scheduler"),
        ("topology-aware-schedular", "topology-aware-scheduler"),
        ("gpu-schedular", "gpu-scheduler"),
        ("gpu-scheduler", ""),
        ("default-scheduler", ""),
        ("volcano", ""),
        ("kai-scheduler", ""),
        ("runai-scheduler", ""),
        ("", ""),
        ("s" * 10_000, ""),
    ],
)
def test_only_names_nearly_like_ours_are_misspelt(name: str, meant: str) -> None:
    """Those of other schedulers share no more than the ending."""
    assert meant_scheduler(name, OURS) == meant


def test_pods_and_jobs_that_nearly_name_us_are_warned_about() -> None:
    """With the field in the template, and once for a Job however many pods it makes."""
    template = {"spec": pod_spec(8, schedulerName="gpu-schedular")}
    bodies = pod(schedulerName="topolgy-aware-scheduler"), job("train", parallelism=2)
    bodies[1]["spec"]["template"] = template
    problems = reading(node(), *bodies).problems
    found = {(one.object, one.field, one.advice) for one in problems}
    assert found == {
        ("Pod ml/p", "spec.schedulerName", "Did you mean topology-aware-scheduler?"),
        ("Job ml/train", "spec.template.spec.schedulerName", "Did you mean gpu-scheduler?"),
    }
