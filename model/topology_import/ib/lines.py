"""The lines of `ibnetdiscover`, read into devices. Format: ibnetdiscover(8)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fourleaf.model.topology_import.ib.records import LANE_MBITS, DeviceKind, IbDevice, Port
from fourleaf.model.topology_import.text import MAX_NODES, Text

MAX_PORTS = 16 * MAX_NODES
_HEAD = re.compile(r'(Switch|Ca|Rt)\s+([0-9]{1,4})\s+"([SHR]-[^"\s]{1,32})"\s*(?:#\s*"(.*)".*)?')
_PORT = re.compile(
    r'\[([0-9]{1,4})\](?:\[ext [^\]]*\])?(?:\([^)\s]*\))?\s*"([SHR]-[^"\s]{1,32})"\[([0-9]{1,4})\]'
    r"(?:\[ext [^\]]*\])?(?:\([^)\s]*\))?(.*)"
)
_SPEED = re.compile(r"\b([0-9]{1,2})x(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
_TITLE = re.compile(r'"(.*)"')
_ASIDE = re.compile(r"\w+\s*=\s*\S|#|ibwarn:|src/|Chassis |Non-Chassis Nodes|(Spine|Line) ")
"""Lines that say nothing of links: attributes, comments, warnings, headings of `--grouping`."""
LINE_ADVICE = "Give the whole output of ibnetdiscover, without -l, -p or other options."


@dataclass
class _Open:
    """A record that is being read."""

    head: tuple[DeviceKind, str, str, int]
    most: int
    ports: dict[int, Port] = field(default_factory=dict)

    def device(self) -> IbDevice:
        kind, guid, description, line = self.head
        return IbDevice(kind, guid, description, line, tuple(self.ports.values()))


def read_devices(text: Text) -> dict[str, IbDevice]:
    """GUID name -> device, in the order of the dump. Raises `BadInput`."""
    found: dict[str, IbDevice] = {}
    ports = 0
    record: _Open | None = None
    for number, raw in enumerate(text.lines, 1):
        line = raw.strip()
        head = _HEAD.fullmatch(line)
        if head is not None:
            _keep(text, found, record)
            record = _opened(head, number)
        elif port := _PORT.fullmatch(line):
            ports += 1
            _add(text, number, record, port)
        elif line and not _ASIDE.match(line):
            text.error(number, "", line, "is no line of ibnetdiscover", LINE_ADVICE)
        if ports > MAX_PORTS or len(text.report.errors) > 50:
            break
    _keep(text, found, record)
    if not any(one.kind is DeviceKind.SWITCH for one in found.values()):
        text.error(0, "", None, "describes no switch", LINE_ADVICE)
    text.stop_on_errors()
    return found


def _opened(head: re.Match[str], number: int) -> _Open:
    return _Open((DeviceKind(head[1]), head[3], (head[4] or "").strip(), number), int(head[2]))


def _keep(text: Text, found: dict[str, IbDevice], record: _Open | None) -> None:
    if record is None:
        return
    device = record.device()
    before = found.setdefault(device.guid, device)
    if before is not device:
        message = f"is described in line {before.line} already"
        advice = "Give one dump, not several in one file."
        text.error(device.line, device.kind.value, device.guid, message, advice)


def _add(text: Text, number: int, record: _Open | None, port: re.Match[str]) -> None:
    own = int(port[1])
    if record is None:
        text.error(number, "port", own, "stands before any switch or adapter", LINE_ADVICE)
    elif not 0 < own <= max(record.most, 1):
        advice = "Discover the fabric again; the record is damaged."
        text.error(number, "port", own, f"is no port of a device with {record.most}", advice)
    elif own in record.ports:
        advice = "Discover the fabric again; the record is damaged."
        text.error(number, "port", own, "is listed twice", advice)
    else:
        # The description of the peer may hold anything; what the link runs at comes after it.
        speed = _SPEED.search(port[4].rpartition('"')[2])
        mbits = int(speed[1]) * LANE_MBITS[speed[2]] if speed else 0
        title = _TITLE.search(port[4])
        record.ports[own] = Port(
            own,
            port[2],
            int(port[3]),
            speed[0] if speed else "",
            mbits,
            title[1].strip() if title else "",
        )
