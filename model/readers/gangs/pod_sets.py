"""Pod sets: how many pods an object of a described kind makes, and from which templates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fourleaf.model.config.owner_kinds import OwnerKind, PodSet
from fourleaf.model.readers.objects.manifest import Manifest


@dataclass(frozen=True, slots=True)
class FoundField:
    """A value in an object: where it stands, the last name or number on the way, what it is."""

    path: str
    key: str
    value: object


@dataclass(frozen=True, slots=True)
class FoundPodSet:
    """Pods that an object makes from one template.

    `field` is where that is described and `key` what it is called there. `template` is None
    where there is none.
    """

    said: PodSet
    field: str
    key: str
    replicas: int
    template: object


def fields_at(
    manifest: Manifest, path: str, body: object = None, above: str = ""
) -> list[FoundField]:
    """What stands at `path` of the object, or of `body`, which stands at `above`.

    `*` in the path stands for each entry. What is not set is left out.
    """
    found = [FoundField(above, "", manifest.body if body is None else body)]
    for part in path.split("."):
        found = [inner for one in found for inner in _below(manifest, one, part)]
    return [one for one in found if one.value is not None]


def _below(manifest: Manifest, one: FoundField, part: str) -> Iterator[FoundField]:
    if one.value is None:
        return
    if part == "*" and isinstance(one.value, list):
        for number, value in enumerate(one.value):
            called = value.get("name") if isinstance(value, dict) else None
            key = called if isinstance(called, str) else str(number)
            yield FoundField(f"{one.path}[{number}]", key, value)
        return
    inside = manifest.mapping(one.value, one.path)
    for key in inside if part == "*" else (part,):
        yield FoundField(f"{one.path}.{key}" if one.path else key, key, inside.get(key))


def number_at(manifest: Manifest, path: str | None) -> int | None:
    """The whole number at `path`, None where none is set."""
    for one in fields_at(manifest, path) if path else ():
        return manifest.whole(one.value, one.path, 0)
    return None


def pod_sets_of(owner: Manifest, kind: OwnerKind) -> Iterator[FoundPodSet]:
    """The pods that `owner` makes from the start, template by template."""
    for said in kind.pod_sets:
        if any(_is(owner, path, value) for path, value in said.unless.items()):
            continue
        if not all(_is(owner, path, value) for path, value in said.where.items()):
            continue
        for one in fields_at(owner, said.path):
            replicas = _replicas(owner, said, one)
            templates = fields_at(owner, said.template, one.value, one.path)
            template = templates[0].value if templates else None
            yield FoundPodSet(said, one.path, one.key, replicas, template)


def members_of(owner: Manifest, kind: OwnerKind, role: str) -> int:
    """How many pods `owner` makes from the start, all or those of one role."""
    return sum(
        one.replicas
        for one in pod_sets_of(owner, kind)
        if kind.role_label is None or one.said.role == role
    )


def unsupported_field(owner: Manifest, kind: OwnerKind) -> str:
    """The first field of the object that nothing here can honour, "" where none is set."""
    return next((one.path for path in kind.unsupported for one in fields_at(owner, path)), "")


def is_suspended(owner: Manifest, kind: OwnerKind) -> bool:
    """Whether the object is told not to make its pods yet."""
    return any(one.value is True for one in fields_at(owner, kind.suspend))


def _is(owner: Manifest, path: str, value: str) -> bool:
    return any(_text(one.value) == value for one in fields_at(owner, path))


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _replicas(owner: Manifest, said: PodSet, one: FoundField) -> int:
    if said.replicas is None:
        return 1
    for found in fields_at(owner, said.replicas, one.value, one.path):
        return owner.whole(found.value, found.path, said.default_replicas)
    return said.default_replicas
