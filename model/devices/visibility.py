"""The environment variable that tells a container its devices, and those that would undo it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fourleaf.model.devices.held_devices import DEVICES

CUDA = "CUDA_VISIBLE_DEVICES"
"""Read by CUDA, and by HIP in the place of HIP_VISIBLE_DEVICES. Empty hides all devices."""

VARIABLES = (
    CUDA,
    "NVIDIA_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "AMD_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
)
"""What the runtimes of both vendors take a list of devices from; the policy of namespaces that
enforce names the same. `NVIDIA_DRIVER_CAPABILITIES` names libraries, and is left to the user."""

FIELD_PATH = f"metadata.annotations['{DEVICES}']"
"""Where the kubelet finds the list, by the downward API. An absent annotation gives ""."""

ENTRY: dict[str, Any] = {
    "name": CUDA,
    "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": FIELD_PATH}},
}


ORDER: dict[str, Any] = {"name": "CUDA_DEVICE_ORDER", "value": "PCI_BUS_ID"}
"""The order in which the agent numbers devices. By itself CUDA puts the fastest one first."""

TOLD = (ENTRY, ORDER)
"""What every container of ours is told."""


def is_ours(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of `env` takes its value from the scheduler's annotation alone."""
    source = entry.get("valueFrom")
    if entry.get("name") != CUDA or entry.get("value") or not isinstance(source, dict):
        return False
    reference = source.get("fieldRef")
    return (
        set(source) == {"fieldRef"}
        and isinstance(reference, dict)
        and reference.get("fieldPath") == FIELD_PATH
        and reference.get("apiVersion", "v1") == "v1"
    )


def is_told(container: Mapping[str, Any]) -> bool:
    """Whether a container takes its list of devices from the scheduler's annotation alone.

    Where `env` names a variable twice, the last one counts, so each has to be that.
    """
    env = container.get("env")
    if not isinstance(env, list):
        return False
    named = [one for one in env if isinstance(one, dict) and one.get("name") == CUDA]
    return bool(named) and all(map(is_ours, named))


def untold(spec: Mapping[str, Any]) -> str:
    """The first container in the spec of a pod that is not told its devices, "" where all are."""
    return next((str(one.get("name")) for one in _containers(spec) if not is_told(one)), "")


def _containers(spec: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("containers", "initContainers"):
        listed = spec.get(key)
        yield from (one for one in listed or () if isinstance(one, dict))
