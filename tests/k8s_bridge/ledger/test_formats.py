"""Each format says all there is to say, and nobody takes one for another."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.formats.codec import (
    KNOWN,
    BadRecord,
    SealedRecord,
    gang_body,
    page_body,
    read_gang,
    read_page,
    room_on,
)
from fourleaf.k8s_bridge.ledger.names import ABOUT, CONTENT, FORMAT, gang_lease_name, page_name
from fourleaf.k8s_bridge.ledger.records import (
    ClaimAllocation,
    Entry,
    GangLease,
    Member,
    Page,
    Phase,
)
from fourleaf.k8s_bridge.relocation.codec import read_relocation, relocation_body, relocation_name
from fourleaf.k8s_bridge.relocation.records import Leaver, Purpose, Relocation, Seat
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import GangKey
from fourleaf.model.resources import Resources

GANG = GangKey("ml", "train")
UID = "0b52c9e4-8a2d-4a7e-9c55-1f1f3a9d7b21"
NAMES = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,20}[a-z0-9])?", fullmatch=True)
UIDS = st.uuids().map(str) | NAMES | st.just(UID.upper())
VERSIONS = st.integers(1, 10**12).map(str)
DEVICES = st.lists(st.integers(0, 15), max_size=8, unique=True).map(tuple)


@st.composite
def allocations(draw: Any) -> ClaimAllocation:
    """A claim with up to two devices."""
    name = st.builds(DeviceName, NAMES, NAMES, NAMES)
    devices = draw(st.lists(st.tuples(st.just("gpus"), name), max_size=2))
    # Devices of one driver and pool are written together.
    devices.sort(key=lambda one: (one[1].driver, one[1].pool))
    return ClaimAllocation(Target("ml", draw(NAMES), draw(UIDS), draw(VERSIONS)), tuple(devices))


MEMBERS = st.lists(
    st.builds(
        Member,
        st.builds(Target, st.just("ml"), NAMES, UIDS, VERSIONS),
        NAMES,
        DEVICES,
        st.lists(allocations(), max_size=2).map(tuple),
    ),
    max_size=4,
).map(tuple)
ENTRIES = st.builds(
    Entry,
    NAMES,
    st.builds(GangKey, st.just("ml"), NAMES),
    MEMBERS,
    st.just("") | NAMES,
    st.sampled_from(Phase),
)
PAGES = st.builds(
    Page,
    NAMES,
    st.integers(0, 9),
    st.lists(NAMES, max_size=4, unique=True).map(tuple),
    st.lists(ENTRIES, max_size=4).map(tuple),
    st.integers(1, 2**30),
    st.just("7"),
    st.sampled_from(KNOWN),
)
GANGS = st.builds(
    GangLease,
    NAMES.map(lambda name: gang_lease_name(name, "c1")),
    NAMES,
    st.just(GANG),
    st.sampled_from(Phase),
    MEMBERS,
    st.lists(NAMES, max_size=3).map(tuple),
    st.integers(1, 2**30),
    st.just("7"),
    st.sampled_from(KNOWN),
)


def page(number: int, phase: Phase = Phase.COMMITTED) -> Page:
    """A page of two nodes with one gang on them."""
    members = (
        Member(Target("ml", "train-0", UID, "41"), "n0", (0, 1, 2, 3)),
        Member(Target("ml", "train-1", "uid-1", "42"), "n1"),
    )
    entry = Entry("c1", GANG, members, "", phase)
    return Page("leaf-0", 1, ("n0", "n1"), (entry,), 5, "7", number)


def relocation(number: int) -> Relocation:
    """One gang that leaves n0 for n2."""
    pod = Target("ml", "train-0", UID)
    seat = Seat(pod, (0, 0, 0), "n0", "n2", Resources(8, 1, 2, 1))
    return Relocation(
        GANG, Purpose.REPAIR, (seat,), (Leaver(pod, "n0"),), epoch=5, version="7", format=number
    )


@settings(max_examples=60)
@given(PAGES)
def test_every_page_comes_back(one: Page) -> None:
    """Whatever a page holds, each format gives it back as it was, and says which one it is."""
    assert read_page(page_body(one, "me")) == one


@settings(max_examples=60)
@given(GANGS)
def test_every_gang_lease_comes_back(one: GangLease) -> None:
    """The same for gang leases."""
    assert read_gang(gang_body(one, "me")) == one


@pytest.mark.parametrize("number", KNOWN)
def test_a_relocation_comes_back(number: int) -> None:
    """The same for a relocation, with who leaves and which seats are kept."""
    assert read_relocation(relocation_body(relocation(number), "me")) == relocation(number)


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("part", ["priority", "requests"])
def test_numbers_that_cannot_be_written_again_are_refused(number: int, part: str) -> None:
    """A priority or a request of more than 64 bits: to write it again would end the term."""
    body = relocation_body(relocation(number), "me")
    said = body["metadata"]["annotations"]
    content = json.loads(said[CONTENT])
    if part == "priority":
        content[part] = 10**20
    else:
        content[part][0][0] = 10**25
    said[CONTENT] = json.dumps(content)
    with pytest.raises(BadRecord, match="64-bit"):
        read_relocation(body)


def test_a_relocation_of_another_gang_is_refused() -> None:
    """Its name says whose it is: its places would be kept for a gang that none looks up."""
    body = relocation_body(relocation(1), "me")
    body["metadata"]["name"] = relocation_name(GangKey("ml", "other"))
    with pytest.raises(BadRecord, match="has its relocation elsewhere"):
        read_relocation(body)


@settings(max_examples=60)
@given(PAGES, st.sampled_from(KNOWN), st.sampled_from(KNOWN))
def test_converted_and_back(one: Page, there: int, back: int) -> None:
    """Written in one format, read, and written in another, a page still says the same."""
    first = read_page(page_body(replace(one, format=there), "me"))
    v2 = read_page(page_body(replace(first, format=back), "me"))
    assert replace(v2, format=1) == replace(one, format=1)


@pytest.mark.parametrize("phase", Phase)
def test_who_knows_format_1_alone_leaves_format_2_alone(phase: Phase) -> None:
    """It reads nothing out of the content, and knows which nodes and gangs that is about."""
    with pytest.raises(SealedRecord) as found:
        read_page(page_body(page(2, phase), "me"), known=(1,))
    sealed = found.value.sealed
    assert (sealed.nodes, sealed.gangs) == ({"n0", "n1"}, {GANG})
    assert (sealed.name, sealed.record) == (page_name("leaf-0", 1), "page")
    assert (sealed.format, sealed.epoch, sealed.opaque) == ("2", 5, False)


def test_what_a_gang_lease_and_a_relocation_are_about() -> None:
    """Nodes of all members, and of seats and leavers: nobody else may do anything there."""
    lease = GangLease("gang-x", "c1", GANG, Phase.PREPARED, page(2).entries[0].members, ("p",))
    with pytest.raises(SealedRecord) as gang:
        read_gang(gang_body(replace(lease, format=2), "me"), known=(1,))
    with pytest.raises(SealedRecord) as moving:
        read_relocation(relocation_body(relocation(2), "me"), known=(1,))
    assert gang.value.sealed.nodes == {"n0", "n1"}
    assert moving.value.sealed.nodes == {"n0", "n2"}
    assert gang.value.sealed.gangs == moving.value.sealed.gangs == {GANG}
    assert moving.value.sealed.name == relocation_name(GANG)


@pytest.mark.parametrize("number", ["4", "0", "-1", "two", "2.0", ""])
def test_an_unknown_format_is_sealed(number: str) -> None:
    """Whatever the content looks like, nobody guesses."""
    body = page_body(page(2), "me")
    body["metadata"]["annotations"][FORMAT] = number
    with pytest.raises(SealedRecord, match="is unknown; this version reads 1, 2, 3") as found:
        read_page(body)
    assert found.value.sealed.nodes == {"n0", "n1"}


def test_an_unknown_format_without_an_envelope_is_opaque() -> None:
    """It says nothing of what it is about, which is not the same as being about nothing."""
    body = page_body(page(2), "me")
    body["metadata"]["annotations"] |= {FORMAT: "4", ABOUT: "{"}
    with pytest.raises(SealedRecord) as found:
        read_page(body)
    assert found.value.sealed.opaque


@pytest.mark.parametrize(
    ("annotation", "old", "new", "said"),
    [
        (CONTENT, " 0 0-3", " 9 0-3", "node 9 is not one of 2"),
        (CONTENT, '"gang":0', '"gang":1', "gang 1 is not one of 1"),
        (CONTENT, " 0 0-3", "", "not enough values"),
        (CONTENT, "~uid-1", "uid-1", "is no UID"),
        (CONTENT, "0-3", "3-0", "not a range of devices"),
        (CONTENT, "{", "", "Invalid JSON"),
        (CONTENT, '{"entries"', '{"owned":-1,"entries"', "owned"),
    ],
)
def test_format_2_that_makes_no_sense_is_sealed(
    annotation: str, old: str, new: str, said: str
) -> None:
    """What is wrong is named, and its envelope still says what to leave alone."""
    body = page_body(page(2), "me")
    annotations = body["metadata"]["annotations"]
    assert old in annotations[annotation]
    annotations[annotation] = annotations[annotation].replace(old, new, 1)
    with pytest.raises(SealedRecord, match=said) as found:
        read_page(body)
    assert found.value.sealed.nodes == {"n0", "n1"}


def test_before_formats_had_numbers_nobody_would_have_read_format_2() -> None:
    """Its content lacks what the first readers insisted on: leaf, nodes, and gangs by name."""
    content = json.loads(page_body(page(2), "me")["metadata"]["annotations"][CONTENT])
    assert not {"leaf", "part", "nodes"} & content.keys()
    body = page_body(page(2), "me")
    del body["metadata"]["annotations"][FORMAT]
    with pytest.raises(BadRecord, match="leaf"):
        read_page(body)


@settings(max_examples=60)
@given(PAGES)
def test_room_is_counted_in_the_widest_format(one: Page) -> None:
    """What fits a page as counted can be written in every format: the way back is never shut."""
    sizes = {n: _size(page_body(replace(one, format=n), "me")) for n in (1, 2)}
    envelope = len('{"leaf":"","part":0,"nodes":[],"gangs":[]}2,"owned":9')
    assert sizes[2] <= sizes[1] + envelope
    assert room_on(replace(one, format=1)) == room_on(replace(one, format=2))


def test_bytes_of_a_member() -> None:
    """On its way to the API a member takes 84 bytes in format 1, and 48 in format 2.

    The texts have 57 and 39 bytes; then come 10 quotation marks of two bytes each, 2 brackets and
    5 commas, against 2 quotation marks, 4 blanks and a comma.
    """
    members = tuple(
        Member(Target("ml", f"train-{n}", str(UUID(int=n + 2**100)), "123456"), f"gpu-{n}", (0, 1))
        for n in range(4)
    )
    nodes = tuple(f"gpu-{n}" for n in range(4))

    def on_the_wire(number: int, count: int) -> int:
        held = Page("leaf-0", 0, nodes, (Entry("c1", GANG, members[:count]),), format=number)
        return len(json.dumps(page_body(held, "me"), separators=(",", ":")))

    assert [on_the_wire(number, 4) - on_the_wire(number, 3) for number in (1, 2)] == [84, 48]


def _size(body: dict[str, Any]) -> int:
    return sum(len(text) for text in body["metadata"]["annotations"].values())


def test_a_format_of_many_digits_is_unknown() -> None:
    """Nobody's number has 5,000 digits; it is refused like any other nonsense."""
    body = page_body(page(2), "me")
    body["metadata"]["annotations"][FORMAT] = "9" * 5000
    with pytest.raises(SealedRecord):
        read_page(body)
