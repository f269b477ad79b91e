"""The replays that a config is judged by, split in time into train and held-out.

The later part is held out, as the future will be. Deals repeat a part with its arrivals dealt to
its gangs anew, so that nothing is learnt that holds for one order of arrivals alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fourleaf.model.fabric import Fabric
from fourleaf.model.problems import Problem
from fourleaf.model.readers import open_paths, read
from fourleaf.model.snapshot import Snapshot
from fourleaf.simulator.readers.catalogue import fabric
from fourleaf.simulator.readers.catalogue import trace as trace_named
from fourleaf.simulator.readers.snapshot import trace_of
from fourleaf.simulator.trace import DAY, Trace
from fourleaf.simulator.tuning.task import TuningTask


class TooLittle(ValueError):
    """There is not enough evidence to hold a part of it out."""


@dataclass(frozen=True, slots=True)
class Case:
    """One replay to judge by."""

    trace: Trace
    fabric: Fabric


@dataclass(frozen=True, slots=True)
class Split:
    """Where the choice is made, and where it is judged. The windows say in words what each is.

    `problems`: what is wrong with objects of snapshots, which are read as their clusters were.
    """

    train: tuple[Case, ...]
    held_out: tuple[Case, ...]
    train_window: str
    held_out_window: str
    problems: tuple[Problem, ...] = ()


def split_of(task: TuningTask) -> Split:
    """The cases of a task.

    Raises `NoData` where a trace's file is missing, `BadInput` for a snapshot that cannot be
    read, and `TooLittle` where one of the parts would be empty or cannot be brought to the load.
    """
    return _of_snapshots(task) if task.snapshots else _of_trace(task)


def _of_trace(task: TuningTask) -> Split:
    ground = fabric(task.fabric)
    gpus = [node.allocatable.gpus for node in ground.nodes.values()]
    trace = trace_named(task.trace)
    if task.days is not None:
        trace = trace.busiest(task.days * DAY)
    trace = trace.sized(task.sizes, max(gpus))
    train, later = parted(trace, task.held_out)
    return Split(
        _dealt(train, ground, task, sum(gpus)),
        _dealt(later, ground, task, sum(gpus)),
        _window(train, "first"),
        _window(later, "last"),
    )


def parted(trace: Trace, held_out: float) -> tuple[Trace, Trace]:
    """The trace before and from the arrival with which the last `held_out` of its gangs begin.

    Raises `TooLittle` where that leaves a part without two gangs.
    """
    jobs = trace.jobs
    cut = min(len(jobs) - 1, max(0, round(len(jobs) * (1 - held_out))))
    at = jobs[cut].arrival if jobs else 0
    parts = trace.window(0, at), trace.window(at, trace.span + 1 - at)
    if min(len(part.jobs) for part in parts) < 2:
        raise TooLittle(f"{len(jobs)} gangs are too few to hold {held_out:.0%} of them out")
    return parts


def _dealt(part: Trace, ground: Fabric, task: TuningTask, gpus: int) -> tuple[Case, ...]:
    found = []
    for deal in range(task.deals):
        trace = part.shuffled(deal)
        if task.load is not None:
            try:
                trace = trace.at_load(task.load / 100, gpus)
            except ValueError as error:
                raise TooLittle(f"{error} with {len(part.jobs)} gangs") from error
        found.append(Case(trace, ground))
    return tuple(found)


def _of_snapshots(task: TuningTask) -> Split:
    """One case for each snapshot; gangs of one arrive all at once, so that no deal changes it."""
    count = len(task.snapshots)
    later = min(count - 1, max(1, round(count * task.held_out)))
    if count < 2:
        raise TooLittle("one snapshot cannot be both learnt from and held out")
    readings = [read(open_paths([path])) for path in task.snapshots]
    cases = [
        _of_snapshot(path, reading.snapshot, task.duration)
        for path, reading in zip(task.snapshots, readings, strict=True)
    ]
    problems = (one for reading in readings for one in reading.problems)
    return Split(
        tuple(cases[:-later]),
        tuple(cases[-later:]),
        ", ".join(task.snapshots[:-later]),
        ", ".join(task.snapshots[-later:]),
        tuple(one for one in problems if one.is_error),
    )


def _of_snapshot(path: str, snapshot: Snapshot, duration: int) -> Case:
    trace = trace_of(snapshot, duration)
    if not trace.jobs or not snapshot.fabric.leaves:
        raise TooLittle(f"{path} holds no gang that waits, or no node")
    return Case(replace(trace, source=f"{path}: {trace.source}"), snapshot.fabric)


def _window(part: Trace, which: str) -> str:
    return f"the {which} {len(part.jobs)} gangs, {part.span} s of arrivals"
