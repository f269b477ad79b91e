"""The claim or the device map of a pod: one of the two, of its namespace, settled once bound."""

from __future__ import annotations

import re

from model.crds.claim import CLAIM
from model.readers.device_map import DEVICE_MAP
from model.readers.pods import Pod
from model.readers.wishes import field_of
from webhook.containers import spec_of
from webhook.validate.subject import PodSubject

LONGEST_NAME = 253
_PART = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_PART}(\.{_PART})*", re.ASCII)


def check_claim(subject: PodSubject, pod: Pod) -> None:
    """Refuse a reference that cannot be meant, and one that contradicts the rest of the pod."""
    claim = subject.annotations.get(CLAIM)
    _refuse_late_changes(subject)
    if claim is None:
        return
    _check_name(subject, claim)
    if DEVICE_MAP in subject.annotations:
        subject.manifest.error(
            field_of(CLAIM),
            claim,
            f"stands next to {DEVICE_MAP}",
            "Keep one of the two: a claim, or a map.",
        )
    count = subject.settings.claims.get((subject.namespace, claim))
    asked = pod.request.gpus
    if count is not None and asked and asked != count:
        subject.manifest.error(
            field_of(CLAIM),
            claim,
            f"is a claim for {count} devices, but the containers ask for {asked} GPUs",
            f"Let the containers ask for {count} GPUs in all, or for none.",
        )


def _check_name(subject: PodSubject, claim: str) -> None:
    if "/" in claim:
        subject.manifest.error(
            field_of(CLAIM),
            claim,
            "refers to another namespace",
            f"Name a GpuClaim of namespace {subject.namespace}, without a slash.",
        )
    elif len(claim) > LONGEST_NAME or not _NAME.fullmatch(claim):
        subject.manifest.error(
            field_of(CLAIM),
            claim,
            "is no name of an object",
            "Write the name of a GpuClaim: lower case letters, digits, - and .",
        )


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
