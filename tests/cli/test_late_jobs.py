"""Jobs whose pods come back late are warned about by `lint`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

Run = Callable[..., Result]
Write = Callable[[str, str], Path]

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {{name: llama, namespace: ml}}
spec:
  parallelism: {pods}
  completions: {pods}
  completionMode: {mode}
  {more}
  template:
    spec:
      schedulerName: {scheduler}
      restartPolicy: Never
      containers: [{{name: t, image: t, resources: {{limits: {{nvidia.com/gpu: "8"}}}}}}]
"""
OURS = "topology-aware-scheduler"


@pytest.mark.parametrize(
    ("pods", "mode", "more", "scheduler", "warned"),
    [
        (8, "Indexed", "backoffLimit: 1000", OURS, True),
        (8, "Indexed", "backoffLimitPerIndex: 100", OURS, False),
        (1, "Indexed", "", OURS, False),
        (8, "NonIndexed", "", OURS, False),
        (8, "Indexed", "", "default-scheduler", False),
    ],
)
def test_who_is_warned(
    run: Run, write: Write, pods: int, mode: str, more: str, scheduler: str, warned: bool
) -> None:
    """Indexed Jobs of several pods of ours; others cannot set the field, or need not."""
    text = JOB.format(pods=pods, mode=mode, more=more or "suspend: false", scheduler=scheduler)
    said = " ".join(run("lint", "-f", "examples", "-f", write("job.yaml", text)).stdout.split())
    assert ("Job ml/llama: spec.backoffLimitPerIndex: is not set" in said) is warned


def test_the_jobs_of_a_job_set(run: Run, write: Write) -> None:
    """The field of each replicated Job is named by its path."""
    inner = "\n".join("      " + line for line in JOB.split("spec:\n", 1)[1].splitlines())
    text = (
        "apiVersion: jobset.x-k8s.io/v1alpha2\nkind: JobSet\n"
        "metadata: {name: mix, namespace: ml}\nspec:\n  replicatedJobs:\n  - name: w\n"
        "    template:\n     spec:\n"
    ) + inner.format(pods=4, mode="Indexed", more="suspend: false", scheduler=OURS)
    said = run("lint", "-f", "examples", "-f", write("set.yaml", text)).stdout
    path = "spec.replicatedJobs[0].template.spec.backoffLimitPerIndex"
    assert f"JobSet ml/mix: {path}: is not set" in " ".join(said.split())
