"""Whether every GPU-second was used, free or failed, counted anew from the journal.

It shares nothing with the books: they add up as time goes on, over the whole cluster; this goes
node by node over what happened there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from fourleaf.simulator.gpu_seconds import GpuSeconds
from fourleaf.simulator.journal import Stretch


class NotConserved(Exception):
    """GPU-seconds were won or lost. The message names each place."""


def check(
    capacity: Mapping[str, int], stretches: Iterable[Stretch], seconds: int, totals: GpuSeconds
) -> None:
    """Raise `NotConserved` unless journal and books tell the same, and nothing impossible.

    `capacity` are the GPUs of each node, `seconds` the length of the replay.
    """
    faults = list(_faults(capacity, list(stretches), seconds, totals))
    if faults:
        raise NotConserved("\n".join(faults[:10]))


def _faults(
    capacity: Mapping[str, int], stretches: list[Stretch], seconds: int, totals: GpuSeconds
) -> Iterator[str]:
    on_node: dict[str, list[Stretch]] = defaultdict(list)
    used = failed = 0
    for one in stretches:
        if not 0 <= one.start <= one.end <= seconds:
            yield f"{one.node}: {one.pod or 'outage'} lasts from {one.start} to {one.end}"
        on_node[one.node].append(one)
        amount = one.gpus * (one.end - one.start)
        if one.pod:
            used += amount
        else:
            failed += amount
    for node, here in on_node.items():
        if node not in capacity:
            yield f"{node}: is no node of the fabric"
        else:
            yield from _node_faults(node, capacity[node], here)
    free = sum(capacity.values()) * seconds - used - failed
    for name, counted, booked in (
        ("used", used, totals.used),
        ("failed", failed, totals.failed),
        ("free", free, totals.free),
    ):
        if counted != booked:
            yield f"{booked} GPU-seconds are booked as {name}, the journal has {counted}"


def _node_faults(node: str, gpus: int, stretches: list[Stretch]) -> Iterator[str]:
    """Go through the moments of one node: ends before beginnings."""
    steps = [(one.end, 0, -one.gpus, one.pod) for one in stretches if one.end > one.start]
    steps += [(one.start, 1, one.gpus, one.pod) for one in stretches if one.end > one.start]
    held = out = 0
    for at, _, change, pod in sorted(steps):
        if pod:
            held += change
        else:
            out += change
        if held + out > gpus:
            yield f"{node}: {held} GPUs are held and {out} failed at {at}, it has {gpus}"
            return
