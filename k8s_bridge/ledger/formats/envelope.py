"""The outside of a record, which stays the same in every format.

From format 2 on, a record says outside its content which format that is in, and which nodes and
gangs it is about. So a version that cannot read the content knows what to leave alone. Format 1
came before there was any other, and has no envelope: every reader knows it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.epoch import epoch_read
from fourleaf.k8s_bridge.ledger.formats.compression import unpacked
from fourleaf.k8s_bridge.ledger.names import ABOUT, CONTENT, FORMAT, RECORD
from fourleaf.k8s_bridge.ledger.sealed import BadRecord, Sealed, SealedRecord
from fourleaf.model.gang import GangKey

RECORD_LIMIT_BYTES = 250 * 1024
"""Bytes of a record; the API refuses annotations of more than 256 KiB."""

OLDEST = 1
"""The format of a record that names none."""

FORMAT_DIGITS = 9
"""Of the number of a format, at most: longer text is no format's number."""

_LONG_NUMBER = re.compile(r"[0-9]{19}")
"""Where there is one, a number may be larger than what can be written again."""

Annotations = dict[str, str]

_Model = TypeVar("_Model", bound=BaseModel)


class Strict(BaseModel):
    """A part of a record: what it has is of the right type, what else it has is left alone."""

    model_config = ConfigDict(strict=True, frozen=True, extra="ignore")


class About(Strict):
    """What every format says: nodes, and gangs as NAMESPACE/NAME. This never changes.

    `packed` are further nodes, compressed, of a record that has no room for their names.
    """

    nodes: list[str]
    gangs: list[str]
    packed: str = ""

    @property
    def all_nodes(self) -> list[str]:
        """Every node, in order. Raises `ValueError` where that cannot be expanded."""
        if not self.packed:
            return self.nodes
        more = unpacked(self.packed)
        if not isinstance(more, list) or not all(isinstance(one, str) for one in more):
            raise ValueError("its nodes are no list of names")
        return [*self.nodes, *more]


def said_in(content: Any, number: int = OLDEST, about: Any = None) -> Annotations:
    """The annotations of a record; `about` holds what `About` does, and perhaps more."""
    found = {CONTENT: _text(content)}
    if number > OLDEST:
        found |= {FORMAT: str(number), ABOUT: _text(about)}
    return found


def has_room(annotations: Annotations) -> bool:
    """Whether a Lease can hold these annotations."""
    return _size(annotations) <= RECORD_LIMIT_BYTES


def lease_body(
    name: str, record: str, annotations: Annotations, version: str, epoch: int, writer: str
) -> Body:
    """The Lease that a record is written as. Raises `BadRecord` where it is too large."""
    size = _size(annotations)
    if size > RECORD_LIMIT_BYTES:
        raise BadRecord(f"lease {name} would hold {size} bytes, above {RECORD_LIMIT_BYTES}")
    metadata: Body = {
        "name": name,
        "labels": {"app.kubernetes.io/name": "fourleaf", RECORD: record},
        "annotations": annotations,
    }
    if version:
        metadata["resourceVersion"] = version
        # Asks the API to keep no list of who owns which field, which would double the answer.
        metadata["managedFields"] = [{}]
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata,
        "spec": {"holderIdentity": writer, "leaseTransitions": epoch},
    }


def format_of(body: Body, known: Iterable[int]) -> int:
    """The format of a record. Raises `SealedRecord` where it is not one of those `known`."""
    text = _annotations(body).get(FORMAT)
    if text is None:
        return OLDEST
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= FORMAT_DIGITS else 0
    readable = sorted(known)
    if number not in readable:
        why = f"format {text!r} is unknown; this version reads {', '.join(map(str, readable))}"
        raise sealed(body, why)
    return number


def sealed(body: Body, why: str) -> SealedRecord:
    """The error for a record that cannot be read, with what its envelope says."""
    annotations = _annotations(body)
    about: About | None
    nodes: list[str] = []
    try:
        about = About.model_validate_json(annotations.get(ABOUT, ""))
        nodes = about.all_nodes
    except ValueError:
        about = None
    metadata = body.get("metadata") or {}
    return SealedRecord(
        Sealed(
            name=name_of(body),
            record=str((metadata.get("labels") or {}).get(RECORD, "")),
            format=annotations.get(FORMAT, str(OLDEST)),
            why=why,
            nodes=frozenset(nodes),
            gangs=frozenset(_key(text) for text in about.gangs) if about else frozenset(),
            epoch=epoch_of(body),
            version=version_of(body),
            opaque=about is None,
        )
    )


def parsed(body: Body, annotation: str, model: type[_Model]) -> _Model:
    """What an annotation of a record says. Raises `BadRecord`."""
    text = _annotations(body).get(annotation, "")
    try:
        found = model.model_validate_json(text)
        if _LONG_NUMBER.search(text):
            _text(found.model_dump())
        return found
    except TypeError as error:
        raise BadRecord(f"lease {name_of(body)}: {annotation}: {error}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(str(part) for part in first["loc"]) or annotation
        raise BadRecord(f"lease {name_of(body)}: {field}: {first['msg']}") from error


def gang_key(name: str, text: str) -> GangKey:
    """The gang that a record calls `text`. Raises `BadRecord`."""
    if "/" not in text:
        raise BadRecord(f"lease {name}: gang {text!r} is not NAMESPACE/NAME")
    return _key(text)


def name_of(body: Body) -> str:
    """The name of a Lease, "?" without one."""
    return str((body.get("metadata") or {}).get("name", "?"))


def version_of(body: Body) -> str:
    """The resource version of a Lease, "" without one."""
    return str((body.get("metadata") or {}).get("resourceVersion", ""))


def epoch_of(body: Body) -> int:
    """The epoch in which a Lease was written."""
    return epoch_read((body.get("spec") or {}).get("leaseTransitions"))


def _annotations(body: Body) -> Annotations:
    return (body.get("metadata") or {}).get("annotations") or {}


def _key(text: str) -> GangKey:
    namespace, _, gang = text.partition("/")
    return GangKey(namespace, gang)


def _size(annotations: Annotations) -> int:
    return sum(map(len, annotations.values()))


def _text(content: Any) -> str:
    return orjson.dumps(content).decode()
