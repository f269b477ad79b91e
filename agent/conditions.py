"""The conditions of an inventory."""

from __future__ import annotations

from collections.abc import Sequence

from fourleaf.agent.grant_check import Mismatch
from fourleaf.agent.readings import Fault, Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped, second
from fourleaf.model.crds.api import Condition, ConditionStatus

READY = "Ready"
DEVICES_MATCH = "DevicesMatch"
_MOST_NAMED = 5
"""Mismatches that a condition names."""


def conditions(
    reading: Reading,
    faults: Sequence[Fault],
    mismatches: Sequence[Mismatch] | None,
    before: Sequence[Condition],
    now: float,
) -> list[Condition]:
    """`Ready`: the inventory can be relied on. `DevicesMatch`: what runs is what was granted.

    None for `mismatches`: comparing was not possible. `before` are the conditions that stand;
    one whose status stays keeps its time. `now` in seconds since the epoch.
    """
    made = [_ready(reading, faults), _match(mismatches)]
    since = {(one.type, one.status): one.last_transition_time for one in before}
    return [
        Condition(
            type=type_,
            status=status,
            reason=reason,
            message=clipped(message),
            last_transition_time=since.get((type_, status)) or second(now),
        )
        for type_, status, reason, message in made
    ]


def _ready(reading: Reading, faults: Sequence[Fault]) -> tuple[str, ConditionStatus, str, str]:
    if faults:
        return READY, "False", faults[0].reason, ". ".join(fault.message for fault in faults)
    ill = sum(not gpu.healthy for gpu in reading.gpus)
    message = f"{len(reading.gpus)} devices" + (f", {ill} not healthy" if ill else "")
    return READY, "True", "InventoryRead", message


def _match(mismatches: Sequence[Mismatch] | None) -> tuple[str, ConditionStatus, str, str]:
    if mismatches is None:
        return DEVICES_MATCH, "Unknown", "PodsUnknown", "the pods of the node are not known"
    if not mismatches:
        return DEVICES_MATCH, "True", "AsGranted", "what runs was granted"
    told = [str(one) for one in mismatches[:_MOST_NAMED]]
    if len(mismatches) > _MOST_NAMED:
        told.append(f"and {len(mismatches) - _MOST_NAMED} more")
    return DEVICES_MATCH, "False", "NotAsGranted", "; ".join(told)
