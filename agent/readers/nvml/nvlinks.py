"""Which devices NVLink joins, and how fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from fourleaf.agent.pci import address
from fourleaf.agent.readers.nvml.calls import Nvml
from fourleaf.agent.readers.nvml.nvlink_rates import rate
from fourleaf.model.crds.node_status import Link


@dataclass(slots=True)
class _Ends:
    """The active links of one device, in gigabytes per second in one direction."""

    switched: float = 0.0
    direct: dict[str, float] = field(default_factory=dict)


def links(nvml: Nvml, handles: Mapping[int, Any], addresses: Mapping[int, str]) -> list[Link]:
    """The links between devices, by their numbers; `addresses` are their PCI addresses.

    Between two devices counts the sum of the active links that both ends tell of, or the
    smaller sum where they differ. Through NVSwitches each device reaches each other one with
    all its links to them. Pairs for which the driver says that NVLink does not work have none.
    """
    ends = {index: _ends(nvml, handle) for index, handle in handles.items()}
    found = []
    for a, b in combinations(sorted(handles), 2):
        direct = min(
            ends[a].direct.get(addresses.get(b, ""), 0.0),
            ends[b].direct.get(addresses.get(a, ""), 0.0),
        )
        bandwidth = direct + min(ends[a].switched, ends[b].switched)
        if bandwidth > 0 and _works(nvml, handles[a], handles[b]):
            found.append(Link(a=a, b=b, kind="NVLink", bandwidth_gbps=bandwidth))
    return found


def _ends(nvml: Nvml, handle: Any) -> _Ends:
    library, ends = nvml.library, _Ends()
    for link in range(library.NVML_NVLINK_MAX_LINKS):
        state = nvml.ask("nvmlDeviceGetNvLinkState", handle, link)
        if state.error == library.NVML_ERROR_INVALID_ARGUMENT or nvml.silent(state):
            break
        if state.or_else(0) != library.NVML_NVLINK_STATE_ACTIVE:
            continue
        kind = nvml.ask("nvmlDeviceGetNvLinkRemoteDeviceType", handle, link)
        if kind.or_else(None) == library.NVML_NVLINK_DEVICE_TYPE_SWITCH:
            ends.switched += rate(nvml, handle, link)
            continue
        remote = nvml.ask("nvmlDeviceGetNvLinkRemotePciInfo", handle, link)
        if remote.given:
            where = bus_id(remote.value)
            ends.direct[where] = ends.direct.get(where, 0.0) + rate(nvml, handle, link)
    return ends


def _works(nvml: Nvml, one: Any, other: Any) -> bool:
    library = nvml.library
    index = library.NVML_P2P_CAPS_INDEX_NVLINK
    status = nvml.ask("nvmlDeviceGetP2PStatus", one, other, index)
    return bool(status.or_else(library.NVML_P2P_STATUS_OK) == library.NVML_P2P_STATUS_OK)


def bus_id(pci: Any) -> str:
    """The PCI address in a structure of NVML."""
    text = pci.busId
    return address(text.decode("ascii", "replace") if isinstance(text, bytes) else str(text))
