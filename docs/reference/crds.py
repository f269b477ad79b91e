"""The page about the custom resources: every field of their schemas."""

from __future__ import annotations

from docs.reference.markdown import code, table
from docs.reference.schema import fields
from fourleaf.model.crds.definitions import definitions

FILE = "crds.md"


def page() -> str:
    """The page."""
    parts = ["# Custom resources\n\nGenerated from the schemas in `deploy/crds`.\n"]
    for one in definitions():
        spec = one["spec"]
        names = spec["names"]
        short = ", ".join(names.get("shortNames", ()))
        for version in spec["versions"]:
            title = f"## {names['kind']} ({spec['group']}/{version['name']})"
            parts.append(f"{title}\n\n{spec['scope']}, `kubectl get {short or names['plural']}`.\n")
            rows = (
                (code(f.path), f.type, code(f.default), code(f.values), f.description)
                for f in fields(version["schema"]["openAPIV3Schema"])
            )
            parts.append(table(("field", "type", "default", "values", "meaning"), rows))
    return "\n".join(parts)
