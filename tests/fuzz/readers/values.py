"""Single values: quantities, spans, bandwidths, moments, names, host lists, selectors, maps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from fourleaf.model.devices.held_devices import devices_in
from fourleaf.model.problems import shown
from fourleaf.model.quantity import BadQuantity, count, in_bytes, mbits, millicores, seconds
from fourleaf.model.readers.dra.selectors import NotUnderstood, conditions
from fourleaf.model.readers.objects.lookup import is_label, is_name
from fourleaf.model.readers.objects.timestamps import seconds_of
from fourleaf.model.readers.pods.device_map import parse_map
from fourleaf.model.topology_import.hostlist import BadHostlist, expand
from tests.fuzz.law import Reader

MOST_HOSTS = 10_000
"""Hosts that one list may name here: each is a text of its own, which takes time to make."""


def _of_text(read: Callable[[str], Any]) -> Callable[[bytes], Iterable[str]]:
    def of_bytes(data: bytes) -> Iterable[str]:
        read(data.decode("utf-8", "replace"))
        return ()

    return of_bytes


def _map(text: str) -> None:
    for one in parse_map(text)[1]:
        shown(one.line)


_DEVICE = {
    "attributes": {"type": {"string": "gpu"}, "index": {"int": 3}, "v": {"version": "1.2.3"}},
    "capacity": {"memory": {"value": "80Gi"}},
}


def _select(text: str) -> None:
    for one in conditions(text):
        one("a", _DEVICE)


def _seeds(*texts: str) -> tuple[bytes, ...]:
    return tuple(text.encode() for text in texts)


_QUANTITIES = _seeds("8", "500m", "64Gi", "1e3", "+.5k", "12.5E-3")
_CEL = _seeds(
    "device.driver == 'gpu.nvidia.com'",
    "(device.attributes['a'].type == \"x\" && ('b' in device.attributes['c']))",
    "device.capacity['a'].memory.compareTo(quantity('40Gi')) >= 0",
    "cel.bind(d, device.attributes['a'], d.type.lowerAscii().matches('g.*') || d.index in [1, 3])",
    "device.attributes['a'].v.isLessThan(semver('1.3.0-rc.1')) ? [1].all(i, i > 0) : true",
)


def _reader(
    name: str,
    read: Callable[[str], Any],
    seeds: tuple[bytes, ...],
    *refuses: type[Exception],
) -> Reader:
    return Reader(name, _of_text(read), seeds, refuses, json=False)


READERS = (
    _reader("CPU", millicores, _QUANTITIES, BadQuantity),
    _reader("bytes", in_bytes, _QUANTITIES, BadQuantity),
    _reader("counts", count, _QUANTITIES, BadQuantity),
    _reader("bandwidths", mbits, _seeds("100Gb", "2.5 Tb/s", "1Gbps"), BadQuantity),
    _reader("spans", seconds, _seeds("1d2h30m5s", "3600"), BadQuantity),
    _reader("moments", seconds_of, _seeds("2026-01-01T00:00:00Z", "2026-01-01T00:00:00.5+05:30")),
    _reader("names", is_name, _seeds("a-b.c", "n1")),
    _reader("labels", is_label, _seeds("A_b-c.d")),
    _reader("device maps alone", _map, _seeds("0=n1:0,1\n1=n2.x:2 , 3\n")),
    _reader("granted devices", devices_in, _seeds("0,1,2")),
    _reader(
        "host lists",
        partial(expand, most=MOST_HOSTS),
        _seeds("gpu[001-128,200],login1", "r[1-2]n[01-04]"),
        BadHostlist,
    ),
    _reader("CEL selectors", _select, _CEL, NotUnderstood),
)
