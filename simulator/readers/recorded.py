"""What `fourleaf record` wrote, as a trace and the fabric that it was recorded on."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import MOST_MEMBERS, Gang, GangKey, Role
from fourleaf.model.node import Node
from fourleaf.model.topology import natural_key
from fourleaf.simulator.readers.folder import NoData
from fourleaf.simulator.recording.files import BadRecording, files_of, lines_of
from fourleaf.simulator.recording.lines import (
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
from fourleaf.simulator.trace import DAY, Job, Trace, by_arrival

BUNDLED = Path(__file__).parent / "bundled.jsonl"
"""A recording that is shipped, so that there is something to replay without a download."""


@dataclass(slots=True)
class RecordedGang:
    """One gang of a recording; times in seconds since the epoch.

    `ran` is how long it has run within the recording, `since` when its run began if it runs.
    `before` is how long it had run when the recording began.
    """

    key: GangKey
    arrived: float
    shape: GangShape
    ran: float = 0.0
    before: float = 0.0
    since: float | None = None
    why: StopReason | None = None
    unseen: bool = False

    @property
    def has_run(self) -> bool:
        """Whether it was seen to run."""
        return self.ran > 0 or self.since is not None


@dataclass(slots=True)
class Recording:
    """All that the lines of a recording say: from `began` until `at`."""

    began: float | None = None
    at: float = 0.0
    gangs: dict[int, RecordedGang] = field(default_factory=dict)
    leaves: LeavesLine | None = None
    nodes: dict[str, NodeLine] = field(default_factory=dict)
    states: dict[str, RecordedState] = field(default_factory=dict)
    failures: int = 0
    _head: HeadLine | None = None

    def take(self, line: Line) -> None:
        """Take in the next line. Raises `ValueError` where it does not follow."""
        match line:
            case HeadLine():
                self.began = line.at if self.began is None else self.began
                self._head, self.nodes = line, {}
            case LeavesLine():
                self.leaves = line
            case NodeLine():
                self.nodes[line.name] = line
            case StateLine():
                self._take_state(line)
            case GangShapeLine():
                self._take_gang(line)
            case RunLine():
                one = self._numbered(line.gang)
                if one.since is None:
                    one.since = max(line.at, self.began or 0.0)
                    one.before += max(0.0, one.since - line.at)
            case StopLine():
                self._stop(line)
            case SeenLine():
                pass
        if not isinstance(line, RunLine):
            self.at = max(self.at, line.at)

    def _take_state(self, line: StateLine) -> None:
        known = self.states.get(line.node, RecordedState.READY)
        # A node that is not ready when recording begins may have been so for long.
        fails = line.state is RecordedState.NOT_READY and line.at != self.began
        self.failures += fails and known is not RecordedState.NOT_READY
        self.states[line.node] = line.state
        if line.state is RecordedState.GONE:
            self.nodes.pop(line.node, None)

    def _take_gang(self, line: GangShapeLine) -> None:
        one = self.gangs.get(line.gang)
        if one is None:
            arrived = max(line.created, self.began or 0.0)
            key = GangKey(line.namespace, line.name)
            self.gangs[line.gang] = RecordedGang(key, arrived, line.shape, before=line.ran)
        else:
            one.shape = line.shape

    def _stop(self, line: StopLine) -> None:
        one = self._numbered(line.gang)
        head = self._head
        at = line.at
        if head is not None and head.after is not None and line.at <= head.at:
            # Nothing was recorded when it ended: it ran for as long as it was seen to.
            at, one.unseen = head.after, line.why is not StopReason.WAITS
        if one.since is not None:
            one.ran += max(0.0, at - one.since)
        one.since = None
        one.why = None if line.why is StopReason.WAITS else line.why

    def _numbered(self, number: int) -> RecordedGang:
        try:
            return self.gangs[number]
        except KeyError:
            raise ValueError(f"no gang has the number {number}") from None


def recording(path: Path) -> Recording:
    """What the folder or file at `path` holds.

    Raises `NoData` where there is nothing, or nothing that can be read.
    """
    files = files_of(path) if path.is_dir() else [path]
    if not files:
        raise NoData(f"{path} holds no recording.\nName a folder of `fourleaf record`.")
    found = Recording()
    try:
        for file in files:
            for line in lines_of(file):
                found.take(line)
    except BadRecording as error:
        raise NoData(str(error)) from error
    except ValueError as error:
        raise NoData(f"{path}: {error}.\nName a folder of `fourleaf record`.") from error
    if found.began is None or not found.nodes:
        raise NoData(f"{path} holds no node.\nLet `fourleaf record` run for longer.")
    return found


def trace_of(found: Recording, name: str) -> Trace:
    """The gangs of a recording, those that ran or waited when it began arriving at its start.

    A gang that had not ended runs for as long as it said, or as it was seen to. Those that were
    never seen to run, and said nothing, are left out, and so is what is too large for a gang.
    """
    began = found.began or 0.0
    jobs: list[Job] = []
    taken: Counter[GangKey] = Counter()
    left_out = unended = 0
    for one in found.gangs.values():
        seconds = _seconds(one, found.at)
        if seconds is None or sum(role.pods for role in one.shape.roles) > MOST_MEMBERS:
            left_out += 1
            continue
        unended += one.why is None or one.unseen
        taken[one.key] += 1
        again = f" ({taken[one.key]})" if taken[one.key] > 1 else ""
        jobs.append(_job(one, f"{one.key.name}{again}", round(one.arrived - began), seconds))
    return Trace(name, _source(found, len(jobs), unended, left_out), by_arrival(jobs))


def _source(found: Recording, jobs: int, unended: int, left_out: int) -> str:
    days = max(1.0, found.at - (found.began or 0.0)) / DAY
    said = [f"a recording of {days:.2f} days: {jobs} gangs on {len(found.nodes)} nodes"]
    if unended:
        said.append(f"{unended} of unknown end run as long as they said or were seen to")
    if left_out:
        said.append(f"{left_out} left out, which never ran and said no duration, or are too large")
    if found.failures:
        rate = found.failures / (days * len(found.nodes)) * 1000
        said.append(f"nodes failed {found.failures} times, {rate:.1f} per 1000 node-days")
    return "; ".join(said)


def _seconds(one: RecordedGang, until: float) -> int | None:
    """How long a gang runs in a replay; None where nothing is known of that."""
    running = 0.0 if one.since is None else max(0.0, until - one.since)
    ran = one.ran + running
    if one.why is None or one.unseen:
        ran = max(ran, (one.shape.duration or 0.0) - one.before)
        return max(1, round(ran)) if ran or one.has_run else None
    return max(1, round(ran)) if one.has_run else None


def _job(one: RecordedGang, name: str, arrival: int, seconds: int) -> Job:
    shape, roles, first = one.shape, [], 0
    for role in shape.roles:
        pods = tuple(f"{name}-{i}" for i in range(first, first + role.pods))
        roles.append(Role(pods, role.request.resources, role.constraint))
        first += role.pods
    gang = Gang(
        GangKey(one.key.namespace, name),
        tuple(roles),
        shape.priority,
        0.0,
        shape.strategy,
        shape.policy,
        shape.preferred_domain,
        shape.latency_sensitive,
        shape.bandwidth,
        shape.one_per_node,
        preempts=shape.preempts,
    )
    return Job(str(gang.key), arrival, seconds, first, 0, gang=gang)


def fabric_of(found: Recording) -> Fabric:
    """The nodes that were there at the end, all ready, under the leaves of then."""
    told = found.leaves
    if told is None:
        return Fabric(())
    under: dict[str, list[NodeLine]] = defaultdict(list)
    for line in sorted(found.nodes.values(), key=lambda line: natural_key(line.name)):
        under[line.leaf].append(line)
    leaves: list[Leaf] = []
    for name, spine, uplink in told.leaves:
        # A leaf that is named twice has its nodes once.
        nodes = tuple(_node(line, spine) for line in under.pop(name, ()))
        leaves += [Leaf(name, spine, nodes, uplink)] if nodes else []
    unlabelled = frozenset(told.unlabelled) & found.nodes.keys()
    return Fabric(tuple(leaves), told.adjacency, _edges(told.edges, leaves), unlabelled)


def _edges(edges: Iterable[tuple[str, str]], leaves: Sequence[Leaf]) -> frozenset[tuple[str, str]]:
    names = {leaf.name for leaf in leaves}
    return frozenset(edge for edge in edges if names.issuperset(edge))


def _node(line: NodeLine, spine: str) -> Node:
    offer = line.offer.resources
    return Node(
        line.name, line.leaf, spine, offer, line.product, line.bandwidth,
        labels=line.labels, taints=line.taints,
    )  # fmt: skip
