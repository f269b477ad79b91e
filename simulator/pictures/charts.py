"""The charts of a set of replays, each on axes of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes

from fourleaf.simulator.measures.summary import HOUR, SizeClass, Summary, summarise
from fourleaf.simulator.record import ReplayRecord

COLOURS = ("#0f766e", "#c2410c", "#6d28d9", "#a16207", "#475569", "#be185d", "#1d4ed8")
"""For the runs in their order."""


@dataclass(frozen=True, slots=True)
class Run:
    """One replay to draw: its name, what happened and its figures."""

    name: str
    record: ReplayRecord
    summary: Summary


@dataclass(frozen=True, slots=True)
class Chart:
    """A title, what the chart shows in a sentence, and how it is drawn."""

    title: str
    meaning: str
    draw: Callable[[Axes, Sequence[Run]], None]


def runs_of(records: Sequence[tuple[str, ReplayRecord]]) -> list[Run]:
    """The named records with their figures."""
    return [Run(name, record, summarise(record)) for name, record in records]


def allocation(axes: Axes, runs: Sequence[Run]) -> None:
    """Used GPUs over time."""
    for run, colour in zip(runs, _colours(runs), strict=True):
        hours = [one.at / HOUR for one in run.record.samples]
        used = [100 * one.used / run.record.gpus for one in run.record.samples]
        axes.plot(hours, used, color=colour, label=run.name, linewidth=1.2)
    axes.set_xlabel("hours")
    axes.set_ylabel("% of all GPUs")
    axes.set_ylim(0, 100)
    axes.legend(fontsize="small")


def waits(axes: Axes, runs: Sequence[Run]) -> None:
    """The 95th percentile of the wait by gang size."""
    _by_size(axes, runs, lambda one: one.p95 / HOUR, least=1)
    axes.set_ylabel("hours, 95th percentile")


def completion(axes: Axes, runs: Sequence[Run]) -> None:
    """The share of gangs that were done within some time of their arrival."""
    for run, colour in zip(runs, _colours(runs), strict=True):
        times = sorted(
            one.end - one.arrival
            for one in run.record.gangs.values()
            if one.end >= 0 and not one.resident
        )
        shares = [100 * (i + 1) / len(times) for i in range(len(times))]
        axes.step([max(1, t) / HOUR for t in times], shares, color=colour, linewidth=1.2)
    axes.set_xscale("log")
    axes.set_xlabel("hours from arrival to end")
    axes.set_ylabel("% of gangs")


def leaves(axes: Axes, runs: Sequence[Run]) -> None:
    """Leaves per gang over the fewest possible, by gang size."""
    _by_size(axes, runs, lambda one: one.leaves / one.fewest if one.fewest else 0.0)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("leaves / fewest possible")


def crossing(axes: Axes, runs: Sequence[Run]) -> None:
    """The share of ring hops that go from leaf to leaf."""
    _one_bar_each(axes, runs, [100 * run.summary.crossing for run in runs])
    axes.set_ylabel("% of ring hops between leaves")


def slowdown(axes: Axes, runs: Sequence[Run]) -> None:
    """How long a step takes of one on full bandwidth, by gang size."""
    _by_size(axes, runs, lambda one: one.slowdown)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("of a step on full bandwidth")


def breaches(axes: Axes, runs: Sequence[Run]) -> None:
    """Gangs whose place breaks a law of the model."""
    _one_bar_each(axes, runs, [float(run.summary.broken) for run in runs])
    axes.set_ylabel("gangs in illegal places")


def free_room(axes: Axes, runs: Sequence[Run]) -> None:
    """Whole free leaves (full lines), and pairs (dashed) and quads (dotted) of adjacent ones."""
    for run, colour in zip(runs, _colours(runs), strict=True):
        hours = [one.at / HOUR for one in run.record.samples]
        for style, counts in (
            ("-", [one.leaves for one in run.record.samples]),
            ("--", [one.pairs for one in run.record.samples]),
            (":", [one.quads for one in run.record.samples]),
        ):
            axes.plot(hours, counts, style, color=colour, linewidth=1)
    axes.set_xlabel("hours")
    axes.set_ylabel("leaves, pairs, quads")


def moves(axes: Axes, runs: Sequence[Run]) -> None:
    """Pods that were moved while they ran, and gangs that started over after a failure."""
    for number, (name, counts) in enumerate(
        (
            ("moves", [run.summary.moves for run in runs]),
            ("restarts", [run.summary.restarts for run in runs]),
        )
    ):
        shift = 0.4 * number - 0.2
        places = [i + shift for i in range(len(runs))]
        axes.bar(places, counts, width=0.4, color=COLOURS[number], label=name)
    axes.set_xticks(range(len(runs)), [run.name for run in runs], fontsize="small")
    _from_zero(axes)
    axes.legend(fontsize="small")


CHARTS = (
    Chart("Allocation", "GPUs in use, until the last arrival.", allocation),
    Chart("Wait by gang size", "From arrival to start; 95 % waited no longer.", waits),
    Chart("Completion", "Share of gangs done within a time of their arrival.", completion),
    Chart("Leaves per gang", "Against the fewest any legal place has when empty.", leaves),
    Chart("Cross-leaf traffic", "Hops of rings in rank order, gangs of 2 nodes up.", crossing),
    Chart("Slowdown", "Time of a step, where places share the uplinks of leaves.", slowdown),
    Chart("Breaches", "Gangs that the validator finds in places no law allows.", breaches),
    Chart("Free room", "Whole free leaves (full), pairs (dashed), quads (dotted).", free_room),
    Chart("Moves", "Running pods that went elsewhere; gangs that started over.", moves),
)


def _from_zero(axes: Axes) -> None:
    """Let the heights start at 0, and leave room where all of them are 0."""
    axes.set_ylim(0, max(axes.get_ylim()[1], 1.0) if axes.dataLim.ymax <= 0 else None)


def _colours(runs: Sequence[Run]) -> list[str]:
    return [COLOURS[number % len(COLOURS)] for number in range(len(runs))]


def _by_size(
    axes: Axes, runs: Sequence[Run], height: Callable[[SizeClass], float], least: int = 2
) -> None:
    """A bar for each run and size class from `least` nodes on, those of the runs side by side."""
    classes = [one for run in runs for one in run.summary.classes if one.most >= least]
    names = list(dict.fromkeys(one.name for one in classes))
    width = 0.8 / len(runs)
    for number, (run, colour) in enumerate(zip(runs, _colours(runs), strict=True)):
        found = {one.name: height(one) for one in run.summary.classes}
        shift = (number - (len(runs) - 1) / 2) * width
        places = [i + shift for i in range(len(names))]
        axes.bar(places, [found.get(name, 0.0) for name in names], width=width, color=colour)
    axes.set_xticks(range(len(names)), names, fontsize="small")
    axes.set_xlabel("nodes")


def _one_bar_each(axes: Axes, runs: Sequence[Run], heights: Sequence[float]) -> None:
    axes.bar(range(len(runs)), heights, color=_colours(runs), width=0.6)
    _from_zero(axes)
    axes.set_xticks(range(len(runs)), [run.name for run in runs], fontsize="small")
