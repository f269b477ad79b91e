"""Each eviction serves somebody: judged when what asked for it is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass, field

from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    COSCHEDULING_POD_GROUPS,
    DISRUPTION_BUDGETS,
    LEASES,
    NODES,
    PODS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange, StoredObject
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.names import COMMIT, RECORD
from fourleaf.k8s_bridge.ledger.pods import PodSeen, pod_seen
from fourleaf.k8s_bridge.ledger.records import Member, Phase
from fourleaf.k8s_bridge.relocation.ages import OVERDUE_END_SECONDS, USUAL_GRACE_SECONDS
from fourleaf.k8s_bridge.relocation.codec import RELOCATION, read_relocation
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation
from fourleaf.model.config.relocation import Repair
from fourleaf.model.gang import GangKey
from tests.simulation.controllers.owner import KINDS
from tests.simulation.jobs import job_name
from tests.simulation.laws.records import Books
from tests.simulation.store import WatchedStore
from tests.simulation.story import Story

LAW = "an eviction serves somebody"
CONFIG = "config"
"""What counts as disturbed once the config has changed."""
PLACES_LIMIT = Repair().places_limit_seconds
"""Seconds for which places are kept while a Job is to make pods."""
BUDGETS = "budgets"
"""What counts as disturbed once somebody has made, changed or deleted a disruption budget."""


def gang_of(name: str) -> str:
    """What counts as disturbed once somebody has meddled with the job of that pod or gang."""
    return f"gang {job_name(name)}"


def node_of(name: str) -> str:
    """What counts as disturbed once somebody has meddled with that node."""
    return f"node {name}"


@dataclass(slots=True, eq=False)
class _Case:
    """A relocation since it was `opened`, on the true clock, and when pods were evicted for it.

    `commit` has put its gang onto its seats, "" before. `overtaken` by a commit of another gang
    onto them that a cycle had begun before.
    """

    one: Relocation
    opened: float
    evicted: dict[str, float] = field(default_factory=dict)
    commit: str = ""
    overtaken: str = ""


class Evictions:
    """Law: each eviction has served by the time that everything is at rest.

    - Of a relocation with seats: a commit has put its gang, or what its owner has made in its
      place, onto all of its seats, and has bound them.
    - Of one that makes room to move: a repair of its gang has come that wants a place of it, and
      has served.
    - Each gang that makes way for another stood on a node where that one has a seat.
    - Of a restart: every member has gone, none is left of half a gang.
    - Of a commit that goes back: a member of it stood elsewhere, or nowhere, so that the gang
      was not whole.

    One that has not served is excused where no scheduler decides what came between. Since the
    relocation was written,

    - a user has deleted, ended, changed or bound a member of the gang, changed its PodGroup, or
      deleted its owner, which may be between two pods;
    - the API has refused a binding of it, or the eviction of a pod that was to go, and had not
      said so before, in a dry run or otherwise;
    - a node with a seat has changed or has lost power, or another scheduler has put a pod there;
    - the config, or a disruption budget, has changed.

    And for these: a node with a seat has no power, and is not found dead yet; a pod takes longer
    to end, or a watch of pods is silent for longer, than places are kept (`placesSeconds`, and
    `placesLimitSeconds` where a Job makes the pods, which `backs_off` for longer than the former);
    a cycle that began before the relocation was written has committed others to its seats.

    Lost pods, whose node is dead, run nowhere, and need no excuse. Crashes, old lists, lost
    answers and slow requests are none.
    """

    def __init__(
        self,
        story: Story,
        books: Books,
        store: WatchedStore,
        powerless: Container[str],
        backs_off: Callable[[str], bool],
    ) -> None:
        self._backs_off = backs_off
        self._powerless = powerless
        self._story = story
        self._books = books
        self._store = store
        self._open: dict[GangKey, _Case] = {}
        self._made: dict[GangKey, _Case] = {}
        """Gang -> what has made room for a repair that is to come."""
        self._promised: list[_Case] = []
        self._disturbed: dict[str, float] = {}
        self._bound: Counter[str] = Counter()
        self._told: set[str] = set()
        self._deaf = 0.0
        self._members: dict[str, tuple[Member, ...]] = {}
        self._under_way: dict[GangKey, float] = {}

    def disturbed(self, what: str) -> None:
        """Something has happened that no scheduler decides."""
        self._disturbed[what] = self._story.clock.monotonic()

    def refused(self, subresource: str, pod: str, dry_run: bool) -> None:
        """The API has refused a binding or an eviction of the pod, or a dry run of it.

        Who asks is told before, by the dry run, and so a refusal counts from the first one on.
        """
        what = f"{subresource} of {pod}"
        if not dry_run and what not in self._told:
            self.disturbed(what)
        self._told.add(what)

    def on_change(self, kind: Kind, change: StoredChange) -> None:
        """Take one write, after `Books` have."""
        one = change.after or change.before
        assert one is not None
        if kind is LEASES and one.labels.get(RECORD) == RELOCATION:
            self._see_relocation(change)
        elif kind is PODS:
            self._see_pod(change)
        elif self._store.writer:
            return
        elif kind is NODES:
            self.disturbed(node_of(one.metadata["name"]))
        elif kind is CONFIG_MAPS:
            self.disturbed(CONFIG)
        elif kind is COSCHEDULING_POD_GROUPS or (change.after is None and _owns_gang(kind, one)):
            self.disturbed(gang_of(one.metadata["name"]))
        elif kind is DISRUPTION_BUDGETS and not _same_spec(change):
            self.disturbed(BUDGETS)

    def deaf(self, seconds: float) -> None:
        """A watch of pods says nothing for so long from now on."""
        self._deaf = max(self._deaf, self._story.clock.monotonic() + seconds)

    def committing(self, gangs: Iterable[GangKey]) -> None:
        """A cycle has looked at the cluster for the last time, and commits these."""
        now = self._story.clock.monotonic()
        self._under_way |= dict.fromkeys(gangs, now)

    def on_commit(self, commit: str, gang: GangKey, members: tuple[Member, ...]) -> None:
        """Take note of a commit that puts a gang onto the seats of a relocation."""
        self._members[commit] = members
        nodes = Counter(member.node for member in members)
        began = self._under_way.get(gang, self._story.clock.monotonic())
        for case in self._open.values():
            seats = _seats(case.one)
            if job_name(case.one.gang.name) == job_name(gang.name):
                case.commit = commit if seats <= nodes else case.commit
            elif began <= case.opened and not seats.keys().isdisjoint(nodes):
                case.overtaken = commit

    def judge(self) -> None:
        """Everything is at rest: what was promised has been kept, or something came between."""
        for case in self._promised:
            kept = self._bound[case.commit] and case.commit not in self._books.undone
            if kept:
                self._served(case)
            else:
                self._fail(case, f"commit {case.commit} has bound nobody, or went back")
        self._promised.clear()
        for case in self._made.values():
            self._fail(case, "no repair has come for the room that was made")
        self._made.clear()

    def _see_relocation(self, change: StoredChange) -> None:
        if change.after is None:
            assert change.before is not None
            gang = read_relocation(change.before.body).gang
            case = self._open.pop(gang, None)
            if case is None or not case.evicted:
                return
            if case.one.makes_room_to_move:
                self._made[gang] = case
            else:
                self._close(case)
            return
        one = read_relocation(change.after.body)
        if change.before is not None and one.gang in self._open:
            self._open[one.gang].one = one
            return
        self._open[one.gang] = case = _Case(one, self._story.clock.monotonic())
        made = self._made.get(one.gang)
        if made is not None and not _seats(made.one).keys().isdisjoint(_seats(one)):
            del self._made[one.gang]
            case.evicted |= made.evicted
        self._check_victims(one)

    def _check_victims(self, one: Relocation) -> None:
        """Each gang that makes way has room that the other one takes."""
        if one.purpose is not Purpose.PREEMPTION:
            return
        seats = _seats(one)
        nodes: dict[str, set[str]] = {}
        for leaver in one.leavers:
            nodes.setdefault(job_name(leaver.pod.name), set()).add(leaver.node)
        for victim, stood in nodes.items():
            if stood.isdisjoint(seats):
                what = f"{victim} on {sorted(stood)} makes way for {one.gang} on {sorted(seats)}"
                self._story.broken(LAW, what)

    def _see_pod(self, change: StoredChange) -> None:
        before, after = change.before, change.after
        if after is None:
            if before is not None and not self._store.writer and not _deleting(before):
                self.disturbed(gang_of(before.metadata["name"]))
            return
        if before is None:
            return
        was, now = pod_seen(before.body), pod_seen(after.body)
        if not self._store.writer:
            self._see_meddling(was, now, before, after)
        elif now.node and not was.node:
            self._bound[_annotations(after).get(COMMIT, "")] += 1
        elif now.deleting and not was.deleting:
            self._see_eviction(now)

    def _see_meddling(
        self, was: PodSeen, now: PodSeen, before: StoredObject, after: StoredObject
    ) -> None:
        if now.node and not was.node:
            self.disturbed(node_of(now.node))
        if (now.node, now.deleting, now.finished) != (
            was.node,
            was.deleting,
            was.finished,
        ) or _annotations(before) != _annotations(after):
            self.disturbed(gang_of(now.pod.name))

    def _see_eviction(self, seen: PodSeen) -> None:
        cases = [
            case
            for case in self._open.values()
            for leaver in case.one.leavers
            if leaver.pod.uid == seen.pod.uid
        ]
        for case in cases:
            case.evicted.setdefault(seen.pod.uid, self._story.clock.monotonic())
        if cases:
            return
        for commit, members in self._going_back(seen.pod.uid):
            if all(self._stands(member) for member in members):
                what = f"{seen.pod} of {commit}, all of whose members were bound"
                self._story.broken(LAW, what)
            self._story.did("eviction served: rollback", f"{seen.pod} of {commit}")

    def _going_back(self, uid: str) -> Iterator[tuple[str, tuple[Member, ...]]]:
        """The commits with the pod that go back, with all members that they were to bind."""
        for _, entry, phase in self._books.counted():
            if phase is Phase.ROLLING_BACK and any(m.pod.uid == uid for m in entry.members):
                yield entry.commit, self._members[entry.commit]

    def _stands(self, member: Member) -> bool:
        """Whether the member runs where its commit has put it; the pod itself is going now."""
        seen = self._books.pods.get(member.pod.uid)
        return seen is not None and seen.node == member.node and not seen.finished

    def _close(self, case: _Case) -> None:
        """The relocation is over."""
        one = case.one
        if one.purpose is Purpose.RESTART:
            left = [x.pod for x in one.leavers if self._still_stands(x.pod.uid, x.node)]
            if left:
                self._fail(case, f"{len(case.evicted)} went and {left} stayed")
            else:
                self._served(case)
        elif case.commit:
            self._promised.append(case)
        elif _seats(one) <= self._running(one):
            self._served(case)
        elif case.evicted.keys() <= {x.pod.uid for x in one.leavers if x.lost}:
            self._story.did("eviction of what was lost", str(one.gang))
        else:
            self._fail(case, f"nothing of {one.gang} came to {sorted(_seats(one))}")

    def _still_stands(self, uid: str, node: str) -> bool:
        seen = self._books.pods.get(uid)
        return bool(seen and seen.node == node and not seen.deleting and not seen.finished)

    def _running(self, one: Relocation) -> Counter[str]:
        """Node -> how many of the job run there, without who was to leave."""
        leaving = {leaver.pod.uid for leaver in one.leavers}
        job = job_name(one.gang.name)
        return Counter(
            seen.node
            for uid, seen in self._books.pods.items()
            if job_name(seen.pod.name) == job and uid not in leaving
            if seen.node and not seen.deleting and not seen.finished
        )

    def _served(self, case: _Case) -> None:
        self._story.did(f"eviction served: {case.one.purpose}", str(case.one.gang))

    def _fail(self, case: _Case, what: str) -> None:
        """It has served nobody: a breach, unless something came between."""
        one = case.one
        excuse = next(self._excuses(case), "")
        if excuse:
            self._story.did(f"eviction excused: {one.purpose}", f"{one.gang}: {excuse}")
            return
        evicted = len(case.evicted)
        self._story.broken(LAW, f"{one.purpose} for {one.gang}, {evicted} evicted: {what}")

    def _excuses(self, case: _Case) -> Iterator[str]:
        """What has come between, as far as no scheduler decides it."""
        one = case.one
        places = [node_of(seat.node) for seat in one.seats]
        kept = [f"eviction of {leaver.pod.name}" for leaver in one.leavers]
        refused = [what for what in self._disturbed if _is_binding(what, one.gang)]
        for what in (gang_of(one.gang.name), *places, *kept, *refused, CONFIG, BUDGETS):
            if self._disturbed.get(what, -1.0) >= case.opened:
                yield what
        if one.makes_room_to_move:
            there = {uid for uid, _ in one.stays}
            sources = [x.source for x in one.seats if x.source and x.pod.uid not in there]
            back = [node for node in sources if node not in self._powerless]
            yield from (f"{node}, on which it lost a member, is back" for node in back)
        lost = [seat.node for seat in one.seats if seat.node in self._powerless]
        yield from (f"{place} has no power" for place in lost)
        expired = self._expired(case)
        if expired and any(map(self._ends, case.evicted)):
            yield "a pod takes longer to end than places are kept"
        told = self._story.clock.monotonic() - USUAL_GRACE_SECONDS - OVERDUE_END_SECONDS
        if any(self._ends(uid) for uid, at in case.evicted.items() if at <= told):
            yield "a pod takes longer to end than it is waited for"
        if expired and self._deaf >= case.opened:
            yield "a watch of pods was silent for longer than places are kept"
        if case.overtaken:
            yield f"commit {case.overtaken} was under way"

    def _expired(self, case: _Case) -> bool:
        """Whether places need not be kept any longer."""
        if self._backs_off(job_name(case.one.gang.name)):
            return self._story.clock.monotonic() - case.opened >= PLACES_LIMIT
        return self._story.clock.wall() >= case.one.until

    def _ends(self, uid: str) -> bool:
        """Whether the pod was told to go, and has not gone."""
        seen = self._books.pods.get(uid)
        return seen is not None and seen.deleting


def _same_spec(change: StoredChange) -> bool:
    """Whether the disruption controller alone has written."""
    before, after = change.before, change.after
    return bool(before and after and before.body.get("spec") == after.body.get("spec"))


def _owns_gang(kind: Kind, one: StoredObject) -> bool:
    """Whether it is what a gang was submitted as: the Jobs of a JobSet are not."""
    name = str(one.metadata["name"])
    return kind in KINDS.values() and job_name(name) == name


def _is_binding(what: str, gang: GangKey) -> bool:
    """Whether a refused binding of a pod of that gang's job is meant."""
    kind, _, pod = what.partition(" of ")
    return kind == "binding" and job_name(pod) == job_name(gang.name)


def _seats(one: Relocation) -> Counter[str]:
    return Counter(seat.node for seat in one.seats)


def _deleting(record: StoredObject) -> bool:
    return "deletionTimestamp" in record.metadata


def _annotations(record: StoredObject) -> Body:
    found: Body = record.metadata.get("annotations") or {}
    return found
