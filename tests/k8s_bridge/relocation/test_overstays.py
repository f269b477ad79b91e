"""A namespace whose gang stays longer than it declared uses no kept room for an hour after it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.tenants.overstays import Overstays
from fourleaf.model.gang import GangKey
from fourleaf.model.snapshot import RunningPod
from tests.small import WHOLE
from tests.twins.virtual_clock import VirtualClock


def view(*running: RunningPod, now: float) -> ClusterView:
    """The cluster at `now`, in seconds since the epoch."""
    uids = {(pod.namespace, pod.name): pod.name for pod in running}
    reading = SimpleNamespace(snapshot=SimpleNamespace(running=running), uids=uids)
    return cast("ClusterView", SimpleNamespace(reading=reading, gangs=(), now=now))


async def test_it_is_barred_for_an_hour() -> None:
    """From when its gang was last seen overdue: at 3599 s it is, at 3601 s it is not."""
    clock = VirtualClock()
    overstays = Overstays(clock)
    late = RunningPod("ml", "g-0", "n", WHOLE, GangKey("ml", "g"), ours=True, ends=1000.0)
    overstays.look(view(late, now=100_000.0))
    assert overstays.is_barred("ml")
    assert not overstays.is_barred("ops")
    await clock.advance(3599)
    overstays.look(view(now=103_599.0))
    assert overstays.is_barred("ml")
    await clock.advance(2)
    overstays.look(view(now=103_601.0))
    assert not overstays.is_barred("ml")
