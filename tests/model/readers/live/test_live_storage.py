"""What a running scheduler sees of storage as room, limits and attachments change."""

from __future__ import annotations

from fourleaf.model.readers.live import LiveReader
from tests.model.readers.live.test_live import NOW, reader, tell
from tests.model.readers.made import Body
from tests.model.readers.pods.test_storage_limits import (
    AMOUNT,
    FIRST_USE,
    attached,
    csi_node,
    disk,
    driver,
    room,
    waiting_claim,
)
from tests.model.readers.pods.test_volumes import NODES, claim, using

STORAGE = "storage.k8s.io"


def why(known: LiveReader) -> str:
    """What holds the only gang, "" where nothing does."""
    (gang,) = known.reading(NOW).snapshot.gangs
    return gang.hold.detail if gang.hold else ""


def left(known: LiveReader) -> int:
    """The volumes that node a can still attach."""
    return known.reading(NOW).snapshot.free["a"].amount(AMOUNT)


def test_a_pod_follows_the_room_for_its_volume() -> None:
    """2Gi are asked for: 1Gi is too little, 5Gi is enough, and none reported is too little again.

    A driver that does not want its reports heeded has room anywhere.
    """
    known = reader(*NODES, using("data"), FIRST_USE, driver(), waiting_claim("2Gi"))
    tell(known, room("z2", "1Gi"))
    assert "has room for 2Gi" in why(known)
    tell(known, room("z2", "5Gi"))
    assert not why(known)
    known.remove(STORAGE, "CSIStorageCapacity", "kube-system", "room-z2")
    assert "has room for 2Gi" in why(known)
    tell(known, driver(reports=False))
    assert not why(known)


def test_a_claim_that_names_its_volume_and_is_not_bound_follows_its_class() -> None:
    """It waits for the room that its class has, as any claim that is not bound."""
    body = waiting_claim("2Gi")
    body["spec"]["volumeName"] = "pv"
    known = reader(*NODES, using("data"), FIRST_USE, driver(), body)
    assert "has room for 2Gi" in why(known)
    tell(known, room("z2", "5Gi"))
    assert not why(known)


def test_room_that_is_reported_reads_the_gangs_that_wait_for_it_alone() -> None:
    """Drivers report after each volume that they make; a gang with its volume stays as it is."""
    bodies: list[Body] = [*NODES, FIRST_USE, driver(), room("z2", "5Gi")]
    waits = [using("new", name="waits"), waiting_claim("2Gi")]
    waits[1]["metadata"]["name"] = "new"
    known = reader(*bodies, *waits, using("data", name="has"), claim(), disk("pv"))
    before = known.reading(NOW).gangs
    tell(known, room("z2", "4Gi"))
    after = known.reading(NOW).gangs
    assert {key.name for key in after if after[key] is not before[key]} == {"waits"}


def test_a_node_follows_what_it_can_attach_and_what_is_attached() -> None:
    """Three of five are left once two are attached; one goes, the limit falls, the limit goes."""
    known = reader(*NODES, using("data"), claim(), disk("pv"), disk("pv-2"), disk("pv-3"))
    for body in (csi_node("a", 5), attached("pv-2", "a"), attached("pv-3", "a")):
        tell(known, body)
    assert left(known) == 3
    known.remove(STORAGE, "VolumeAttachment", "", "va-pv-3")
    assert left(known) == 4
    tell(known, csi_node("a", 1))
    assert left(known) == 0
    known.remove(STORAGE, "CSINode", "", "a")
    (role,) = known.reading(NOW).snapshot.gangs[0].roles
    assert role.request.extra == ()
