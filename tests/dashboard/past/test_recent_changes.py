"""What is told of the last hour, from looks at a cluster in memory."""

from __future__ import annotations

import asyncio

from fourleaf.dashboard.past.cluster_past import ClusterPast
from fourleaf.dashboard.past.recent_changes import MOST_CHANGES, RecentChange, RecentChanges
from fourleaf.dashboard.sources.live_cluster import LiveSource
from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, actors
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.k8s_bridge.runtime.api_text import second
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.model.readers import Source
from fourleaf.simulator.recording.changes import Followed
from fourleaf.simulator.recording.lines import Amounts, GangShape, GangShapeLine, RoleShape, RunLine
from tests.dashboard import hostile
from tests.twins.virtual_clock import VirtualClock


async def test_what_happens_to_gangs_and_nodes_is_told() -> None:
    """A gang is bound and deleted, another withdrawn, a node is cordoned and one goes."""
    cluster = MemoryCluster()
    made = await actors.add_nodes(cluster, actors.nodes(1, 1, 3))
    await actors.submit(cluster, "ml", actors.gang("g", 1))
    await actors.submit(cluster, "ml", actors.gang("w", 1))
    async with LiveSource("here", cluster, SystemClock()) as source:
        await source.synced()
        past = ClusterPast(source, SystemClock())

        def told() -> list[tuple[str, str]]:
            past.step()
            found = past.changes.newest(source.moment().snapshot.now)
            return [(one.kind, one.name) for one in found]

        assert told() == []
        await cluster.bind(Binding(Target("ml", "g-0"), made[0].name))
        await asyncio.sleep(0.02)
        assert told() == [("bound", "g")]
        await cluster.delete(PODS, Target("ml", "g-0"))
        await cluster.delete(PODS, Target("ml", "w-0"))
        await cluster.patch(NODES, Target("", made[1].name), {"spec": {"unschedulable": True}})
        await cluster.delete(NODES, made[2])
        await asyncio.sleep(0.02)
        assert set(told()) == {
            ("bound", "g"),
            ("gone", "g"),
            ("withdrawn", "w"),
            ("nodeCordoned", made[1].name),
            ("nodeGone", made[2].name),
        }


def test_a_first_look_tells_since_when_gangs_run(examples: FileSource) -> None:
    """Its last pod is bound for 1800 s, after 5400 s; a gang that does not say is left out."""
    now = examples.moment().snapshot.now
    bound = {"type": "PodScheduled", "status": "True"}
    said = [bound | {"lastTransitionTime": second(now - ago)} for ago in (1900, 1800)]
    objects = hostile.objects()[:2]
    for name, gang, condition in (("a-0", "a", 0), ("a-1", "a", 1), ("b-0", "b", None)):
        body = hostile.pod(name, gang, "n1")
        body["metadata"]["creationTimestamp"] = second(now - 7200)
        if condition is not None:
            body["metadata"]["annotations"]["topology.scheduler/gang-size"] = "2"
            body["status"]["conditions"] = [said[condition]]
        body["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = "1"
        objects.append(body)
    source = FileSource("two gangs", [Source("two gangs", objects=objects)], now)
    past = ClusterPast(source, VirtualClock())
    past.step()
    told = [(one.kind, one.name, one.at, one.seconds) for one in past.changes.newest(now)]
    assert told == [("bound", "a", now - 1800, 5400)]
    assert past.changes.newest(now + 1801) == ()
    assert (past.changes.since(now), past.changes.since(now + 7200)) == (now, now + 3600)


def test_an_hour_of_many_changes_is_bounded_and_says_since_when() -> None:
    """Of 1500 gangs that were bound the newest 1000 are kept: complete since the oldest of them."""
    changes, followed = RecentChanges(), Followed()
    changes.began(0.0)
    shape = GangShape(roles=(RoleShape(pods=2, request=Amounts(gpus=8)),))
    for number in range(1500):
        line = GangShapeLine(
            at=0.0, gang=number, namespace="ml", name=f"g{number}", created=0.0, shape=shape
        )
        followed.take(line)
        run = RunLine(at=float(number), gang=number, nodes=("a", "b"))
        changes.note(run, followed, float(number))
    newest = changes.newest(1500.0)
    assert len(newest) == MOST_CHANGES
    assert newest[0] == RecentChange(
        at=1499.0, kind="bound", namespace="ml", name="g1499", gpus=16, seconds=1499
    )
    assert changes.since(1500.0) == 500.0
