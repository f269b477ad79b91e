"""What members were granted stands in their records, in every format."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.binding import binding
from fourleaf.k8s_bridge.ledger.formats import v1, v2, v3
from fourleaf.k8s_bridge.ledger.formats.codec import gang_body, page_body, read_gang, read_page
from fourleaf.k8s_bridge.ledger.formats.grants import grant_runs, with_grants
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from fourleaf.k8s_bridge.ledger.sealed import BadRecord
from fourleaf.model.devices.held_devices import Grant
from fourleaf.model.gang import GangKey

KEY = GangKey("ml", "g")
GRANTS = (Grant(8, 400_000), Grant(8, 400_000), None, Grant(0))
MEMBERS = tuple(
    Member(Target("ml", f"g-{i}", f"uid-{i}", "7"), "n1", grant=one) for i, one in enumerate(GRANTS)
)


@pytest.mark.parametrize("number", [v1.NUMBER, v2.NUMBER, v3.NUMBER])
def test_every_format_keeps_grants(number: int) -> None:
    """A page and a gang lease say what was granted, as read back from their Leases."""
    page = Page("leaf", 0, ("n1",), (Entry("c1", KEY, MEMBERS),), 3, "9", number)
    assert read_page(page_body(page, "me")).entries == page.entries
    lease = GangLease("gang-g-c1", "c1", KEY, Phase.COMMITTED, MEMBERS, ("page-x",), 3, "9", number)
    assert read_gang(gang_body(lease, "me")).members == MEMBERS


def test_the_same_grants_stand_once() -> None:
    """Two alike are a run; where nothing is known, nothing is written."""
    assert grant_runs(MEMBERS) == [(2, 8, 400_000), (1, None, None), (1, 0, None)]
    assert grant_runs([replace(one, grant=None) for one in MEMBERS]) == []


def test_grants_that_fit_no_members_are_refused() -> None:
    """A record whose grants are for other numbers of members makes no sense."""
    with pytest.raises(BadRecord, match="grants of 4 members"):
        with_grants("page-x", MEMBERS, [(3, 8, None)])


def test_a_binding_carries_the_grant() -> None:
    """The pod says what it was given, in the write that binds it."""
    said = binding("c1", MEMBERS[0], MEMBERS[0].pod).annotations
    assert said["alloc.gpu.scheduling/gpus"] == "8"
    assert said["alloc.gpu.scheduling/bandwidth"] == "400000"
    assert "alloc.gpu.scheduling/gpus" not in binding("c1", MEMBERS[2], MEMBERS[2].pod).annotations
