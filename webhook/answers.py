"""Answers to reviews, and to what is no review, in the API server's own shapes."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import orjson

from fourleaf.model.problems import PRINTED, Problem, brief
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.webhook.review import API_VERSION, KIND

MOST_WARNINGS = 8
"""Warnings in one answer; more would not help."""
WARNING_WIDTH = 240

Patch = list[Body]


def allowed(uid: str, patch: Patch | None = None, warnings: Sequence[str] = ()) -> Body:
    """Let the request pass, changed by `patch` (RFC 6902) where there is one."""
    response: Body = {"uid": uid, "allowed": True}
    if patch:
        response["patchType"] = "JSONPatch"
        response["patch"] = base64.b64encode(orjson.dumps(patch)).decode()
    return _review(response, warnings)


def refused(
    uid: str, title: str, problems: Sequence[Problem], warnings: Sequence[str] = ()
) -> Body:
    """Refuse the request about the object `title`; one cause for each problem."""
    listed = problems[:PRINTED]
    said = "; ".join(_sentence(one, with_field=True) for one in listed)
    more = f" (and {len(problems) - PRINTED} more problems)" if len(problems) > PRINTED else ""
    status = _status(422, "Invalid", f"{brief(title)} is refused: {said}{more}")
    status["details"] = {
        "causes": [
            {"reason": "FieldValueInvalid", "field": one.field, "message": _sentence(one)}
            for one in listed
        ]
    }
    return _review({"uid": uid, "allowed": False, "status": status}, warnings)


def impossible(uid: str, message: str) -> Body:
    """Refuse a review that is well-formed and still makes no sense, such as one without object."""
    return _review({"uid": uid, "allowed": False, "status": _status(400, "BadRequest", message)})


def warning_of(problem: Problem) -> str:
    """A problem that refuses nothing, as text for the person at kubectl."""
    return _sentence(problem, with_field=True)[:WARNING_WIDTH]


def _review(response: Body, warnings: Sequence[str] = ()) -> Body:
    if warnings:
        response["warnings"] = list(warnings[:MOST_WARNINGS])
    return {"apiVersion": API_VERSION, "kind": KIND, "response": response}


def _status(code: int, reason: str, message: str) -> Body:
    return {"status": "Failure", "code": code, "reason": reason, "message": message}


def _sentence(problem: Problem, with_field: bool = False) -> str:
    value = f" = {problem.value}" if problem.value else ""
    where = problem.field if with_field else ""
    head = f"{where}{value}".strip(" =") if not where else f"{where}{value}"
    said = f"{head}: {problem.message}" if head else problem.message
    return f"{said}. {problem.advice}"
