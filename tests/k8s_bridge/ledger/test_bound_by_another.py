"""A commit that goes back leaves alone whom a later commit has bound, even to the same node."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.compaction import is_out
from fourleaf.k8s_bridge.ledger.pods import PodSeen
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.gang import GangKey

POD = Target("ml", "a-0", "uid-a", "7")
MEMBER = Member(POD, "n1")


class One:
    """A cluster of one pod."""

    def __init__(self, seen: PodSeen) -> None:
        self._seen = seen

    def seen(self, uid: str) -> PodSeen | None:
        """The pod."""
        return self._seen if uid == self._seen.pod.uid else None

    def usable(self, node: str) -> bool:
        """Every node is."""
        return bool(node)

    def is_doubted(self, node: str) -> bool:
        """It is not asked."""
        raise NotImplementedError(node)

    def running_on(self, node: str) -> Iterable[tuple[GangKey, Member]]:
        """Nobody asks."""
        raise NotImplementedError(node)


@pytest.mark.parametrize(
    ("commit", "fence", "out"),
    [
        ("first", "", False),
        ("second", "", True),
        ("", "", False),
        ("", "first", True),
        ("first", "first", False),
        ("", "another", False),
    ],
)
def test_who_has_bound_it_decides(commit: str, fence: str, out: bool) -> None:
    """Bound by the commit that goes back, by a later one, or by one who does not say.

    What binds a pod that is fenced, and does not say, is another scheduler.
    """
    pods = One(PodSeen(POD, node="n1", commit=commit, fence=fence))
    assert is_out("first", MEMBER, pods) is out
