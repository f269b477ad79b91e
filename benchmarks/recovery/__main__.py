"""How long gangs take to run again after their nodes have died.

A real control plane with default grace periods, kwok for kubelets, doors that stop answering.
Gangs of 8, each on a spine of its own, lose 1, 2 or all of their nodes, with room in the leaf,
next door (half of the gang has to move) or elsewhere (all of it has to). Seconds are from the
moment at which the nodes lose power until the last member runs again, all of them on legal
places. Runs of one row go on at the same time, begun a second apart.

The owner of a gang makes another pod of the same index as soon as one is to end, as operators
of training jobs and ReplicaSets do. A Job does that too, but counts what is evicted as failed:
its controller waits 10 s after the first, twice as long after each further one.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from benchmarks.recovery.grounds import GROUNDS, INDEX, LOST, SIZE, Site, config, member, taker
from benchmarks.results import markdown, write_section
from benchmarks.throughput.figures import percentile
from tests.controlplane.api import Api
from tests.controlplane.fleet import create_nodes
from tests.controlplane.plane import ControlPlane
from tests.controlplane.power import MANAGES, Power
from tests.controlplane.waiting import eventually
from tests.e2e.replica import Replica, grant

MEMBERS = f"/api/v1/pods?labelSelector={INDEX}"
PATIENCE = 120.0
"""Seconds after which a gang counts as lost."""
LOOK = 0.25
"""Seconds between two looks at the pods."""


@dataclass(slots=True)
class Run:
    """One gang: where it stood, when its nodes died and when it ran again (monotonic seconds)."""

    site: Site
    lost: int
    before: dict[int, str] = field(default_factory=dict)
    after: dict[int, str] = field(default_factory=dict)
    made: int = 0
    died: float = 0.0
    again: float = 0.0

    @property
    def seconds(self) -> float:
        """How long it took, without end where it never ran again."""
        return self.again - self.died if self.again else float("inf")


@dataclass(frozen=True, slots=True)
class Stage:
    """A control plane with a leader, and nodes that can lose their power."""

    plane: ControlPlane
    power: Power
    leader: Replica


@contextmanager
def stage(sites: list[Site]) -> Iterator[Stage]:
    """Start everything; a replica leads."""
    nodes = [node for site in sites for node in site.nodes()]
    with (
        tempfile.TemporaryDirectory(prefix="fourleaf-bench-") as folder,
        ControlPlane(Path(folder) / "plane") as plane,
        Power(node["metadata"]["name"] for node in nodes) as power,
    ):
        power.wire(nodes)
        asyncio.run(create_nodes(plane.kubeconfig(), nodes))
        plane.controller_manager()
        plane.kwok(nodes=MANAGES)
        grant(plane, "scheduler-a")
        with plane.api() as api:
            body = {"metadata": {"name": "topology-scheduler-config"}}
            body["data"] = {"config.yaml": config(sites)}  # type: ignore[assignment]
            api.create("/api/v1/namespaces/kube-system/configmaps", body)
            for site in sites:
                api.create("/api/v1/namespaces", {"metadata": {"name": site.spine}})
        with Replica(plane, "scheduler-a", Path(folder)) as leader:
            eventually(lambda: leader.leads, "the replica leads")
            yield Stage(plane, power, leader)


def trial(stage: Stage, sites: list[Site], lost: int, seed: int) -> list[Run]:
    """Let every gang run, take its nodes, and wait until it runs again."""
    runs = [Run(site, lost) for site in sites]
    dice = random.Random(seed)  # noqa: S311 - which nodes die is no secret
    with stage.plane.api() as api:
        _begin(api, runs)
        # Kubelets have renewed their Leases at least once.
        time.sleep(12)
        due = time.monotonic()
        waiting = list(runs)
        ahead = list(runs)
        dice.shuffle(ahead)
        while waiting:
            _make_up(api, runs)
            if ahead and time.monotonic() >= due:
                _kill(api, stage.power, ahead.pop(), dice)
                due += 1.0
            _look(api, waiting)
            given_up = [r for r in waiting if r.died and time.monotonic() - r.died > PATIENCE]
            waiting = [r for r in waiting if not r.again and r not in given_up]
            time.sleep(LOOK)
    return runs


def _begin(api: Api, runs: list[Run]) -> None:
    """Start every gang on the first leaves: all others are taken until it runs."""
    for run in runs:
        for node in run.site.beyond():
            api.create(_pods(run), taker(node))
    for run in runs:
        for index in range(SIZE):
            api.create(_pods(run), member(index, 0))
    eventually(lambda: all(map(_whole, _seen(api, runs))), "all run", PATIENCE)
    for run, places in zip(runs, _seen(api, runs), strict=True):
        run.before = places
        stays = set(run.site.filled())
        for node in run.site.beyond():
            if node not in stays:
                api.delete(f"{_pods(run)}/taker-{node}")


def _pods(run: Run) -> str:
    return f"/api/v1/namespaces/{run.site.spine}/pods"


def _make_up(api: Api, runs: list[Run]) -> None:
    """Do what the owners of the gangs do: another pod for each index whose pod is to end."""
    present: dict[str, set[int]] = {run.site.spine: set() for run in runs}
    for pod in api.get(MEMBERS)["items"]:
        if "deletionTimestamp" not in pod["metadata"]:
            present[pod["metadata"]["namespace"]].add(int(pod["metadata"]["labels"][INDEX]))
    for run in runs:
        for index in sorted(set(range(SIZE)) - present[run.site.spine]):
            run.made += 1
            api.create(_pods(run), member(index, run.made))


def _kill(api: Api, power: Power, run: Run, dice: random.Random) -> None:
    leaves: dict[str, list[str]] = {}
    for node in sorted(run.before.values()):
        leaves.setdefault(node.rpartition("-")[0], []).append(node)
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


def _look(api: Api, runs: list[Run]) -> None:
    now = time.monotonic()
    for run, places in zip(runs, _seen(api, runs), strict=True):
        if run.died and _whole(places) and places != run.before:
            gone = set(run.before.values()) - set(places.values())
            if gone:
                run.again, run.after = now, places


def _seen(api: Api, runs: list[Run]) -> list[dict[int, str]]:
    """Index -> node of the live members of each gang."""
    found: dict[str, dict[int, str]] = {run.site.spine: {} for run in runs}
    for pod in api.get(MEMBERS)["items"]:
        metadata = pod["metadata"]
        node = pod["spec"].get("nodeName")
        if node and "deletionTimestamp" not in metadata and metadata["namespace"] in found:
            found[metadata["namespace"]][int(metadata["labels"][INDEX])] = node
    return [found[run.site.spine] for run in runs]


def _whole(places: dict[int, str]) -> bool:
    return len(places) == SIZE


def legal(run: Run) -> bool:
    """Whether the gang stands on different nodes of one leaf, or of two adjacent ones."""
    if len(set(run.after.values())) != SIZE:
        return False
    leaves = sorted({int(node.split("-")[-2]) for node in run.after.values()})
    return len(leaves) == 1 or (len(leaves) == 2 and leaves[1] == leaves[0] + 1)


def row(name: str, lost: int, runs: list[Run]) -> list[str]:
    """One line of the table."""
    seconds = [run.seconds for run in runs]
    back = [run for run in runs if run.again]
    moved = [
        sum(1 for index in run.before if run.after[index] != run.before[index]) for run in back
    ]
    return [
        name,
        str(lost),
        f"{len(back)} of {len(runs)}",
        f"{median(seconds):.1f}",
        f"{percentile(seconds, 0.95):.1f}",
        f"{max(seconds):.1f}",
        f"{median(moved):.0f}" if moved else "-",
        f"{sum(map(legal, back))} of {len(back)}",
    ]


def main(
    runs: Annotated[int, typer.Option(min=1, help="Runs of each row.")] = 30,
    seed: Annotated[int, typer.Option(help="Which nodes die.")] = 1,
    write: Annotated[bool, typer.Option(help="Write RESULTS.md.")] = False,
) -> None:
    """Measure every row, and print the table."""
    rows: list[list[str]] = []
    bad: list[str] = []
    for ground in GROUNDS:
        for lost in LOST:
            sites = [Site(ground, number) for number in range(runs)]
            with stage(sites) as started:
                done = trial(started, sites, lost, seed)
            rows.append(row(ground.name, lost, done))
            print(rows[-1], flush=True)
            bad += [run.site.spine for run in done if not run.again or not legal(run)]
    header = ["room", "lost", "run again", "median s", "p95 s", "worst s", "pods new", "legal"]
    table = markdown(header, rows)
    print(table)
    if write:
        intro = (__doc__ or "").split("\n", 2)[2].strip()
        write_section(
            "recovery", "From a node's death to the gang's next run", f"{intro}\n\n{table}"
        )
    if bad:
        raise SystemExit(f"not back, or not where they may be: {', '.join(bad)}")


if __name__ == "__main__":
    typer.run(main)
