"""What was read of gangs, where a pod moves from one to another that is read at another time."""

from __future__ import annotations

from fourleaf.model.readers.gangs.names import Identity
from fourleaf.model.readers.live.gang_cache import NOTHING, GangCache, Kept
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from tests.model.readers.live.test_live import NOW, reader
from tests.model.readers.made import node, pod


def read_of(gang: str) -> tuple[Identity, Kept]:
    """What is read of a gang of one pod that runs."""
    one = pod("p", annotations={GANG: gang, GANG_SIZE: "1"}, phase="Running", nodeName="n1")
    made = reader(node(), one)
    made.reading(NOW)
    (identity,) = made._table.identities
    return identity, made._reads.whole(identity, made._situation(NOW))


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
