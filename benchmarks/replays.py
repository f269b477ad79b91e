"""What the benchmarks that replay traces share: their traces, and replays side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.kept import Kept
from benchmarks.sources import code_now, code_of
from fourleaf.model.fabric import Fabric
from fourleaf.simulator.measures.summary import Summary, summarise
from fourleaf.simulator.options import ReplayOptions
from fourleaf.simulator.readers import kalos, lingjun, philly
from fourleaf.simulator.record import ReplayCounts
from fourleaf.simulator.replay import replay
from fourleaf.simulator.trace import DAY, Sizes, Trace

FILES = (kalos.FILE, philly.FILE, lingjun.FILE)

AtOnce = Annotated[int, typer.Option(min=1, help="Replays at a time.")]
KeptFile = Annotated[
    Path | None,
    typer.Option(
        "--kept",
        help="A file of what was found before, to go on from: what this code has found counts.",
    ),
]
AnyCode = Annotated[
    bool, typer.Option("--any-code", help="Take what other code has found of baselines, too.")
]
ReplayMissing = Annotated[
    bool,
    typer.Option("--replay/--no-replay", help="Replay what the file has not; else leave it out."),
]
NODE = 8
"""GPUs of a node of the fabric."""


@dataclass(frozen=True, slots=True)
class Case:
    """One replay: a trace by name at a load in percent on the Lingjun fabric.

    `quick` takes two days of Philly instead of seven. `deal` 0 leaves the arrivals as recorded,
    others deal them to the gangs anew.
    """

    trace: str
    load: int
    options: ReplayOptions
    quick: bool = False
    deal: int = 0


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a replay. Seconds of the wall clock."""

    source: str
    gangs: int
    summary: Summary
    counts: ReplayCounts
    seconds: float

    def of(self, case: Case) -> Outcome:
        """The same with the case that it came of."""
        return Outcome(case, self.source, self.gangs, self.summary, self.counts, self.seconds)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a case. Seconds of the wall clock."""

    case: Case
    source: str
    gangs: int
    summary: Summary
    counts: ReplayCounts
    seconds: float


def trace_of(case: Case, fabric: Fabric) -> Trace:
    """The gangs of a case.

    `kalos` as they are. `philly`: the week in which most work arrives, scaled to the fabric: a
    node for every GPU.
    """
    if case.trace == "kalos":
        found = kalos.trace()
    else:
        days = 2 if case.quick else 7
        whole = philly.trace()
        found = whole.busiest(days * DAY, worth=lambda job: job.size * job.duration)
        found = found.sized(Sizes.NODE_PER_GPU, NODE)
    gpus = sum(node.allocatable.gpus for node in fabric.nodes.values())
    return found.shuffled(case.deal).at_load(case.load / 100, gpus)


def with_slack(options: ReplayOptions, slack: int) -> ReplayOptions:
    """The same options with windows of so many leaves beyond the fewest."""
    spec = options.config.spec
    topology = spec.topology.model_copy(update={"window_slack": slack})
    spec = spec.model_copy(update={"topology": topology})
    return replace(options, config=options.config.model_copy(update={"spec": spec}))


def with_window_nodes(options: ReplayOptions, nodes: int) -> ReplayOptions:
    """The same options with windows for gangs of at most so many nodes."""
    spec = options.config.spec
    constraints = spec.topology_constraints.model_copy(update={"window_nodes": nodes})
    spec = spec.model_copy(update={"topology_constraints": constraints})
    return replace(options, config=options.config.model_copy(update={"spec": spec}))


def run(case: Case) -> Finished:
    """Replay one case. Raises `RuntimeError` where the solver's process gave nothing."""
    fabric = lingjun.shape().fabric()
    trace = trace_of(case, fabric)
    start = time.perf_counter()
    record = replay(trace, fabric, case.options)
    seconds = time.perf_counter() - start
    if record.counts.greedy:
        raise RuntimeError(f"{record.counts.greedy} cycles went without the solver's answer")
    return Finished(trace.source, len(trace.jobs), summarise(record), record.counts, seconds)


def run_all(
    cases: Sequence[Case],
    at_once: int,
    file: Path | None = None,
    fresh: bool = True,
    any_code: bool = False,
) -> Iterator[Outcome]:
    """Replay the cases, so many at a time, in their order.

    Outcomes go to `file` as they come; those that it holds already from the same code are not
    replayed again, with `any_code` those of baselines neither, whatever code they are of.
    Without `fresh` those that it does not hold are left out.
    """
    kept = Kept(file, Finished)
    known = [_kept_of(kept, case, any_code) for case in cases]
    left = [case for case, found in zip(cases, known, strict=True) if found is None and fresh]
    replayed = _replayed(left, at_once)
    for case, found in zip(cases, known, strict=True):
        if found is None and not fresh:
            continue
        if found is None:
            new = next(replayed)
            kept.add(case, new, _same_code(case.options.policy))
            yield new.of(case)
        else:
            yield found.of(case)


def _kept_of(kept: Kept[Finished], case: Case, any_code: bool) -> Finished | None:
    """What is known of a case: ours has to be of this code."""
    policy = case.options.policy
    return kept.get(case, code_of(policy), any_code and policy != "cpsat")


def _same_code(policy: str) -> str:
    """The code of a finding. Raises `RuntimeError` where its sources changed meanwhile.

    The solver's process starts with each replay, and would have run other code than this one.
    """
    code = code_of(policy)
    if code_now(policy) != code:
        raise RuntimeError(f"the sources that '{policy}' runs have changed: start again")
    return code


def _replayed(cases: Sequence[Case], at_once: int) -> Iterator[Finished]:
    if at_once == 1:
        yield from map(run, cases)
        return
    with ProcessPoolExecutor(at_once, mp_context=get_context("spawn")) as pool:
        yield from pool.map(run, cases)


def left_out(named: Sequence[tuple[str, Case]], outcomes: Sequence[Outcome]) -> list[str]:
    """A line that names the cases without an outcome by trace, where there are any."""
    there = [outcome.case for outcome in outcomes]
    gone: dict[str, list[str]] = {}
    for name, case in named:
        if case not in there:
            gone.setdefault(case.trace, []).append(name)
    lines = [f"{trace}: {'; '.join(names)}" for trace, names in gone.items()]
    return [f"Not replayed: {'. '.join(lines)}."] if lines else []
