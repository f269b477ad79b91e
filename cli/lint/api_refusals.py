"""What `lint` says of workloads that the API server would refuse, before that does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fourleaf.model.problems import Problem
from fourleaf.model.readers import Source
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import EMPTY, Body, Manifest
from fourleaf.model.readers.objects.report import Report

JOB = ("batch", "Job")
SELECTING = (("apps", "Deployment"), ("apps", "StatefulSet"))
TEMPLATE = "spec.template.spec"
REFUSED = "is not set, and the API server refuses it so"


def api_refusals(sources: Sequence[Source]) -> list[Problem]:
    """An error for each field that a Job, Deployment or StatefulSet has to have and lacks."""
    inventory, report = Inventory(Report()), Report()
    inventory.take(sources)
    for kind in (JOB, *SELECTING):
        for manifest in inventory.of(*kind):
            for field, advice in _lacking(manifest, kind):
                manifest.on(report).error(field, None, REFUSED, advice)
    return list(report.problems)


def _lacking(manifest: Manifest, kind: tuple[str, str]) -> Iterator[tuple[str, str]]:
    """Fields that are not there, and what to write."""
    spec = _mapping(manifest.body.get("spec"))
    pod = _mapping(_mapping(spec.get("template")).get("spec"))
    containers = pod.get("containers")
    if not isinstance(containers, list) or not containers:
        yield f"{TEMPLATE}.containers", "Give the pods at least one container."
    else:
        for number, one in enumerate(containers):
            if not _mapping(one).get("image"):
                yield f"{TEMPLATE}.containers[{number}].image", "Name the image of the container."
    if kind == JOB and pod.get("restartPolicy") not in ("Never", "OnFailure"):
        yield f"{TEMPLATE}.restartPolicy", "Set it to Never or OnFailure: Jobs take no other."
    if kind in SELECTING and not spec.get("selector"):
        yield "spec.selector", "Select the labels of the template, such as matchLabels: {app: web}."


def _mapping(value: Any) -> Body:
    return value if isinstance(value, dict) else EMPTY
