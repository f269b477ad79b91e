"""Repairs that meet more trouble, side by side on one real control plane, each on its own spine.

Default grace periods; kwok plays the kubelets. The leader is killed in mid-repair.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from pathlib import Path

from tests.controlplane.api import Api
from tests.controlplane.fleet import Fleet, create_nodes
from tests.controlplane.plane import ControlPlane
from tests.controlplane.power import MANAGES, Power
from tests.controlplane.waiting import eventually
from tests.e2e.owner import Owner, Team, places, settle, taker, uids
from tests.e2e.replica import Replica, grant

SPINES = 4
LEAVES = 4
WITHIN = 90.0
"""Seconds that any repair may take here; how long it takes is for the benchmark to say."""
TEAMS = (Team("again", 2), Team("returns", 2), Team("nowhere", 8), Team("handover", 8))
RELOCATIONS = (
    "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
    "?labelSelector=alloc.gpu.scheduling/record%3Drelocation"
)


def relocates(api: Api, team: Team) -> bool:
    """Whether a relocation of the team's gang is under way."""
    found = api.get(RELOCATIONS)["items"]
    return any(
        f'"gang":"{team.name}/gang"'
        in lease["metadata"]["annotations"]["alloc.gpu.scheduling/content"]
        for lease in found
    )


def evictions(plane: ControlPlane) -> Counter[str]:
    """Pod -> how often its eviction was asked for and granted; dry runs do not count."""
    return Counter(
        f"{event['objectRef']['namespace']}/{event['objectRef']['name']}"
        for event in plane.audit()
        if event.get("objectRef", {}).get("subresource") == "eviction"
        and event["responseStatus"]["code"] < 300
        and "dryRun" not in event["requestURI"]
    )


def number(node: str) -> int:
    """The number of a node; those of a leaf, and of a spine, follow each other."""
    return int(node.rpartition("-")[2])


def test_troubles(own_control_plane: ControlPlane, tmp_path: Path) -> None:
    """12 s of general silence; a death in mid-repair; a return; no room; a leader that dies."""
    plane, fleet = own_control_plane, Fleet(SPINES * LEAVES * 4, leaves_per_spine=LEAVES)
    again, returns, nowhere, handover = TEAMS
    with Power(fleet.names()) as power:
        nodes = fleet.objects()
        power.wire(nodes)
        asyncio.run(create_nodes(plane.kubeconfig(), nodes))
        kwok = plane.kwok(nodes=MANAGES)
        grant(plane, "scheduler-a", "scheduler-b")
        with (
            plane.api() as api,
            Owner(plane) as owner,
            Replica(plane, "scheduler-a", tmp_path) as first,
        ):
            settle(api, TEAMS)
            eventually(lambda: first.leads, "the first replica leads")
            with Replica(plane, "scheduler-b", tmp_path) as second:
                # what is not there yet cannot be handed over
                owner.teams += TEAMS
                eventually(
                    lambda: all(len(places(api, t)) == t.size for t in TEAMS), "all run", WITHIN
                )
                stood = {team: places(api, team) for team in TEAMS}
                known = {team: uids(api, team) for team in TEAMS}
                # the other leaves of this spine are taken: there is no second place for 8
                base = 4 * LEAVES * TEAMS.index(nowhere)
                free = {f"gpu-{base + i}" for i in range(4 * LEAVES)} - set(stood[nowhere].values())
                for node in sorted(free):
                    api.create(nowhere.pods, taker(node))
                time.sleep(12)

                os.kill(kwok.pid or 0, signal.SIGSTOP)
                time.sleep(12)
                os.kill(kwok.pid or 0, signal.SIGCONT)
                time.sleep(3)
                assert not evictions(plane)

                for team in TEAMS:
                    power.cut(api, stood[team][0])
                eventually(lambda: relocates(api, handover), "the repair has begun", WITHIN)
                first.kill()
                eventually(lambda: second.leads, "the second replica leads", WITHIN)
                eventually(
                    lambda: places(api, again).get(0, stood[again][0]) != stood[again][0],
                    "the member has a second place",
                    WITHIN,
                )
                lost = {stood[again][0], places(api, again)[0]}
                for node in lost - {stood[again][0]}:
                    power.cut(api, node)
                eventually(
                    lambda: (
                        len(places(api, handover)) == 8
                        and stood[handover][0] not in places(api, handover).values()
                    ),
                    "the gang that was handed over is whole",
                    WITHIN,
                )
                eventually(
                    lambda: places(api, returns).get(0, stood[returns][0]) != stood[returns][0],
                    "the member has another place",
                    WITHIN,
                )
                settled = uids(api, returns)
                power.restore(api, stood[returns][0])
                eventually(
                    lambda: (
                        (now := places(api, again)).get(0) not in {*lost, None}
                        and now[1] == stood[again][1]
                    ),
                    "the member has a third place",
                    WITHIN,
                )
                time.sleep(40)
                assert uids(api, returns) == settled
                assert uids(api, nowhere) == known[nowhere]
                assert not api.get(RELOCATIONS)["items"]
                told = evictions(plane)
                assert max(told.values()) == 1
                # Its second leaf stays where the leaf beyond that is there to take the first half.
                last = max(map(number, stood[handover].values())) % (4 * LEAVES) // 4
                moved = sum(n for pod, n in told.items() if pod.startswith("handover/"))
                assert moved == (4 if last < LEAVES - 1 else 8)
                assert second.leads
