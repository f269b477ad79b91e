"""The leader's Lease: what it says, and what it should say next."""

from __future__ import annotations

from dataclasses import dataclass

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.epoch import epoch_read
from fourleaf.k8s_bridge.runtime.api_text import microsecond

LEASE_LIMIT_SECONDS = 60
"""Seconds that a Lease of ours may hold, by the command's own limit."""


@dataclass(frozen=True, slots=True)
class LeaderLease:
    """The Lease as read. `holder` is "" where it was given back.

    `seconds` is how long it holds, 0 where it does not say.
    """

    holder: str
    seconds: float
    transitions: int
    version: str
    acquired: str = ""
    renewed: str = ""


def read_lease(body: Body) -> LeaderLease:
    """What a Lease says; what is missing, of another kind or out of range counts as not given."""
    spec = body.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    return LeaderLease(
        holder=str(spec.get("holderIdentity") or ""),
        seconds=float(seconds)
        if isinstance(seconds, int) and 0 < seconds <= LEASE_LIMIT_SECONDS
        else 0.0,
        transitions=epoch_read(spec.get("leaseTransitions")),
        version=str(body["metadata"]["resourceVersion"]),
        acquired=str(spec.get("acquireTime") or ""),
        renewed=str(spec.get("renewTime") or ""),
    )


def lease_body(
    name: str,
    holder: str,
    seconds: int,
    transitions: int,
    now: float,
    acquired: str = "",
    version: str = "",
) -> Body:
    """The Lease to write. `now` in seconds since the epoch, for people to read."""
    moment = microsecond(now)
    metadata: Body = {"name": name, "labels": {"app.kubernetes.io/name": "fourleaf"}}
    if version:
        metadata["resourceVersion"] = version
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata,
        "spec": {
            "holderIdentity": holder,
            "leaseDurationSeconds": seconds,
            "leaseTransitions": transitions,
            "acquireTime": acquired or moment,
            "renewTime": moment,
        },
    }
