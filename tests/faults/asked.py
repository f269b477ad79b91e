"""A request to the apiserver, as its path says what it is."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
WRITES = frozenset(VERBS.values())


@dataclass(frozen=True, slots=True)
class Asked:
    """One request. `verb` and `resource` (`pods/binding`) are named as in the audit log."""

    method: str
    path: str
    query: Mapping[str, str]
    body: bytes
    verb: str
    resource: str
    namespace: str = ""
    name: str = ""

    @property
    def dry_run(self) -> bool:
        """Whether nothing shall come of it."""
        return "dryRun" in self.query

    @property
    def content(self) -> dict[str, Any]:
        """The body as an object, {} for none."""
        decoded: dict[str, Any] = json.loads(self.body) if self.body else {}
        return decoded

    def __str__(self) -> str:
        where = "/".join(filter(None, (self.namespace, self.name)))
        return f"{self.verb} {self.resource} {where}{' (dry run)' if self.dry_run else ''}"


Match = Callable[[Asked], bool]


def asked(method: str, path: str, query: Mapping[str, str], body: bytes) -> Asked:
    """Read a request off its method, path and query."""
    parts = path.strip("/").split("/")
    rest = parts[2:] if parts[0] == "api" else parts[3:]
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = (*rest[:3], "", "", "")[:3]
    verb = VERBS.get(method) or _reading(name, query)
    resource = f"{plural}/{subresource}" if subresource else plural
    return Asked(method, path, query, body, verb, resource, namespace, name)


def _reading(name: str, query: Mapping[str, str]) -> str:
    if query.get("watch") in ("true", "1"):
        return "watch"
    return "get" if name else "list"


def everything(_: Asked) -> bool:
    """Match any request."""
    return True


def writes(one: Asked) -> bool:
    """Match whatever would change something."""
    return one.verb in WRITES and not one.dry_run


def bindings(one: Asked) -> bool:
    """Match bindings that are meant."""
    return one.resource == "pods/binding" and not one.dry_run


def evictions(one: Asked) -> bool:
    """Match evictions that are meant."""
    return one.resource == "pods/eviction" and not one.dry_run


def dry_runs(one: Asked) -> bool:
    """Match bindings that are only tried out."""
    return one.resource == "pods/binding" and one.dry_run


def commits_to_page(one: Asked) -> bool:
    """Match writes of a page that holds the entry of a commit."""
    return one.resource == "leases" and one.verb == "update" and b'\\"commit\\"' in one.body


def gang_leases(one: Asked) -> bool:
    """Match creations of the record of a gang that spans pages."""
    return one.resource == "leases" and one.verb == "create" and b'"gang-' in one.body


def decisions(one: Asked) -> bool:
    """Match the write that commits a gang that spans pages."""
    return one.resource == "leases" and one.verb == "update" and one.name.startswith("gang-")


def watches(resource: str) -> Match:
    """Match watches of a resource."""
    return lambda one: one.verb == "watch" and one.resource == resource


def lists(resource: str) -> Match:
    """Match lists of a resource, those that a cache may answer and the others."""
    return lambda one: one.verb == "list" and one.resource == resource
