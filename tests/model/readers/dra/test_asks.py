"""What claims ask for is read once, however often the gangs of their pods are."""

from __future__ import annotations

import weakref
from typing import Any

import pytest

from fourleaf.model.gang import Gang
from fourleaf.model.readers.dra import asks
from tests.model.readers.claims import claim, claiming, device_class
from tests.model.readers.live.test_live_claims import RESOURCES, started, told
from tests.model.readers.made import Body

GANG = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "4"}


class Kept(dict[str, Any]):
    """A spec of which one can tell that nothing holds it any more."""

    __slots__ = ("__weakref__",)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the claims that are read, by the names of their first requests."""
    found: list[str] = []
    requests_of = asks.requests_of

    def counted(body: Body, *given: Any) -> Any:
        found.append(body["spec"]["devices"]["requests"][0]["name"])
        return requests_of(body, *given)

    monkeypatch.setattr(asks, "requests_of", counted)
    return found


def own(name: str, **exactly: Any) -> Body:
    """Make a claim of which the request is called like it."""
    body = claim(name, **exactly)
    body["spec"]["devices"]["requests"][0]["name"] = name
    return body


def member(number: int) -> Body:
    """Make a member of a gang, with two claims."""
    body = claiming(f"m-{number}", f"a{number}", f"b{number}")
    body["metadata"]["annotations"] = GANG
    return body


def test_a_claim_is_read_once_until_it_says_something_else(read: list[str]) -> None:
    """Each member that comes has its gang read again, and of claims its own two alone.

    A claim that is changed is read again, one that is refused is refused for the same each time.
    """
    reader = started(*(own(f"{x}{i}") for x in "ab" for i in range(4)))
    for number in range(4):
        told(reader, member(number))
        reader.reading(float(number))
        assert read == [f"a{number}", f"b{number}"]
        read.clear()
    gang = _only(reader.reading(5.0).snapshot.gangs)
    assert (gang.hold, gang.roles[0].request.gpus, read) == (None, 2, [])
    told(reader, own("a0", adminAccess=True))
    first = _only(reader.reading(6.0).snapshot.gangs)
    told(reader, member(0) | {"status": {"phase": "Pending"}})
    again = _only(reader.reading(7.0).snapshot.gangs)
    assert first.hold is not None
    assert "adminAccess" in first.hold.detail
    assert (again.hold, read) == (first.hold, ["a0"])


def test_a_class_that_says_something_else_has_claims_read_again(read: list[str]) -> None:
    """Its devices go, and those who ask for them are held."""
    reader = started(own("a"), claiming("p", "a"))
    assert _only(reader.reading(0.0).snapshot.gangs).hold is None
    told(reader, device_class(expression="device.driver.find('gpu')"))
    assert _only(reader.reading(1.0).snapshot.gangs).hold is not None
    assert read == ["a", "a"]


@pytest.mark.usefixtures("read")
def test_nothing_is_kept_of_a_claim_that_is_gone() -> None:
    """Its spec is held no longer once it is deleted, though its pod waits."""
    body = own("a")
    body["spec"] = spec = Kept(body["spec"])
    gone = weakref.ref(spec)
    reader = started(body, claiming("p", "a"))
    reader.reading(0.0)
    del body, spec
    assert gone() is not None
    reader.remove(RESOURCES, "ResourceClaim", "ml", "a")
    reader.reading(1.0)
    assert gone() is None


def _only(gangs: tuple[Gang, ...]) -> Gang:
    (gang,) = gangs
    return gang
