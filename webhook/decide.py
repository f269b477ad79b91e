"""From a review to its answer: pure, and the same each time."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fourleaf.model.config.spec import CONFIG_MAP
from fourleaf.model.crds.api import GROUP
from fourleaf.model.problems import Problem
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.webhook.answers import Patch, allowed, impossible, refused, warning_of
from fourleaf.webhook.containers import spec_of
from fourleaf.webhook.excess import excess
from fourleaf.webhook.mutate.devices import tell_devices
from fourleaf.webhook.mutate.scheduler import name_scheduler
from fourleaf.webhook.review import AdmissionRequest
from fourleaf.webhook.settings import Settings
from fourleaf.webhook.validate.claim_objects import check_claim_object
from fourleaf.webhook.validate.config import check_config
from fourleaf.webhook.validate.pods import check_pod
from fourleaf.webhook.validate.review_subject import PodSubject

PODS = ("", "pods")
EPHEMERAL = ("", "pods/ephemeralcontainers")
CLAIMS = (GROUP, "gpuclaims")
CONFIG_MAPS = ("", "configmaps")
_KINDS = {PODS: "Pod", EPHEMERAL: "Pod", CLAIMS: "GpuClaim", CONFIG_MAPS: "ConfigMap"}


class Route(StrEnum):
    """What is asked, by the path of the request."""

    MUTATE = "/mutate"
    MUTATE_DEFAULT = "/mutate/default"
    VALIDATE = "/validate"


@dataclass(frozen=True, slots=True)
class AdmissionDecision:
    """The answer as it is sent, and in short what it comes to."""

    answer: Body
    result: str
    problems: tuple[Problem, ...] = ()


def decide(request: AdmissionRequest, door: Route, settings: Settings) -> AdmissionDecision:
    """Answer one review."""
    kind = _KINDS.get(request.what)
    if kind is None or request.operation not in ("CREATE", "UPDATE"):
        return AdmissionDecision(allowed(request.uid), "untouched")
    missing = _missing(request, kind)
    if missing:
        return AdmissionDecision(impossible(request.uid, missing), "malformed")
    if kind == "Pod" and excess(request.old_object)[0]:
        # It came while no webhook answered. It is to be ended, which takes updates.
        return AdmissionDecision(allowed(request.uid), "untouched")
    if kind == "Pod" and (too_much := excess(request.object))[0]:
        return _refused_unread(request, *too_much)
    if door is Route.VALIDATE:
        return _validated(request, settings)
    patch = _patch(request, door, settings)
    return AdmissionDecision(allowed(request.uid, patch), "patched" if patch else "allowed")


def _refused_unread(request: AdmissionRequest, field: str, why: str) -> AdmissionDecision:
    """The refusal of a pod that is not looked at, for there is too much of it."""
    report = Report()
    subject = PodSubject(request.object or {}, None, request.namespace, "", Settings(), report)
    subject.manifest.error(field, None, why, "Split it into several pods.")
    answer = refused(request.uid, subject.manifest.title, report.errors)
    return AdmissionDecision(answer, "refused", report.errors)


def _missing(request: AdmissionRequest, kind: str) -> str:
    """What the review lacks, "" where it has all."""
    if request.object is None:
        return f"request.object is missing, though the operation is {request.operation}"
    if request.operation == "UPDATE" and request.old_object is None:
        return "request.oldObject is missing, though the operation is UPDATE"
    for name, body in (("object", request.object), ("oldObject", request.old_object)):
        if body is not None and body.get("kind") != kind:
            return f"request.{name}.kind is not {kind}"
        for part in ("metadata", "spec"):
            if body is not None and not isinstance(body.get(part, {}), dict):
                return f"request.{name}.{part} is not an object"
    return ""


def _patch(request: AdmissionRequest, door: Route, settings: Settings) -> Patch:
    pod, before = request.object or {}, request.old_object
    if request.what not in (PODS, EPHEMERAL):
        return []
    if request.what == PODS and before is not None:
        return []
    patch: Patch = []
    if door is Route.MUTATE_DEFAULT:
        patch = name_scheduler(pod, before, settings)
        for one in patch:
            pod = {**pod, "spec": {**spec_of(pod), "schedulerName": one["value"]}}
    return patch + tell_devices(pod, before, settings)


def _validated(request: AdmissionRequest, settings: Settings) -> AdmissionDecision:
    report = Report()
    body, before = request.object or {}, request.old_object
    user = request.user_info.username
    if request.what in (CLAIMS, CONFIG_MAPS):
        group, kind = request.what[0], _KINDS[request.what]
        metadata = body.get("metadata") or {}
        name = str(metadata.get("name") or metadata.get("generateName") or "")
        manifest = Manifest(report, "", group, kind, request.namespace, name, body)
        if request.what == CLAIMS:
            check_claim_object(manifest, before)
        elif name == CONFIG_MAP:
            check_config(body, before, request.field_manager, report)
    else:
        subject = PodSubject(body, before, request.namespace, user, settings, report)
        manifest = subject.manifest
        check_pod(subject)
    errors = report.errors
    warnings = [warning_of(one) for one in report.problems if not one.is_error]
    if errors:
        answer = refused(request.uid, manifest.title, errors, warnings)
        return AdmissionDecision(answer, "refused", errors)
    return AdmissionDecision(allowed(request.uid, None, warnings), "allowed")
