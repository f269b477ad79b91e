"""From turns to the rows that are printed."""

from __future__ import annotations

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from benchmarks.throughput.bare import Bare
from benchmarks.throughput.contenders import COUNTED
from benchmarks.throughput.turn import Turn


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that `share` of them do not exceed; NaN of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def rows(turns: Mapping[str, Sequence[Turn]], bares: Sequence[Bare]) -> list[list[str]]:
    """One row a figure, one column a contender: medians of its turns, breaches of all."""
    table = [[name, *(figure(each) for each in turns.values())] for name, figure in FIGURES.items()]
    if bares:
        rate = statistics.median(one.rate for one in bares)
        for name, of in (
            ("share of bare bindings' rate, from the first create", _rate),
            ("share of bare bindings' rate, from the last create", _late_rate),
        ):
            shares = (
                statistics.median(of(turn) for turn in each) / rate for each in turns.values()
            )
            table.append([name, *(f"{share:.0%}" for share in shares)])
    if len(turns) > 1:
        rates = [statistics.median(_rate(turn) for turn in each) for each in turns.values()]
        table.append(["rate, times native's", *(f"{rate / rates[-1]:.1f}" for rate in rates)])
    return table


def wait_rows(turns: Mapping[str, Sequence[Turn]]) -> list[list[str]]:
    """Percentiles of the seconds from created to bound, one row a size of gang."""
    table = []
    sizes = sorted({size for each in turns.values() for turn in each for size in turn.waits})
    for size in sizes:
        row = [str(size)]
        for each in turns.values():
            waits = [wait for turn in each for wait in turn.waits.get(size, ())]
            row.append(" / ".join(f"{percentile(waits, share):.2f}" for share in (0.5, 0.9, 0.99)))
        table.append(row)
    return table


def request_rows(turns: Mapping[str, Sequence[Turn]]) -> list[list[str]]:
    """Requests by kind, the most frequent first; what is rarer than one in 100 pods is left out."""
    totals = {
        name: sum((turn.requests for turn in each), Counter[str]()) for name, each in turns.items()
    }
    pods = {name: sum(turn.pods for turn in each) or 1 for name, each in turns.items()}
    kinds = sum(totals.values(), Counter[str]())
    return [
        [kind, *(f"{totals[name][kind] / pods[name]:.2f}" for name in turns)]
        for kind, _ in kinds.most_common()
        if any(totals[name][kind] >= 0.01 * pods[name] for name in turns)
    ]


def phase_rows(turns: Sequence[Turn]) -> list[list[str]]:
    """Seconds of each phase of all cycles, and counts; `between` is what no cycle took."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for turn in turns:
        for phase, seconds in turn.phases.items():
            found[phase].append(seconds)
        cycles = sum(value for phase, value in turn.phases.items() if phase not in COUNTED)
        found["between"].append(turn.bound - cycles)
    return [
        [phase, format(statistics.median(values), ".0f" if phase in COUNTED else ".2f")]
        for phase, values in found.items()
    ]


def _rate(turn: Turn) -> float:
    return turn.pods / turn.bound if turn.bound else 0.0


def _late_rate(turn: Turn) -> float:
    late = turn.bound - turn.created
    return turn.pods / late if late > 0 else math.inf


def _median(of: Callable[[Turn], float], form: str) -> Callable[[Sequence[Turn]], str]:
    return lambda turns: format(statistics.median(of(turn) for turn in turns), form)


def _count(of: Callable[[Turn], Sequence[str]]) -> Callable[[Sequence[Turn]], str]:
    return lambda turns: str(sum(len(of(turn)) for turn in turns))


def _all(turns: Sequence[Turn]) -> str:
    return " ".join(f"{turn.bound:.2f}" for turn in turns)


def _memory(turns: Sequence[Turn]) -> str:
    worst = max(turns, key=lambda turn: sum(turn.memory))
    parts = " + ".join(f"{one:.0f}" for one in worst.memory)
    return f"{sum(worst.memory):.0f} ({parts})" if len(worst.memory) > 1 else parts


FIGURES: dict[str, Callable[[Sequence[Turn]], str]] = {
    "s, first create to last binding": _median(lambda turn: turn.bound, ".2f"),
    "of each run": _all,
    "s, first create to last create": _median(lambda turn: turn.created, ".2f"),
    "s, last create to last binding": _median(lambda turn: turn.bound - turn.created, ".2f"),
    "pods/s": _median(_rate, ".0f"),
    "gangs/s": _median(
        lambda turn: (turn.gangs - len(turn.verdict.left_out)) / (turn.bound or math.inf), ".1f"
    ),
    "requests a pod": _median(lambda turn: turn.requests.total() / (turn.pods or 1), ".2f"),
    "KiB on the wire a pod": _median(lambda turn: turn.wire / 1024 / (turn.pods or 1), ".1f"),
    "CPU s of the scheduler": _median(lambda turn: turn.cpu, ".2f"),
    "CPU s of etcd, API server and this program": _median(lambda turn: turn.rest_cpu, ".2f"),
    "cores busy with something else": _median(
        lambda turn: turn.others_cpu / (turn.bound or math.inf), ".2f"
    ),
    "peak MiB": _memory,
    "gangs left out": _count(lambda turn: turn.verdict.left_out),
    "gangs in part": _count(lambda turn: turn.verdict.partial),
    "gangs in wrong leaves": _count(lambda turn: turn.verdict.wrong_leaves),
    "devices held twice": _count(lambda turn: turn.verdict.shared_devices),
    "nodes oversubscribed": _count(lambda turn: turn.verdict.oversubscribed),
}
