"""Which rules, terms and steps of bindings are installed, and which packages bring them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points

from fourleaf.model.extensions import BINDINGS_GROUP, RULES_GROUP, TERMS_GROUP

KINDS = {RULES_GROUP: "rule", TERMS_GROUP: "term", BINDINGS_GROUP: "step"}
"""What is installed under each group, in the words of the documents."""


@dataclass(frozen=True, slots=True)
class InstalledExtension:
    """A rule, a term or a step by its entry point, which names `offered`, such as `pkg:Object`.

    `package` and `version` are those of what brings it, and `path` is where that is installed; all
    three are "" where nothing says so.
    """

    kind: str
    name: str
    offered: str
    package: str = ""
    version: str = ""
    path: str = ""


def installed() -> tuple[InstalledExtension, ...]:
    """All that is installed, by kind and name, whether it can be loaded or not."""
    found = []
    for group, kind in KINDS.items():
        for entry in entry_points(group=group):
            brings = entry.dist
            about = (
                ("", "", "")
                if brings is None
                else (brings.name, brings.version, str(brings.locate_file("")))
            )
            found.append(InstalledExtension(kind, entry.name, entry.value, *about))
    return tuple(sorted(found, key=lambda one: (one.kind, one.name, one.offered)))
