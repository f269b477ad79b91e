"""From look to look: what has come, gone and changed, as lines; and all that is there, anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from fourleaf.model.gang import GangKey
from fourleaf.simulator.recording.lines import (
    FORMAT,
    GangShape,
    GangShapeLine,
    HeadLine,
    LeavesLine,
    Line,
    NodeLine,
    RecordedState,
    RunLine,
    SeenLine,
    StateLine,
    StopLine,
    StopReason,
)
from fourleaf.simulator.recording.look import Look, Phases, SeenGang

SUCCEEDED, FAILED = "Succeeded", "Failed"


@dataclass(frozen=True, slots=True)
class OpenGang:
    """A gang that has not ended: its number, what it asks for, and since when it runs, if it does.

    `ran` are the seconds that it ran before; `pods` the names of those that run.
    """

    number: int
    key: GangKey
    created: float
    shape: GangShape
    ran: float = 0.0
    since: float | None = None
    nodes: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()


@dataclass(slots=True)
class Followed:
    """What was there at the last look: as much as the cluster holds, and no more.

    `take` applies lines that were written, so that a recording goes on where it ended.
    """

    at: float = 0.0
    leaves: LeavesLine | None = None
    nodes: dict[str, NodeLine] = field(default_factory=dict)
    states: dict[str, RecordedState] = field(default_factory=dict)
    gangs: dict[GangKey, OpenGang] = field(default_factory=dict)
    numbers: dict[int, GangKey] = field(default_factory=dict)
    next_number: int = 0

    @property
    def looked(self) -> bool:
        """Whether there has been a look."""
        return self.leaves is not None

    def everything(self, at: float, after: float | None = None) -> Iterator[Line]:
        """The lines with which a file begins at `at`: the head, and all that was there."""
        yield HeadLine(format=FORMAT, at=at, after=after)
        if self.leaves is not None:
            yield self.leaves.model_copy(update={"at": at})
        for name, node in self.nodes.items():
            yield node.model_copy(update={"at": at})
            if self.states[name] is not RecordedState.READY:
                yield StateLine(at=at, node=name, state=self.states[name])
        for one in self.gangs.values():
            yield _gang_line(one, at)
            if one.since is not None:
                yield RunLine(at=one.since, gang=one.number, nodes=one.nodes)

    def changes(self, look: Look, phases: Phases) -> Iterator[Line]:
        """What is other at `look` than before; to be taken line by line, as it is written.

        `phases` says how pods have ended that are still there.
        """
        if self.leaves is None or _other(self.leaves, look.leaves):
            yield look.leaves.model_copy(update={"at": look.at})
        for name in [name for name in self.nodes if name not in look.nodes]:
            yield StateLine(at=look.at, node=name, state=RecordedState.GONE)
        for name, (node, state) in look.nodes.items():
            known = self.nodes.get(name)
            # The same object where the fabric has not changed.
            if known is None or (known is not node and _other(known, node)):
                yield node if node.at == look.at else node.model_copy(update={"at": look.at})
            if self.states.get(name, RecordedState.READY) is not state:
                yield StateLine(at=look.at, node=name, state=state)
        for one in [one for key, one in self.gangs.items() if key not in look.gangs]:
            yield StopLine(at=look.at, gang=one.number, why=_why(one, phases))
        for key, seen in look.gangs.items():
            yield from self._of_gang(key, seen, look.at)

    def _of_gang(self, key: GangKey, seen: SeenGang, at: float) -> Iterator[Line]:
        one = self.gangs.get(key)
        if one is None or one.shape != seen.shape:
            number = self.next_number if one is None else one.number
            created = seen.created if one is None else one.created
            one = OpenGang(number, key, created, seen.shape, 0.0 if one is None else one.ran)
            yield _gang_line(one, at)
        known = self.gangs[key]
        nodes = tuple(node for _, node in seen.seats)
        if seen.seats and (known.since is None or sorted(known.nodes) != sorted(nodes)):
            yield RunLine(at=self._since(known, seen, at), gang=known.number, nodes=nodes)
        elif not seen.seats and known.since is not None:
            yield StopLine(at=at, gang=known.number, why=StopReason.WAITS)
        self.gangs[key] = replace(self.gangs[key], pods=tuple(pod for pod, _ in seen.seats))

    def _since(self, known: OpenGang, seen: SeenGang, at: float) -> float:
        """When it began to run: as its pods say, where that was after the last look."""
        if known.since is not None:
            return known.since
        late = seen.started is None or (self.looked and seen.started < self.at)
        return at if late or seen.started is None else min(seen.started, at)

    def take(self, line: Line) -> None:
        """Take in a line that was written. Raises `ValueError` where it does not follow."""
        match line:
            case HeadLine():
                self.nodes, self.states, self.gangs, self.numbers = {}, {}, {}, {}
                self.at = max(self.at, line.at)
            case LeavesLine():
                self.leaves = line
            case NodeLine():
                self.nodes[line.name] = line
                self.states.setdefault(line.name, RecordedState.READY)
            case StateLine(state=RecordedState.GONE):
                self.nodes.pop(line.node, None)
                self.states.pop(line.node, None)
            case StateLine():
                self.states[line.node] = line.state
            case GangShapeLine():
                self._take_gang(line)
            case RunLine():
                one = self._numbered(line.gang)
                self.gangs[one.key] = replace(one, since=line.at, nodes=line.nodes)
            case StopLine(why=StopReason.WAITS):
                one = self._numbered(line.gang)
                ran = one.ran + max(0.0, line.at - (line.at if one.since is None else one.since))
                self.gangs[one.key] = replace(one, ran=ran, since=None, nodes=(), pods=())
            case StopLine():
                del self.gangs[self._numbered(line.gang).key], self.numbers[line.gang]
            case SeenLine():
                pass
        if not isinstance(line, RunLine):
            self.at = max(self.at, line.at)

    def _take_gang(self, line: GangShapeLine) -> None:
        key = GangKey(line.namespace, line.name)
        known = self.gangs.get(key)
        if known is not None and known.number == line.gang:
            self.gangs[key] = replace(known, shape=line.shape)
        else:
            self.gangs[key] = OpenGang(line.gang, key, line.created, line.shape, line.ran)
            self.numbers[line.gang] = key
        self.next_number = max(self.next_number, line.gang + 1)

    def _numbered(self, number: int) -> OpenGang:
        try:
            return self.gangs[self.numbers[number]]
        except KeyError:
            raise ValueError(f"no gang has the number {number}") from None


def _gang_line(one: OpenGang, at: float) -> GangShapeLine:
    return GangShapeLine(
        at=at, gang=one.number, namespace=one.key.namespace, name=one.key.name,
        created=one.created, shape=one.shape, ran=one.ran,
    )  # fmt: skip


def _other(known: LeavesLine | NodeLine, now: LeavesLine | NodeLine) -> bool:
    return known.model_copy(update={"at": now.at}) != now


def _why(one: OpenGang, phases: Phases) -> StopReason:
    """How a gang ended that is no longer there, as its pods say that still are."""
    found = {phases.get((one.key.namespace, pod)) for pod in one.pods}
    if FAILED in found:
        return StopReason.FAILED
    return StopReason.SUCCEEDED if SUCCEEDED in found else StopReason.GONE
