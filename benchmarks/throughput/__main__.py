"""`python -m benchmarks.throughput [--case NAME]... [--created] [--only NAME] [--write]`.

Every turn has a control plane of its own, and the contenders take turns. Ends with status 1
where ours broke a law.
"""

from __future__ import annotations

import os
from enum import StrEnum
from typing import Annotated

import typer

from benchmarks.results import write_tables
from benchmarks.throughput.bare import Bare, bare
from benchmarks.throughput.contenders import Contender, Native, Ours
from benchmarks.throughput.figures import phase_rows, request_rows, rows, wait_rows
from benchmarks.throughput.load import CASES
from benchmarks.throughput.showing import show
from benchmarks.throughput.turn import Turn, take_turn

RUNS = {"64": 3, "1000": 3, "1000-shuffled": 3, "5000": 1}
PATIENCE = {"64": 15.0, "1000": 20.0, "1000-shuffled": 20.0, "5000": 90.0}
"""Seconds without any binding after which a turn ends, by case."""

NOTE = """A control plane from source (etcd, API server; no kubelets) on the same cores as the \
schedulers and this program, new for every turn. Both are given the same: a PodGroup of \
`scheduling.k8s.io/v1alpha2` and pods for each gang, 64 requests in flight, to a scheduler that \
runs and has placed one gang before. {load} Native keeps gangs of 2 and 4 within a leaf, of 8 \
and 16 within aligned pairs and quads of leaves by labels made for it; ours needs no such \
labels. Client limits of native and request limits of the API server are lifted. Created to \
bound ends when a watch of this program's own saw the binding. CPU is counted until the last \
binding. Requests are what the API server answered until 5 s after it, less what this program \
sent; bytes are those of the scheduler's TCP connections, TLS included. Bare bindings are made \
by this program, to nodes that it knows beforehand. Load when it began: {average:.1f}."""
CREATED = """All PodGroups are created first, then all pods gang by gang, and time starts with \
the first PodGroup: that is what users do, and includes the creates, which compete for the \
same cores."""
RELEASED = """All pods are there before their PodGroups, without which neither scheduler may \
place them; time starts with the first PodGroup. So one write a gang is all that this program \
has to do meanwhile, and what is measured is the scheduler. Both have read the pods by then."""


class Only(StrEnum):
    """One contender instead of both."""

    OURS = "ours"
    NATIVE = "native"


def main(
    case: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(RUNS)}; repeatable. 1000 without it."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Turns of each, instead of the case's own.")
    ] = None,
    created: Annotated[
        bool, typer.Option(help="PodGroups come first, and time includes creating the pods.")
    ] = False,
    only: Annotated[Only | None, typer.Option(help="One contender instead of both.")] = None,
    write: Annotated[bool, typer.Option(help="Write the page of tables.")] = False,
) -> None:
    """Measure the cases and print their figures."""
    names = list(dict.fromkeys(case or ["1000"]))
    unknown = [name for name in names if name not in RUNS]
    if unknown:
        raise typer.BadParameter(f"{unknown[0]}; there are {', '.join(RUNS)}", param_hint="--case")
    parts = [NOTE.format(load=CREATED if created else RELEASED, average=os.getloadavg()[0])]
    broken: list[str] = []
    for name in names:
        text, breaches = _case(name, runs or RUNS[name], only, not created)
        parts += text
        broken += breaches
    for line in broken:
        print(f"breach: {line}")
    if write:
        write_tables("throughput", "Throughput on a real control plane", "\n\n".join(parts))
    if broken:
        raise SystemExit(1)


def _case(name: str, runs: int, only: Only | None, released: bool) -> tuple[list[str], list[str]]:
    case = CASES[name]
    contenders = [one for one in (Ours(), Native()) if only in (None, one.name)]
    turns: dict[str, list[Turn]] = {one.name: [] for one in contenders}
    bares: list[Bare] = []
    for run in range(runs):
        bares.append(bare(case))
        print(f"{name} run {run + 1}: bare {bares[-1].rate:.0f} bindings/s", flush=True)
        for contender in contenders:
            turns[contender.name].append(_turn(name, contender, run, released))
    medians = sorted(bares, key=lambda one: one.rate)[len(bares) // 2]
    mix = ", ".join(f"{count} of {size}" for size, count in case.mix.items())
    order = "in an order that the run's number seeds" if case.shuffled else "the largest first"
    words = (
        f"## {case.nodes} nodes, {case.gangs} gangs, {case.pods} pods\n\n"
        f"Gangs by size: {mix}; {order}. Medians of {runs} runs, counts of all. Bare bindings: "
        f"{medians.rate:.0f}/s after {case.pods / medians.create:.0f} creates/s."
    )
    columns = list(turns)
    tables = [
        ("", ["figure", *columns], rows(turns, bares)),
        ("Seconds from created to bound, p50 / p90 / p99:", ["size", *columns], wait_rows(turns)),
        ("Requests a pod:", ["request", *columns], request_rows(turns)),
    ]
    if "ours" in turns:
        seconds = "Seconds of all of our cycles by phase:"
        tables.append((seconds, ["phase", "s"], phase_rows(turns["ours"])))
    breaches = [line for turn in turns.get("ours", ()) for line in turn.verdict.breaches]
    return [words, *show(tables)], breaches


def _turn(name: str, contender: Contender, run: int, released: bool) -> Turn:
    case = CASES[name]
    turn = take_turn(contender, case, run, PATIENCE[name], released)
    print(
        f"{name} run {run + 1}: {contender.name} {turn.pods} of {case.pods} pods in "
        f"{turn.bound:.2f} s, of these {turn.created:.2f} s creating",
        flush=True,
    )
    return turn


if __name__ == "__main__":
    typer.run(main)
