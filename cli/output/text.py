"""Documents as JSON and YAML text."""

from __future__ import annotations

from enum import Enum
from typing import Any


def json_text(document: object) -> str:
    """`document` as indented JSON; what moves a cursor, or hides text, is escaped."""
    import orjson

    from fourleaf.model.problems import printable_json

    return printable_json(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode())


class BlockText(str):
    """Text that YAML shows line by line, where it has several."""

    __slots__ = ()


def yaml_text(document: object) -> str:
    """`document` as YAML, fields in the order given; escapes as in JSON."""
    import yaml

    class Dumper(yaml.SafeDumper):
        pass

    def block(dumper: yaml.SafeDumper, text: BlockText) -> yaml.ScalarNode:
        style = "|" if "\n" in text else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)

    Dumper.add_representer(BlockText, block)

    def dumped(unicode: bool) -> str:
        options: dict[str, Any] = {"sort_keys": False, "width": 100, "allow_unicode": unicode}
        return str(yaml.dump(document, Dumper=Dumper, **options))

    # YAML takes marks that turn the direction of a text for letters.
    text = dumped(unicode=True)
    return text if text.replace("\n", "").isprintable() else dumped(unicode=False)


def plain(value: Any) -> Any:
    """`value` with nothing but what YAML knows: enums, decimals and tuples become simple."""
    from decimal import Decimal

    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return value
