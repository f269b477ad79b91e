"""What is unwell: nodes, what cannot be read, components, and a scheduler that is late."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fourleaf.dashboard.cycles import CyclesView
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.views.components import component_lines
from fourleaf.dashboard.views.queue import QueueEntry
from fourleaf.dashboard.views.unwell_line import MOST_NAMED, UnwellLine
from fourleaf.model.documents.queue import NOT_SEEN
from fourleaf.model.problems import Problem, brief
from fourleaf.model.reasons.text import counted, listed
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.topology import natural_key

MOST_PROBLEMS_TOLD = 5
"""Problems that are told one by one."""
LATE_SECONDS = 60.0
"""Seconds after which a gang without a word of any scheduler says that the scheduler is late."""


def unwell_lines(
    moment: ClusterMoment, live: bool, queue: Iterable[QueueEntry], cycles: CyclesView | None
) -> tuple[UnwellLine, ...]:
    """All that is unwell, what is grave first. `cycles` is None where no scheduler is asked."""
    lines = [
        *_scheduler(cycles),
        *(_late(queue) if live else ()),
        *component_lines(moment),
        *_unsynced(moment),
        *_nodes(moment),
        *_problems(moment.problems),
    ]
    return tuple(sorted(lines, key=lambda one: not one.grave))


def _scheduler(cycles: CyclesView | None) -> Iterator[UnwellLine]:
    if cycles is None:
        return
    if not cycles.source:
        why = brief("; ".join(cycles.unknown)) or "no replica answers"
        yield UnwellLine(text=f"The scheduler does not tell of its cycles: {why}")
    elif not cycles.leader:
        text = "No replica of the scheduler that was asked leads."
        yield UnwellLine(text=text, advice="See the Lease fourleaf-scheduler, and its pods' logs.")


def _late(queue: Iterable[QueueEntry]) -> Iterator[UnwellLine]:
    silent = [
        one
        for one in queue
        if one.message == NOT_SEEN and not one.reason and one.waited_seconds > LATE_SECONDS
    ]
    if silent:
        text = (
            f"The scheduler is late: it has said nothing yet of {counted(len(silent), 'gang')}, "
            f"the oldest of which waits for {max(one.waited_seconds for one in silent)} s"
        )
        yield UnwellLine(text=text, advice="See `fourleaf status`, and the cycles.")


def _unsynced(moment: ClusterMoment) -> Iterator[UnwellLine]:
    if moment.unsynced:
        yield UnwellLine(text=f"Not up to date here: {', '.join(moment.unsynced)}")


def _nodes(moment: ClusterMoment) -> Iterator[UnwellLine]:
    nodes = moment.snapshot.fabric.nodes.values()
    lost = frozenset(one.name for one in nodes if not one.ready)
    yield from _named("not ready", lost, advice=_who_is_there(moment.snapshot, lost))
    held: dict[str, list[str]] = {}
    for node in nodes:
        if node.held_back and node.ready:
            held.setdefault(brief(node.held_back), []).append(node.name)
    found = sorted(held.items(), key=lambda one: -len(one[1]))
    for why, names in found[:MOST_PROBLEMS_TOLD]:
        yield from _named(f"held back, {why}", names)
    rest = [name for _, names in found[MOST_PROBLEMS_TOLD:] for name in names]
    yield from _named("held back for other reasons", rest)
    cordoned = [one.name for one in nodes if one.cordoned and one.ready and not one.held_back]
    yield from _named("cordoned", cordoned, grave=False)
    refused = moment.snapshot.fabric.refused
    yield from _named("without a leaf, which the config refuses", refused, pages=False)


def _who_is_there(snapshot: Snapshot, nodes: frozenset[str]) -> str:
    """Which of our gangs have pods on these nodes, and where to ask what becomes of them."""
    running = snapshot.running
    gangs = sorted(
        {str(pod.gang) for pod in running if pod.ours and pod.gang and pod.node in nodes}
    )
    if not gangs:
        return ""
    return f"Pods there are of {listed(list(map(brief, gangs)))}: see `fourleaf why GANG`."


def _named(
    what: str, names: Iterable[str], grave: bool = True, pages: bool = True, advice: str = ""
) -> Iterator[UnwellLine]:
    every = sorted(names, key=natural_key)
    if not every:
        return
    verb = "is" if len(every) == 1 else "are"
    text = f"{counted(len(every), 'node')} {verb} {what}"
    if not pages:
        text += f": {', '.join(map(brief, every[:MOST_NAMED]))}"
    shown = tuple(every[:MOST_NAMED]) if pages else ()
    more = max(0, len(every) - MOST_NAMED)
    yield UnwellLine(text=text, advice=advice, nodes=shown, more=more, grave=grave)


def _problems(problems: Iterable[Problem]) -> Iterator[UnwellLine]:
    """What readers found: of the fabric and the config first, then errors of single objects."""
    every = sorted(problems, key=lambda one: (bool(one.object), not one.is_error))
    for one in every[:MOST_PROBLEMS_TOLD]:
        about = " ".join(part for part in (one.object or one.source, one.field, one.value) if part)
        yield UnwellLine(
            text=brief(f"{about}: {one.message}"), advice=brief(one.advice), grave=one.is_error
        )
    if len(every) > MOST_PROBLEMS_TOLD:
        more = len(every) - MOST_PROBLEMS_TOLD
        yield UnwellLine(
            text=f"{more} more problems were found in what is read",
            advice="`fourleaf plan --live` names each.",
            grave=False,
        )
