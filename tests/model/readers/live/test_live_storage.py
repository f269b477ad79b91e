"""What a running scheduler sees of storage as room, limits and attachments change."""

from __future__ import annotations

import pytest

from fourleaf.model.readers.live import LiveReader
from fourleaf.model.readers.pods.volumes import SELECTED_BY_US, SELECTED_NODE
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


def may_go(known: LiveReader) -> list[str]:
    """The nodes that the only gang may use."""
    snapshot = known.reading(NOW).snapshot
    constraint = snapshot.gangs[0].roles[0].constraint
    return [name for name, node in snapshot.fabric.nodes.items() if constraint.selects(node)]


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


def test_a_claim_that_names_its_volume_is_followed_until_it_is_bound() -> None:
    """No room that its class has lets it start; being bound does, once the volume is there."""
    body = waiting_claim("2Gi")
    body["spec"]["volumeName"] = "pv"
    known = reader(*NODES, using("data"), FIRST_USE, driver(), body)
    tell(known, room("z2", "5Gi"))
    assert "is not bound yet to PersistentVolume pv" in why(known)
    tell(known, body | {"status": {"phase": "Bound"}})
    assert "PersistentVolume pv of" in why(known)
    tell(known, disk("pv"))
    assert not why(known)


@pytest.mark.parametrize(
    ("annotations", "told"),
    [
        (
            {"volume.beta.kubernetes.io/storage-class": "other"},
            "PersistentVolumeClaim ml/data is not bound yet",
        ),
        ({SELECTED_NODE: "b"}, ["b"]),
        ({SELECTED_NODE: "b", SELECTED_BY_US: "b"}, ["a", "b", "c"]),
        ({SELECTED_NODE: "b", SELECTED_BY_US: "a"}, ["b"]),
    ],
    ids=["a class", "a node", "a node of ours", "a node of others since"],
)
def test_annotations_of_a_claim_count_as_they_come(
    annotations: Body, told: str | list[str]
) -> None:
    """Its class, and the node that another scheduler selects for it; what is ours leaves all."""
    body = waiting_claim("2Gi")
    known = reader(*NODES, using("data"), FIRST_USE, body)
    assert may_go(known) == ["a", "b", "c"]
    tell(known, body | {"metadata": body["metadata"] | {"annotations": annotations}})
    assert (why(known) or may_go(known)) == told


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
