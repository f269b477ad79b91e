"""What was read of gangs, where a pod moves from one to another that is read at another time."""

from __future__ import annotations

import pytest

from fourleaf.model.readers.gangs.names import Identity
from fourleaf.model.readers.live.gang_cache import NOTHING, GangCache, Kept
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from tests.model.readers.live.test_live import NOW, reader
from tests.model.readers.made import Body, node, pod


def read_of(gang: str) -> tuple[Identity, Kept]:
    """What is read of a gang of one pod that runs."""
    one = pod("p", annotations={GANG: gang, GANG_SIZE: "1"}, phase="Running", nodeName="n1")
    made = reader(node(), one)
    made.reading(NOW)
    (identity,) = made._table.identities
    return identity, made._reads.whole(identity, made._situation(NOW))


def read_of_two(*pods: Body) -> tuple[Identity, Kept]:
    """What is read of a gang of two of which there are these pods."""
    made = reader(node(), *pods)
    made.reading(NOW)
    (identity,) = made._table.identities
    return identity, made._reads.whole(identity, made._situation(NOW))


def member(name: str, **status: str) -> Body:
    """One of two pods of a gang."""
    return pod(name, annotations={GANG: "g", GANG_SIZE: "2"}, **status)


@pytest.mark.parametrize(("runs", "comes_free"), [(False, True), (True, False)])
def test_a_gang_that_is_whole_now_is_looked_at_first(runs: bool, comes_free: bool) -> None:
    """It was held for the pod that it lacked; one of which a member runs has had its turn."""
    where = {"phase": "Running", "nodeName": "n1"} if runs else {}
    identity, before = read_of_two(member("p", **where))
    _, now = read_of_two(member("p", **where), member("q"))
    gangs = GangCache()
    gangs.keep({identity: before})
    gangs.keep({identity: now})
    assert [draft.as_read.key.name for draft in gangs.come_free] == ["g"] * comes_free


def test_a_pod_that_was_read_in_another_gang_stays() -> None:
    """The new gang is read first, then the old one, which is gone; then the new one is gone too."""
    (old, before), (new, now) = read_of("z"), read_of("a")
    gangs = GangCache()
    gangs.keep({old: before})
    for identity, kept in ((new, now), (old, NOTHING)):
        gangs.keep({identity: kept})
        assert list(gangs.running) == [("ml", "p")]
        assert list(gangs.used) == ["n1"]
    gangs.keep({new: NOTHING})
    assert not gangs.running
    assert not gangs.used
