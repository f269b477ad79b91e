"""A rack is lost with a thousand pods: what a step looks at grows with them, not with their square.

Who looks at each gang that waits, or at each pod that runs, for each relocation, keeps the event
loop busy for half a minute, and the lead is lost in six seconds.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation, Seat
from fourleaf.model.gang import Gang, GangKey, Role
from tests import small

LOST = 50


class Counted(tuple[Any, ...]):
    """Counts how often it is gone through."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        type(self).times += 1
        return super().__iter__()


class Gangs(dict[GangKey, Gang]):
    """Counts the same."""

    times = 0

    def values(self) -> Any:
        """The gangs."""
        type(self).times += 1
        return super().values()


def lost(number: int) -> Relocation:
    """A pod of a ReplicaSet of its own is gone, and a place is kept for who comes after it."""
    gang = GangKey("ml", f"gone-{number}")
    pod = Target("ml", gang.name, f"gone-{number}")
    seat = Seat(pod, (1, 0, 0), "n-0", f"n-{1 + number}", small.WHOLE)
    return Relocation(gang, Purpose.REPAIR, (seat,), (), owner=f"set-{number}")


def test_each_gang_and_pod_is_looked_at_once() -> None:
    """Of 50 relocations: each has the pod that its own ReplicaSet made, of as many that wait."""
    gangs = Gangs()
    for number in reversed(range(LOST)):
        key = GangKey("ml", f"new-{number}")
        gangs[key] = Gang(key, (Role((key.name,), small.WHOLE),))
    running = Counted(
        SimpleNamespace(namespace="ml", name=f"r-{i}", gang=GangKey("ml", f"r-{i}"), node="n-0")
        for i in range(LOST)
    )
    fabric = SimpleNamespace(nodes={f"n-{i}": small.node(f"n-{i}", "a") for i in range(LOST + 1)})
    snapshot = SimpleNamespace(gangs_by_key=gangs, running=running, fabric=fabric)
    uids = {("ml", f"r-{i}"): f"r-{i}" for i in range(LOST)}
    made = {f"new-{i}": SimpleNamespace(controller=f"set-{i}") for i in range(LOST)}
    cache = SimpleNamespace(named=lambda _, pod: made.get(pod), seen=lambda _: None)
    reading = SimpleNamespace(snapshot=snapshot, uids=uids)
    there = tuple(map(lost, range(LOST)))
    view = ClusterView(cast("Any", cache), cast("Any", reading), there, frozenset(), 0.0)
    comers = {key.name: gang.key.name for key, gang in view.comers.items()}
    assert comers == {f"gone-{i}": f"new-{i}" for i in range(LOST)}
    assert not any(map(view.is_seated, there))
    assert (Gangs.times, Counted.times) == (1, 1)
