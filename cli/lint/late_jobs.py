"""What `lint` says of Jobs whose pods come back late: their controller waits longer each time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fourleaf.model.config.spec import Spec
from fourleaf.model.problems import Problem
from fourleaf.model.readers import Source
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import EMPTY, Body, Manifest
from fourleaf.model.readers.objects.report import Report

JOB = ("batch", "Job")
JOB_SET = ("jobset.x-k8s.io", "JobSet")
FIELD = "backoffLimitPerIndex"


def late_jobs(sources: Sequence[Source], spec: Spec) -> list[Problem]:
    """A warning for each Job of several pods for our scheduler that counts all failures together.

    Its controller makes a lost pod anew after 10 s, 20 s, and so on up to 6 minutes, by all
    failures of the Job before; with `backoffLimitPerIndex` by those of the pod's own index.
    """
    inventory, report = Inventory(Report()), Report()
    inventory.take(sources)
    for kind in (JOB, JOB_SET):
        for manifest in inventory.of(*kind):
            for path, job in _jobs(manifest):
                if _is_late(job, spec):
                    manifest.on(report).warn(
                        f"{path}.{FIELD}",
                        None,
                        "is not set: the controller of the Job waits longer before it makes a lost "
                        "pod anew the more pods of the Job have failed, up to 6 minutes",
                        "Set it, to 100 say: then each index waits by its own failures alone.",
                    )
    return list(report.problems)


def _jobs(manifest: Manifest) -> Iterator[tuple[str, Body]]:
    """The spec of each Job that an object is or makes, and where it stands."""
    spec = _mapping(manifest.body.get("spec"))
    if manifest.kind == JOB[1]:
        yield "spec", spec
        return
    replicated = spec.get("replicatedJobs")
    for number, one in enumerate(replicated if isinstance(replicated, list) else ()):
        template = _mapping(_mapping(one).get("template"))
        yield f"spec.replicatedJobs[{number}].template.spec", _mapping(template.get("spec"))


def _is_late(job: Body, spec: Spec) -> bool:
    pod = _mapping(_mapping(job.get("template")).get("spec"))
    at_once = job.get("parallelism")
    return (
        pod.get("schedulerName") in spec.scheduler_names
        and job.get("completionMode") == "Indexed"
        and isinstance(at_once, int)
        and at_once > 1
        and job.get(FIELD) is None
    )


def _mapping(value: object) -> Body:
    return value if isinstance(value, dict) else EMPTY
