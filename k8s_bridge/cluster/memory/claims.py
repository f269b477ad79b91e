"""What only ResourceClaims have: devices that stay as they were given, and who may use them."""

from __future__ import annotations

from fourleaf.k8s_bridge.cluster.memory.refusals import invalid
from fourleaf.k8s_bridge.cluster.protocol import Body


def check_claim_update(old: Body, new: Body) -> None:
    """Raise `Refused` where the apiserver would not take `new` in the place of `old`."""
    name = old["metadata"]["name"]
    if new.get("spec") != old.get("spec"):
        raise invalid(name, "spec", "field is immutable")
    before, after = old.get("status") or {}, new.get("status") or {}
    given, kept = before.get("allocation"), after.get("allocation")
    if given and kept and given != kept:
        raise invalid(name, "status.allocation", "field is immutable")
    users = after.get("reservedFor") or ()
    uids = [one["uid"] for one in users]
    if users and not kept:
        why = "Forbidden: may not be specified when `allocated` is not set"
        raise invalid(name, "status.reservedFor", why)
    if len(set(uids)) < len(uids):
        raise invalid(name, "status.reservedFor", "Duplicate value")
    new_users = set(uids) - {one["uid"] for one in before.get("reservedFor") or ()}
    if new_users and "deletionTimestamp" in old["metadata"]:
        why = "Forbidden: new entries may not be added while `deletionTimestamp` is set"
        raise invalid(name, "status.reservedFor", why)
