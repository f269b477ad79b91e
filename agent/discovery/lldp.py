"""The switches that interfaces of the node see: what `lldpctl -f json` or `-f json0` prints.

Format: lldpctl(8). `json` names interfaces and chassis by keys, and gives one of a kind without a
list; `json0` has a list everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from fourleaf.agent.discovery.sighting import Sighting, SourceError
from fourleaf.model.crds.discovered_topology import MOST_SWITCHES, SeenSwitch
from fourleaf.model.problems import shown
from fourleaf.model.readers.text.json import BadText, parse

MOST_BYTES = 2**20
"""Bytes of a file of neighbours; one neighbour takes some 2 KiB."""
_ADVICE = "Write what `lldpctl -f json` prints."
_FORWARDING = ("Bridge", "Router")
_WORD = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._:/-]{0,126}[A-Za-z0-9_])?")
_INTERFACE = re.compile(r"[A-Za-z0-9_]([A-Za-z0-9._:/-]{0,62}[A-Za-z0-9_])?")

Fields = Mapping[str, Any]


def read_lldp(name: str, data: bytes) -> Sighting:
    """The switches in the file `name`, by interface. Raises `SourceError`."""
    try:
        document = parse(data)
    except BadText as bad:
        raise SourceError(f"{name}: {bad}", bad.advice) from None
    seen: dict[str, SeenSwitch] = {}
    doubts: dict[str, str] = {}
    for interface, body in _interfaces(name, document):
        try:
            one = _switch(name, interface, body)
        except SourceError as error:
            doubts[interface] = str(error)
            continue
        if one is None:
            continue
        before = seen.setdefault(interface, one)
        if before.id != one.id:
            both = f"{before.id} and {one.id}"
            doubts[interface] = f"{name}: {interface} sees {both}, and counts for none"
        if len(seen) > MOST_SWITCHES:
            message = f"{name}: has switches on more than {MOST_SWITCHES} interfaces"
            raise SourceError(message, "Leave interfaces out that are no part of the fabric.")
    kept = tuple(one for interface, one in sorted(seen.items()) if interface not in doubts)
    return Sighting(switches=kept, doubts=tuple(sorted(doubts.items())))


def _interfaces(name: str, document: Any) -> Iterator[tuple[str, Fields]]:
    top = document.get("lldp") if isinstance(document, dict) else None
    if not isinstance(top, dict | list):
        raise SourceError(f"{name}: lldp: is missing", _ADVICE)
    for part in _items(top):
        for one in _items(part.get("interface")):
            called = one.get("name")
            if isinstance(called, str):
                yield _interface(name, called), one
                continue
            for interface, body in one.items():
                for each in _items(body):
                    yield _interface(name, interface), each


def _switch(name: str, interface: str, body: Fields) -> SeenSwitch | None:
    """The switch in `body`, None where it is no LLDP or the neighbour forwards nothing."""
    if body.get("via", "LLDP") != "LLDP":
        return None
    chassis, called = _chassis(body.get("chassis"))
    if not _forwards(chassis):
        return None
    where = f"{interface}.chassis"
    return SeenSwitch(
        interface=interface,
        id=_sound(name, f"{where}.id", _text(chassis.get("id"))),
        # By its ID then.
        name=called if _WORD.fullmatch(called) else "",
        port=_text((_items(body.get("port")) or [{}])[0].get("id"))[:128],
    )


def _chassis(value: Any) -> tuple[Fields, str]:
    """A chassis and its name, which `json` has as a key."""
    one = (_items(value) or [{}])[0]
    if "id" in one:
        return one, _text(one.get("name"))
    for called, body in one.items():
        if isinstance(body, dict):
            return body, str(called)
    return {}, ""


def _forwards(chassis: Fields) -> bool:
    """Whether a neighbour is a switch; one that tells of no capability is taken for one."""
    told = _items(chassis.get("capability"))
    return not told or any(one.get("type") in _FORWARDING and one.get("enabled") for one in told)


def _items(value: Any) -> list[Fields]:
    every = value if isinstance(value, list) else [value]
    return [one for one in every if isinstance(one, dict)]


def _text(value: Any) -> str:
    """A text, or the `value` of the first of its kind."""
    if isinstance(value, str):
        return value
    return next((one["value"] for one in _items(value) if isinstance(one.get("value"), str)), "")


def _interface(name: str, value: str) -> str:
    return _sound(name, "interface", value, _INTERFACE)


def _sound(name: str, field: str, value: str, allowed: re.Pattern[str] = _WORD) -> str:
    if not allowed.fullmatch(value):
        raise SourceError(f"{name}: {field}: {shown(value)} is no name or identity", _ADVICE)
    return value
