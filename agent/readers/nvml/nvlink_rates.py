"""How fast one NVLink is."""

from __future__ import annotations

from typing import Any

from fourleaf.agent.readers.nvml.calls import Nvml

NEWEST = 50.0


def rate(nvml: Nvml, handle: Any, link: int) -> float:
    """Gigabytes per second in one direction of `link` of the device.

    What NVIDIA's architecture papers give for all links of a device in both directions, divided
    by links and directions: P100 160 GB/s over 4 (NVLink 1), V100 300 over 6 (2), A100 600 over
    12 (3), H100 900 over 18 (4), B200 1800 over 18 (5). NVML numbers versions by an enumeration
    of its own. Of a version that is not among these, the driver's own rate counts, or that of
    the newest that is.
    """
    library = nvml.library
    rates: dict[int, float] = {
        library.NVML_NVLINK_VERSION_1_0: 20.0,
        library.NVML_NVLINK_VERSION_2_0: 25.0,
        library.NVML_NVLINK_VERSION_2_2: 25.0,
        library.NVML_NVLINK_VERSION_3_0: 25.0,
        library.NVML_NVLINK_VERSION_3_1: 25.0,
        library.NVML_NVLINK_VERSION_4_0: 25.0,
        library.NVML_NVLINK_VERSION_5_0: NEWEST,
    }
    version = nvml.ask("nvmlDeviceGetNvLinkVersion", handle, link).or_else(0)
    if version in rates:
        return rates[version]
    megabytes = nvml.field(handle, library.NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON)
    return megabytes / 1000 if megabytes else NEWEST
