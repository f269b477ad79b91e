"""How long gangs take to run again after their nodes have died.

A real control plane with default grace periods, kwok for kubelets, doors that stop answering.
Gangs of 8, each on a spine of its own, lose 1, 2 or all of their nodes, with room in the leaf,
next door (half of the gang has to move) or elsewhere (all of it has to). Seconds are from the
moment at which the nodes lose power until the last member runs again, all of them on legal
places. Runs of one row go on at the same time, begun a second apart, and four seconds where all
eight nodes are lost: many nodes that fall silent within a few seconds may be a network that comes
apart, and are given more time (begun a second apart, the first such row took 34.4 s at its p95).

The goal of every row is a p95 of 30 s at most. Ends with status 1 where a row is above that, or a
gang does not come to what it has room for.

With room nowhere, a gang has to stay as it is, and no pod is evicted: seconds are until an event
says why, and 30 s later its members have to be the same.

An operator makes another pod of the same index as soon as one is to end, as those of training jobs
and ReplicaSets do. A Job with `backoffLimitPerIndex`, as the guides have it, does that too, 10 s
after the failure, which is the last heartbeat of the node. A StatefulSet waits until the
pod before is gone, so `repair.endLostPodsAtOnce` is set for it. Both are those of
kube-controller-manager; they are tried where there is room in the leaf.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks.recovery.figures import HEADER, PATIENCE, WHAT, Run, found_fault, row
from benchmarks.recovery.grounds import GROUNDS, LOST, SIZE, Ground, Site
from benchmarks.recovery.owners import OWNERS, GangOwner
from benchmarks.results import amend_tables, machine, markdown, with_rows, write_tables
from tests.controlplane.api import Api
from tests.controlplane.fleet import create_nodes
from tests.controlplane.plane import ControlPlane
from tests.controlplane.power import MANAGES, Power
from tests.controlplane.waiting import eventually
from tests.e2e.owner import INDEX, JOB_INDEX, live, places_of, settle, taker, uids_of
from tests.e2e.replica import Replica, grant

TOLD = "/api/v1/events?fieldSelector=reason%3DNotRepaired"
AT_ONCE = "  repair: {endLostPodsAtOnce: true}\n"
APART_SECONDS = 0.5
"""Seconds from one run to the next, for each node that is lost: a tenth of all nodes that fall
silent within five seconds count as a network that comes apart."""
LOOK = 0.25
"""Seconds between two looks at the pods."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A control plane with a leader, nodes that can lose their power, and an owner of gangs."""

    plane: ControlPlane
    power: Power
    owner: GangOwner
    index: str


@contextmanager
def stage(ground: Ground, sites: list[Site], owner_kind: str) -> Iterator[Stage]:
    """Start everything; a replica leads."""
    fleet = ground.fleet(len(sites))
    with (
        tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder,
        ControlPlane(Path(folder) / "plane") as plane,
        Power(fleet.names()) as power,
    ):
        nodes = fleet.objects()
        power.wire(nodes)
        asyncio.run(create_nodes(plane.kubeconfig(), nodes))
        plane.controller_manager()
        plane.kwok(nodes=MANAGES)
        grant(plane, "scheduler-a")
        with plane.api() as api:
            spec = AT_ONCE if owner_kind == "StatefulSet" else ""
            settle(api, [site.team for site in sites], spec)
        with (
            Replica(plane, "scheduler-a", Path(folder)) as leader,
            OWNERS[owner_kind](plane) as owner,
        ):
            eventually(lambda: leader.leads, "the replica leads")
            yield Stage(plane, power, owner, JOB_INDEX if owner_kind == "Job" else INDEX)


def trial(stage: Stage, sites: list[Site], lost: int, seed: int) -> list[Run]:
    """Let every gang run, take its nodes, and wait until it runs again, or stays as it is."""
    runs = [Run(site, lost) for site in sites]
    dice = random.Random(seed)  # noqa: S311 - which nodes die is no secret
    with stage.plane.api() as api:
        _begin(api, stage, runs)
        # Kubelets have renewed their Leases at least once.
        time.sleep(12)
        due = time.monotonic()
        ahead = list(runs)
        dice.shuffle(ahead)
        while not all(run.is_over(time.monotonic()) for run in runs):
            if ahead and time.monotonic() >= due:
                _kill(api, stage.power, ahead.pop(), dice)
                due += max(1.0, lost * APART_SECONDS)
            _look(api, stage.index, runs)
            time.sleep(LOOK)
    return runs


def _begin(api: Api, stage: Stage, runs: list[Run]) -> None:
    """Start every gang on the first leaves: all others are taken until it runs."""
    for run in runs:
        for node in run.site.on(run.site.ground.beyond):
            api.create(run.site.team.pods, taker(node))
    stage.owner.begin(api, [run.site.team for run in runs])
    members = partial(_members, api, stage.index, runs)
    eventually(lambda: all(map(_whole, map(places_of, members()))), "all run", PATIENCE)
    for run, pods in zip(runs, members(), strict=True):
        run.before, run.uids = places_of(pods), uids_of(pods)
        for node in run.site.on(set(run.site.ground.beyond) - set(run.site.ground.filled)):
            api.delete(f"{run.site.team.pods}/taker-{node}")


def _members(api: Api, index: str, runs: list[Run]) -> list[list[dict[str, Any]]]:
    return live(api, [run.site.team for run in runs], index)


def _kill(api: Api, power: Power, run: Run, dice: random.Random) -> None:
    leaves: dict[int, list[str]] = {}
    for node in sorted(run.before.values(), key=run.site.nodes.index):
        leaves.setdefault(run.site.leaf(node), []).append(node)
    first = next(iter(leaves.values()))
    if run.lost == SIZE:
        dead = list(run.before.values())
    elif run.lost == 2 and run.site.ground.name == "elsewhere":
        # one of each leaf, so that no part of the gang may stay
        dead = [dice.choice(some) for some in leaves.values()]
    else:
        dead = dice.sample(first, run.lost)
    run.died = time.monotonic()
    for node in dead:
        power.cut(api, node)


def _look(api: Api, index: str, runs: list[Run]) -> None:
    """Note who runs again, who was told why it cannot, and whose members are others by now."""
    now = time.monotonic()
    told = {event["metadata"]["namespace"] for event in api.get(TOLD)["items"]}
    for run, pods in zip(runs, _members(api, index, runs), strict=True):
        if not run.died or run.is_over(now):
            continue
        places = places_of(pods)
        run.new = uids_of(pods) - run.uids
        if not run.told and run.site.team.name in told:
            run.told = now
        if _whole(places) and set(run.before.values()) - set(places.values()):
            run.again, run.after = now, places


def _whole(places: dict[int, str]) -> bool:
    return len(places) == SIZE


def main(
    runs: Annotated[int, typer.Option(min=1, help="Runs of each row.")] = 30,
    seed: Annotated[int, typer.Option(help="Which nodes die.")] = 1,
    only: Annotated[str, typer.Option(help="Owners of this kind alone.")] = "",
    nodes: Annotated[int, typer.Option(help="Rows of so many nodes lost alone; 0: all.")] = 0,
    write: Annotated[
        bool, typer.Option(help="Write the page of tables; with --only or --nodes, these rows.")
    ] = False,
) -> None:
    """Measure every row, and print the table."""
    rows: list[list[str]] = []
    bad: list[str] = []
    for owner in OWNERS:
        for ground in GROUNDS if owner == "operator" else GROUNDS[:1]:
            for lost in LOST if only in ("", owner) else ():
                if nodes not in (0, lost):
                    continue
                sites = ground.sites(runs)
                with stage(ground, sites, owner) as started:
                    done = trial(started, sites, lost, seed)
                rows.append(row(owner, ground, lost, done))
                print(rows[-1], flush=True)
                bad += [run.site.team.name for run in done if not run.good]
    table = markdown(HEADER, rows)
    print(table)
    if write and (only or nodes):
        amend_tables("recovery", partial(with_rows, rows=rows, told=machine(), keys=WHAT))
    elif write:
        intro = (__doc__ or "").split("\n", 2)[2].strip()
        write_tables(
            "recovery", "From a node's death to the gang's next run", f"{intro}\n\n{table}"
        )
    if faults := found_fault(rows, bad):
        raise SystemExit(faults)


if __name__ == "__main__":
    typer.run(main)
