"""Law: the pods on a node find sets of devices that meet what they demand, none shared.

Pods that demand the same are counted together: as many as find theirs at once. Where the
demands differ, the node holds any mix that is within one of its *patterns*, the greatest mixes
that find theirs; the node chooses one of them. Pods that demand nothing but a number take what
is left, so the sum of GPUs is enough for them. Pods that stand and may stay have devices already
and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fourleaf.model.devices.choice import Ask
from fourleaf.model.devices.free import FreeDevices
from fourleaf.model.resources import free_devices
from fourleaf.solver.cpsat.demand import Demand, NodeClass
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.instance.cycle_state import CycleState

MOST_PATTERNS = 512
"""Patterns of a node that are looked at; with more, some mixes that would fit are passed over."""


def add_devices(
    program: Program, state: CycleState, node_class: NodeClass, demands: Sequence[Demand]
) -> None:
    """Rows for demands on the devices of a node class, which is one node where there are any."""
    by_ask: dict[Ask, Terms] = {}
    for demand in demands:
        if demand.request.wants is not None and not demand.kept:
            by_ask.setdefault((demand.request.gpus, demand.request.wants), []).extend(demand.terms)
    if not by_ask:
        return
    free = free_devices(state.free[node_class.node])
    asks = list(by_ask)
    most = [free.holds(count, wants) for count, wants in asks if wants is not None]
    for terms, pods in zip(by_ask.values(), most, strict=True):
        program.at_most(terms, pods)
    if len(asks) == 1 or _find_theirs(free, asks, most):
        return
    patterns = list(_patterns(free, asks, most))
    choice = [program.variable(1) for _ in patterns]
    program.at_most([(1, chosen) for chosen in choice], 1)
    for position, terms in enumerate(by_ask.values()):
        room = [
            (-pattern[position], chosen)
            for pattern, chosen in zip(patterns, choice, strict=True)
            if pattern[position]
        ]
        program.at_most([*terms, *room], 0)


def _find_theirs(free: FreeDevices, asks: Sequence[Ask], pods: Sequence[int]) -> bool:
    wanted = [ask for ask, count in zip(asks, pods, strict=True) for _ in range(count)]
    return free.shared_out(wanted) is not None


def _patterns(
    free: FreeDevices, asks: Sequence[Ask], most: Sequence[int]
) -> Iterator[tuple[int, ...]]:
    """The greatest mixes of pods that find their devices."""
    found: list[tuple[int, ...]] = []
    for mix in _mixes(free, asks, most, ()):
        if len(found) == MOST_PATTERNS:
            break
        if not any(all(a <= b for a, b in zip(mix, other, strict=True)) for other in found):
            found.append(mix)
    yield from found


def _mixes(
    free: FreeDevices, asks: Sequence[Ask], most: Sequence[int], begun: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Mixes in descending order, so that a mix comes after all that are greater than it."""
    position = len(begun)
    if position == len(asks):
        yield begun
        return
    for pods in range(most[position], -1, -1):
        mix = (*begun, pods)
        if _find_theirs(free, asks[: position + 1], mix):
            yield from _mixes(free, asks, most, mix)
