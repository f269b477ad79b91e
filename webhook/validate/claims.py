"""The claim or the device map of a pod: one of the two, of its namespace, settled once bound."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from fourleaf.model.crds.api import GROUP
from fourleaf.model.crds.claim import CLAIM
from fourleaf.model.readers.objects.annotations import field_of
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from fourleaf.model.readers.pods.gpu_claims import KIND, apply_claim
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.webhook.containers import spec_of
from fourleaf.webhook.validate.review_subject import PodSubject

LONGEST_NAME = 253
_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_PART}(\.{_PART})*", re.ASCII)


def check_claim(subject: PodSubject, pod: Pod) -> None:
    """Refuse a reference that cannot be meant, and one that contradicts the rest of the pod."""
    claim = subject.annotations.get(CLAIM)
    _refuse_late_changes(subject)
    if claim is None:
        return
    if "/" not in claim:
        _check_name(subject, claim)
    if DEVICE_MAP in subject.annotations:
        subject.manifest.error(
            field_of(CLAIM),
            claim,
            f"stands next to {DEVICE_MAP}",
            "Keep one of the two: a claim, or a map.",
        )
    known = KnownClaims(subject.settings.claims)
    if "/" in claim or known.get("", "", subject.namespace, claim) is not None:
        # A claim that is not known may be on its way; the scheduler waits for it.
        apply_claim(pod, known, subject.settings.spec.devices)


def _check_name(subject: PodSubject, claim: str) -> None:
    if len(claim) > LONGEST_NAME or not _NAME.fullmatch(claim):
        subject.manifest.error(
            field_of(CLAIM),
            claim,
            "is no name of an object",
            "Write the name of a GpuClaim: lower case letters, digits, - and .",
        )


@dataclass(frozen=True, slots=True)
class KnownClaims:
    """The claims that the webhook has seen, for the readers to look up."""

    bodies: Mapping[tuple[str, str], Body]

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:  # noqa: ARG002 - a protocol's
        """One claim, None where it has not been seen."""
        body = self.bodies.get((namespace, name))
        if body is None:
            return None
        return Manifest(Report(), "", GROUP, KIND, namespace, name, body)


def _refuse_late_changes(subject: PodSubject) -> None:
    if subject.is_new or not spec_of(subject.pod).get("nodeName"):
        return
    for key in (CLAIM, DEVICE_MAP):
        if key in subject.changed:
            subject.manifest.error(
                field_of(key),
                subject.changed[key],
                "changes after the pod was given its devices",
                "Create another pod; the devices of this one are settled.",
            )
