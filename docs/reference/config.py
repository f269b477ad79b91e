"""The page about the config: every field of `SchedulerConfig`."""

from __future__ import annotations

from docs.reference.config_meanings import MEANINGS
from docs.reference.markdown import code, table
from docs.reference.schema import FieldRow, fields
from fourleaf.model.config.spec import API_VERSION, CONFIG_MAP, KINDS, Spec

FILE = "config.md"


def rows() -> list[FieldRow]:
    """Every field of the spec."""
    return list(fields(Spec.model_json_schema(by_alias=True)))


def page() -> str:
    """The page."""
    intro = (
        "# Config\n\n"
        f"A ConfigMap `{CONFIG_MAP}` holds an object of `{API_VERSION}`, kind {' or '.join(KINDS)}"
        ". These are the fields of its `spec`. `[]` stands for each item of a list, `[NAME]` for "
        "each entry of a map. `fourleaf config explain` says what is in force.\n\n"
    )
    lines = (
        (code(one.path), one.type, code(one.default), code(one.values), MEANINGS[one.path])
        for one in rows()
    )
    return intro + table(("field", "type", "default", "values", "meaning"), lines)
