"""Parts of YAML and JSON documents, each error with the path of its field."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fourleaf.model.readers.text import json, yaml
from fourleaf.model.readers.text.json import BadText
from fourleaf.model.topology_import.text import Text

Body = dict[str, Any]


def documents(text: Text) -> list[Any]:
    """The documents of `text`, JSON or YAML, empty ones left out. Raises `BadInput`."""
    whole = "\n".join(text.lines)
    try:
        if whole.lstrip()[:1] in ("{", "["):
            return [json.parse(whole.encode())]
        return [one for one in yaml.parse(whole) if one is not None]
    except BadText as bad:
        text.error(0, "", None, str(bad), bad.advice)
        text.stop_on_errors()
        raise


def mapping(text: Text, value: object, where: str) -> Body:
    """`value` as an object; {} and an error where it is none."""
    if isinstance(value, dict):
        return value
    text.error(0, where, value, "is no object", "Write its fields below it.")
    return {}


def items(text: Text, value: object, where: str) -> Iterator[tuple[str, Any]]:
    """The items of a list, each with its path; an error where it is none."""
    if isinstance(value, list):
        yield from ((f"{where}[{number}]", one) for number, one in enumerate(value))
    elif value is not None:
        text.error(0, where, value, "is no list", "Write a list.")


def string(text: Text, value: object, where: str) -> str:
    """`value` as text, "" where absent; an error where it is something else."""
    if isinstance(value, str) or value is None:
        return value or ""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    text.error(0, where, value, "is no text", "Write a name or a hostlist.")
    return ""
