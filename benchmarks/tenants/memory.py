"""Hostile pods that come and go: `python -m benchmarks.tenants.memory [--pods 5000] [--write]`.

Ends with status 1 where a replica holds more after the second round than after the first.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.results import markdown, write_tables
from benchmarks.tenants.pods import many_terms, one
from benchmarks.throughput.contenders import plane
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.live import connect
from fourleaf.k8s_bridge.cluster.memory.actors import GANG, GANG_SIZE
from tests.controlplane.fleet import Fleet, create_fleet
from tests.controlplane.plane import ControlPlane
from tests.controlplane.waiting import eventually
from tests.e2e.replica import Replica, grant

ROUNDS = 2
"""The first of which fills all that is remembered within bounds."""
WAVE = 500
"""Pods that are there at a time."""
AT_ONCE = 16
"""Creations under way at a time."""
SEEN_SECONDS = 3.0
"""Seconds that the pods of a wave stay, to be read, planned and told of."""
MOST_GROWTH_MIB = 16.0
"""MiB that the second round may add: what is told is remembered for ten minutes, so that it can be
counted, and no page of an allocator is given back of which one object is left."""

TITLE = "Memory after hostile pods"
NOTE = """\
{pods:,} pods of one tenant come and go in waves of {wave}, twice, before a leader and a \
follower on a control plane from source. No two have a label, a selector, a toleration, a gang, \
an annotation or a term of their 20 KiB of node affinity in common; a third waits behind a gate \
of its own, and none fits a node. Figures are MiB resident, of each replica without its solver, \
two seconds after the last pod of a round has gone. Goal: the second round adds less than \
{most:g} MiB, since what is told is counted for ten minutes."""


def hostile(number: int) -> dict[str, Any]:
    """A pod of which all is its own."""
    own = f"h{number}"
    body = one(own, number % 9, {own: own}, nodeSelector={own: "such"})
    affinity = many_terms(number)["nodeAffinity"]
    for terms in affinity.values():
        del terms["nodeSelectorTerms"][20:]
    body["spec"] |= {
        "affinity": {"nodeAffinity": affinity},
        "tolerations": [{"key": own, "operator": "Exists"}],
        "schedulingGates": [{"name": f"tenant.example/{own}"}] if number % 3 == 0 else [],
    }
    body["metadata"]["annotations"] = {
        GANG: own,
        GANG_SIZE: str(1 + number % 2),
        f"topology.scheduler/{own}": own,
        "topology.scheduler/preferred-domain": own,
        "topology.scheduler/network-bandwidth": f"{number}Gb",
    }
    return body


async def come_and_go(control: ControlPlane, space: str, numbers: Sequence[int]) -> None:
    """Create a wave of pods, let it be seen, and delete it. Raises `ClusterError`."""
    cluster = await connect(str(control.kubeconfig()))
    room = asyncio.Semaphore(AT_ONCE)

    async def create(number: int) -> None:
        async with room:
            await cluster.create(PODS, space, hostile(number))

    try:
        await asyncio.gather(*map(create, numbers))
    except ClusterError as error:
        raise SystemExit(f"a pod is refused: {error}") from error
    finally:
        await cluster.close()
    await asyncio.sleep(SEEN_SECONDS)
    path = f"/api/v1/namespaces/{space}/pods"
    with control.api() as api:
        api.delete(f"{path}?gracePeriodSeconds=0")
        eventually(lambda: not api.get(path)["items"], "the pods are gone")


def resident_mib(replica: Replica) -> float:
    """What a replica holds, without its solver (VmRSS)."""
    text = Path(f"/proc/{replica.pid}/status").read_text()
    return int(text.partition("VmRSS:")[2].split()[0]) / 1024


def measured(control: ControlPlane, folder: Path, pods: int) -> list[list[float]]:
    """What leader and follower hold at first, and after each round."""
    create_fleet(control.kubeconfig(), Fleet(16))
    grant(control, "scheduler-a", "scheduler-b")
    with (
        control.api() as api,
        Replica(control, "scheduler-a", folder) as leader,
        Replica(control, "scheduler-b", folder) as follower,
    ):
        both = (leader, follower)
        eventually(lambda: any(one.leads for one in both), "one leads", 120)
        if follower.leads:
            both = (follower, leader)
        space = api.new_namespace()
        found = [[resident_mib(one) for one in both]]
        for done in range(0, ROUNDS * pods, pods):
            for first in range(done, done + pods, WAVE):
                wave = range(first, min(first + WAVE, done + pods))
                asyncio.run(come_and_go(control, space, wave))
            asyncio.run(asyncio.sleep(2))
            found.append([resident_mib(one) for one in both])
            print(f"{done + pods:,} pods", *(f"{one:.1f} MiB" for one in found[-1]), flush=True)
    return found


def main(
    pods: Annotated[int, typer.Option(min=1, help="Pods of each round.")] = 5000,
    write: Annotated[bool, typer.Option(help="Replace the section of RESULTS.md.")] = False,
) -> None:
    """Measure, print, and write where wanted."""
    with tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder, plane() as control:
        found = measured(control, Path(folder), pods)
    rows = [
        [f"{number * pods:,}", *(f"{one:.1f}" for one in held)] for number, held in enumerate(found)
    ]
    table = markdown(["pods so far", "leader", "follower"], rows)
    print(table)
    if write:
        note = NOTE.format(pods=pods, wave=WAVE, most=MOST_GROWTH_MIB)
        write_tables("tenants.memory", TITLE, f"{note}\n\n{table}")
    if any(last - before > MOST_GROWTH_MIB for before, last in zip(*found[-2:], strict=True)):
        raise SystemExit(1)


if __name__ == "__main__":
    typer.run(main)
