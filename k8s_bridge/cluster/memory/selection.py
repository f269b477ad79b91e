"""Which objects a list or a watch takes, by labels and by fields."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import EVENTS, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.selectors import parse

Predicate = Callable[[StoredObject], bool]

_OF_ALL = ("metadata.name", "metadata.namespace")
_OF_KINDS = {
    PODS: ("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "status.phase"),
    EVENTS: ("regarding.kind", "regarding.name", "regarding.namespace", "reason", "type"),
}


def selection(kind: Kind, labels: str = "", fields: str = "") -> Predicate:
    """What takes the objects of `kind` that both selectors take; "" takes all.

    Raises `Refused` where one is no selector, or names a field that cannot be selected by.
    """
    of_labels = parse(labels)
    terms = [_term(kind, part) for part in fields.split(",") if part.strip()]
    return lambda record: of_labels(record.labels) and all(term(record) for term in terms)


def _term(kind: Kind, text: str) -> Predicate:
    negated = "!=" in text
    path, sign, value = text.replace("==", "=").partition("!=" if negated else "=")
    known = _OF_ALL + _OF_KINDS.get(kind, ())
    if not sign or path.strip() not in known:
        raise Refused(f"fieldSelector {text!r}: field label not supported", 400, "BadRequest")
    keys = path.strip().split(".")
    return lambda record: (_at(record.body, keys) == value.strip()) is not negated


def _at(body: Any, keys: list[str]) -> str:
    found = reduce(lambda value, key: (value or {}).get(key), keys, body)
    return str(found or "")
