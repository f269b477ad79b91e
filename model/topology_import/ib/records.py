"""Devices and ports of an InfiniBand fabric, as they were discovered."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

LANE_MBITS = {
    "SDR": 2_500,
    "DDR": 5_000,
    "QDR": 10_000,
    "FDR10": 10_000,
    "FDR": 14_000,
    "EDR": 25_000,
    "HDR": 50_000,
    "NDR": 100_000,
    "XDR": 200_000,
}
"""Signalling rate of one lane in Mbit/s by the name of its speed, as the IBTA rounds it."""


class DeviceKind(StrEnum):
    """What a record is about."""

    SWITCH = "Switch"
    ADAPTER = "Ca"
    ROUTER = "Rt"


@dataclass(frozen=True, slots=True)
class Port:
    """One cabled port: the device and port at its other end, and what the link runs at.

    `mbits` is width times lane rate, 0 where the dump does not say; `speed` is as printed
    (`4xNDR`). `peer_title` is the description that the dump gives of the peer here.
    """

    number: int
    peer: str
    peer_port: int
    speed: str
    mbits: int
    peer_title: str = ""


@dataclass(frozen=True, slots=True)
class IbDevice:
    """A switch, an adapter or a router: its GUID name (`S-...`, `H-...`) and description."""

    kind: DeviceKind
    guid: str
    description: str
    line: int
    ports: tuple[Port, ...]
