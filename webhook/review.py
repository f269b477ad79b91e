"""AdmissionReview v1: what the API server asks, decoded strictly.

The shapes are those of `k8s.io/api/admission/v1`. Fields that are not named here are ignored,
so that a newer server can send more.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.text.json import BadText, parse

API_VERSION = "admission.k8s.io/v1"
KIND = "AdmissionReview"
MOST_OBJECTS = 200_000
"""Objects and lists in a body, about; a pod of the greatest size that is stored has far fewer."""


class Malformed(Exception):
    """There is no review that could be answered. `advice` says what helps."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.advice = advice


class _ReviewPart(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, alias_generator=to_camel, validate_by_name=True
    )


class Resource(_ReviewPart):
    """Group, version and resource that a request is about."""

    group: str = ""
    version: str
    resource: str


class User(_ReviewPart):
    """Who sent the request to the API server."""

    username: str = ""
    groups: list[str] = Field(default_factory=list)


class AdmissionRequest(_ReviewPart):
    """One request to the API server that waits for an answer."""

    uid: str = Field(min_length=1, max_length=128)
    resource: Resource
    sub_resource: str = ""
    name: str = ""
    namespace: str = ""
    operation: Literal["CREATE", "UPDATE", "DELETE", "CONNECT"]
    user_info: User
    object: Body | None = None
    old_object: Body | None = None
    dry_run: bool | None = None
    options: Body | None = None

    @property
    def field_manager(self) -> str:
        """Which program sends it, as it says of itself."""
        return str((self.options or {}).get("fieldManager", ""))

    @property
    def what(self) -> tuple[str, str]:
        """Group and resource, with the subresource where there is one."""
        plural = self.resource.resource
        return self.resource.group, f"{plural}/{self.sub_resource}" if self.sub_resource else plural


class _Envelope(_ReviewPart):
    api_version: str
    kind: str
    request: Body


def decoded(body: bytes) -> AdmissionRequest:
    """The request in `body`. Raises `Malformed`."""
    # Before it is parsed: each takes far more memory than text.
    if body.count(b"{") + body.count(b"[") > MOST_OBJECTS:
        raise Malformed(
            f"the body has more than {MOST_OBJECTS:,} objects and lists",
            "Split the object into several.",
        )
    try:
        value = parse(body)
    except BadText as bad:
        raise Malformed(f"the body {bad}", bad.advice) from None
    try:
        envelope = _Envelope.model_validate(value)
        _refuse_other_versions(envelope)
        return AdmissionRequest.model_validate(envelope.request)
    except ValidationError as wrong:
        raise _explained(wrong) from None


def _refuse_other_versions(envelope: _Envelope) -> None:
    found = f"{envelope.api_version} {envelope.kind}"
    if (envelope.api_version, envelope.kind) != (API_VERSION, KIND):
        wanted = f"{API_VERSION} {KIND}"
        raise Malformed(
            f"{found[:200]!r} is no {wanted}",
            f'List "v1" in admissionReviewVersions, and send {wanted}.',
        )


def _explained(wrong: ValidationError) -> Malformed:
    first = wrong.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    inside = where if not wrong.title.startswith("AdmissionRequest") else f"request.{where}"
    said = first["msg"][:1].lower() + first["msg"][1:]
    return Malformed(
        f"{inside or 'the body'}: {said}", "Send what the API server sends: admission.k8s.io/v1."
    )
