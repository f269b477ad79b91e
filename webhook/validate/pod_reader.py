"""The pod as the scheduler's own readers read it, so that both take the same for good."""

from __future__ import annotations

from fourleaf.model.readers.objects.annotations import KNOWN, PREFIX
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.owners import Owners
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.pods import Pod, Requests, read_pod
from fourleaf.webhook.validate.review_subject import PodSubject

UNKNOWN_AT_MOST = 16
"""Unknown annotations of one pod that are looked at; for each a name is sought that is meant."""


def as_read(subject: PodSubject) -> Pod:
    """The pod with what it asks for; its owners are not at hand.

    Problems go to the subject's manifest.
    """
    owners = Owners(Inventory(Report()))
    pod = read_pod(subject.manifest, subject.name, owners)
    pod.annotations = _bounded(pod.annotations)
    pod.layers = ((subject.manifest, pod.annotations),)
    Requests(subject.settings.spec).read(pod)
    return pod


def _bounded(annotations: dict[str, str]) -> dict[str, str]:
    strange = [key for key in annotations if key.startswith(PREFIX) and key not in KNOWN]
    passed = set(strange[UNKNOWN_AT_MOST:])
    return {key: value for key, value in annotations.items() if key not in passed}
