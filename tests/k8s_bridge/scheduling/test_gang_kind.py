"""Which gangs share what was found out about one of them."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.k8s_bridge.scheduling.gang_kind import gang_kind
from fourleaf.model.gang import GangKey
from tests.small import gang, with_bound


def test_members_that_run_tell_gangs_apart() -> None:
    """Where they run decides which places there are; names and age do not."""
    one = gang("g", 4)
    other = replace(one, key=GangKey("ml", "h"), created=1.0)
    assert gang_kind(one) == gang_kind(other)
    here, there = (with_bound(one, node)[0] for node in ("a0", "b0"))
    assert len({gang_kind(one), gang_kind(here), gang_kind(there)}) == 3
