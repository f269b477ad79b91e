"""Label selectors, as text of a query and as the structure inside objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import Refused

Labels = Mapping[str, str]
Selector = Callable[[Labels], bool]

_COMMA = re.compile(r",(?![^(]*\))")
_SET = re.compile(r"(?P<key>[^\s!=,()]+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)")
_EQUAL = re.compile(r"(?P<key>[^\s!=,()]+)\s*(?P<operator>==|=|!=)\s*(?P<value>[^\s!=,()]*)")
_EXISTS = re.compile(r"(?P<absent>!?)\s*(?P<key>[^\s!=,()]+)")


def parse(text: str) -> Selector:
    """The selector that `text` of a query stands for; "" takes all.

    Raises `Refused` where `text` is no selector.
    """
    terms = [_term(part.strip()) for part in _COMMA.split(text)] if text.strip() else []
    return lambda labels: all(term(labels) for term in terms)


def structured(selector: Mapping[str, Any] | None) -> Selector:
    """The selector that a LabelSelector stands for: none takes nothing, an empty one all."""
    if selector is None:
        return lambda _: False
    terms = [_one_of(key, {value}) for key, value in (selector.get("matchLabels") or {}).items()]
    for term in selector.get("matchExpressions") or ():
        values = set(term.get("values") or ())
        terms.append(_OPERATORS[term["operator"]](term["key"], values))
    return lambda labels: all(term(labels) for term in terms)


def _term(text: str) -> Selector:
    if found := _SET.fullmatch(text):
        values = {value.strip() for value in found["values"].split(",")}
        return (_one_of if found["operator"] == "in" else _none_of)(found["key"], values)
    if found := _EQUAL.fullmatch(text):
        take = _none_of if found["operator"] == "!=" else _one_of
        return take(found["key"], {found["value"]})
    if found := _EXISTS.fullmatch(text):
        return (_absent if found["absent"] else _present)(found["key"], set())
    raise Refused(f"labelSelector {text!r} is no selector", 400, "BadRequest")


def _one_of(key: str, values: set[str]) -> Selector:
    return lambda labels: labels.get(key) in values


def _none_of(key: str, values: set[str]) -> Selector:
    return lambda labels: labels.get(key) not in values


def _present(key: str, _: set[str]) -> Selector:
    return lambda labels: key in labels


def _absent(key: str, _: set[str]) -> Selector:
    return lambda labels: key not in labels


_OPERATORS: dict[str, Callable[[str, set[str]], Selector]] = {
    "In": _one_of,
    "NotIn": _none_of,
    "Exists": _present,
    "DoesNotExist": _absent,
}
