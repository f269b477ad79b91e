"""ResourceClaims of a member as rows, alike in every format so far."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.records import ClaimAllocation
from fourleaf.model.devices.names import DeviceName

Group = tuple[str, str, str, list[str]]
"""Devices of one request: its name, their driver, pool and names."""
Claim = tuple[str, str, str, list[Group]]
"""A ResourceClaim: name, UID, version, devices."""


def claim_row(allocation: ClaimAllocation) -> Claim:
    """One claim as it is written."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for request, name in allocation.devices:
        groups.setdefault((request, name.driver, name.pool), []).append(name.device)
    claim = allocation.claim
    listed = [(*key, names) for key, names in groups.items()]
    return (claim.name, claim.uid, claim.version, listed)


def read_claims(namespace: str, rows: Iterable[Claim]) -> tuple[ClaimAllocation, ...]:
    """The claims of a member, whose pod is in `namespace`."""
    return tuple(_allocation(namespace, row) for row in rows)


def _allocation(namespace: str, claim: Claim) -> ClaimAllocation:
    name, uid, version, groups = claim
    devices = tuple(
        (request, DeviceName(driver, pool, device))
        for request, driver, pool, names in groups
        for device in names
    )
    return ClaimAllocation(Target(namespace, name, uid, version), devices)
