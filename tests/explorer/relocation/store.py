"""A store that judges each eviction as it happens, and remembers who was ever named."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats.codec import read_gang, read_page
from fourleaf.k8s_bridge.ledger.names import GANG, PAGE, RECORD
from fourleaf.k8s_bridge.ledger.pods import PodSeen, pod_seen
from fourleaf.k8s_bridge.ledger.records import Entry, Page, Phase
from fourleaf.k8s_bridge.relocation.codec import RELOCATION, read_relocation
from fourleaf.k8s_bridge.relocation.records import Purpose, Relocation, Seat
from fourleaf.k8s_bridge.runtime.clock import Clock
from tests.explorer.code.store import CountingStore

MAKE_ROOM = (Purpose.PREEMPTION, Purpose.RESTART)
"""Relocations whose leavers go before anything is free."""


class JudgingStore(CountingStore):
    """Laws of evictions and of seats, of which `fell` says the first that was broken.

    `named` are the UIDs of all leavers of relocations that were ever written by a leader,
    `rolled` the names of all commits that went back, `evicted` the pods that went for a
    relocation, in order, and `writes` counts all writes.

    `excused` once something has happened for which a place may be lost to others.

    A relocation counts for nothing where it is created by somebody after whom another has taken
    over every page: the one that leads has not seen it. With `is_hurried`, leaders wait for no
    answer: one whose write is not answered yet keeps its places only for as long as they want it.
    """

    def __init__(self, clock: Clock, is_hurried: bool = False) -> None:
        self.is_hurried = is_hurried
        self.named: frozenset[str] = frozenset()
        self.evicted: tuple[str, ...] = ()
        self.rolled: frozenset[str] = frozenset()
        self.excused = False
        self.writes = 0
        self._stand: tuple[int, list[Relocation]] = (-1, [])
        super().__init__(clock)

    def copy(self) -> JudgingStore:
        """The same objects in another store."""
        other = JudgingStore.__new__(JudgingStore)
        other.__dict__.update(super().copy().__dict__)
        return other

    def digest(self) -> bytes:
        """16 bytes that tell this store and what went before from others."""
        past = repr((sorted(self.named), sorted(self.rolled), self.evicted, self.excused)).encode()
        return hashlib.blake2b(super().digest() + past, digest_size=16).digest()

    @property
    def moved(self) -> bool:
        """Whether a relocation was ever written."""
        return any(name.startswith(f"{RELOCATION}-") for _, name in self._written)

    def made(self, gang: str, index: int) -> int:
        """How many pods there have been of this index, of different names."""
        first = f"{gang}-{index}-"
        return sum(1 for kind, name in self._written if kind == "pods" and name.startswith(first))

    def relocations(self) -> list[Relocation]:
        """Those that stand."""
        at, known = self._stand
        if at != self.writes:
            found = [r.body for r in self.records(LEASES) if r.labels.get(RECORD) == RELOCATION]
            known = [read_relocation(body) for body in found]
            self._stand = self.writes, known
        return known

    def _put(self, kind: Kind, before: StoredObject | None, body: Body) -> StoredObject:
        record = super()._put(kind, before, body)
        self.writes += 1  # before any law asks what stands
        if record.labels.get(RECORD) == RELOCATION:
            one = read_relocation(record.body)
            if before is not None:
                self._watch_epoch(before, record)
            elif one.epoch < self._epoch():
                self.excused = True
                return record
            self.named |= {leaver.pod.uid for leaver in one.leavers}
        elif record.labels.get(RECORD) == PAGE and before is not None:
            page = read_page(record.body)
            self._judge_page(read_page(before.body), page)
            back = [one for one in page.entries if one.phase is Phase.ROLLING_BACK]
            self.rolled |= {entry.commit for entry in back}
        elif record.labels.get(RECORD) == GANG:
            lease = read_gang(record.body)
            if lease.phase is Phase.ROLLING_BACK:
                self.rolled |= {lease.commit}
        elif kind is PODS and before is not None:
            was, now = pod_seen(before.body), pod_seen(record.body)
            if now.deleting and not was.deleting:
                self._judge(now)
        return record

    def _remove(self, record: StoredObject) -> None:
        super()._remove(record)
        self.writes += 1

    def _judge(self, pod: PodSeen) -> None:
        """Whether the pod may be told to go: by a relocation, or as its commit goes back."""
        if pod.commit in self.rolled:
            return
        self.evicted = (*self.evicted, pod.pod.name)
        if pod.pod.uid not in self.named:
            self.fell = f"{pod.pod} was evicted, and no leader ever said that it goes"
        for one in self.relocations():
            for leaver in one.leavers:
                strict = one.purpose not in MAKE_ROOM and not leaver.lost
                if leaver.pod.uid == pod.pod.uid and strict:
                    self._judge_seats(pod, one)

    def _judge_page(self, before: Page, page: Page) -> None:
        """No other gang is given a place that the writer of the page keeps for one."""
        if self.is_hurried:
            return
        known = {entry.commit for entry in before.entries}
        for one in self.relocations():
            seats = {seat.node for seat in one.seats} if one.epoch == page.epoch else set()
            for entry in page.entries:
                nodes = {member.node for member in entry.members} & seats
                if entry.commit not in known and entry.gang != one.gang and nodes:
                    self.fell = f"{entry.gang} was given {nodes}, which {one.gang} has kept"

    def _judge_seats(self, pod: PodSeen, one: Relocation) -> None:
        """A member that lives goes only while every seat of its gang is free, or kept for it."""
        for seat in one.seats:
            for holder in self._holders(one, seat):
                why = f"{pod.pod} was evicted while {holder} has the seat on {seat.node}"
                self.fell = self.fell or why

    def _holders(self, one: Relocation, seat: Seat) -> Iterator[str]:
        leaving = {leaver.pod.uid for leaver in one.leavers}
        for seen in self.seen():
            if seen.node == seat.node and not seen.finished and seen.pod.uid not in leaving:
                yield seen.pod.name
        for entry, _ in self._entries():
            for member in entry.members:
                if member.node == seat.node and entry.gang != one.gang and self._waits(member.pod):
                    yield member.pod.name

    def _waits(self, pod: Target) -> bool:
        return any(seen.pod.uid == pod.uid and not seen.node for seen in self.seen())

    def _epoch(self) -> int:
        """The epoch of whoever has taken over every page."""
        found = [r for r in self.records(LEASES) if r.labels.get(RECORD) == PAGE]
        return min((read_page(record.body).epoch for record in found), default=0)

    def _entries(self) -> Iterator[tuple[Entry, Phase]]:
        """Entries of pages that count, and how far their commits are."""
        leases = {}
        pages = []
        for record in self.records(LEASES):
            if record.labels.get(RECORD) == GANG:
                leases[record.metadata["name"]] = read_gang(record.body).phase
            elif record.labels.get(RECORD) == PAGE:
                pages.append(read_page(record.body))
        for page in pages:
            for entry in page.entries:
                phase = leases.get(entry.lease) if entry.lease else entry.phase
                if phase in (Phase.COMMITTED, Phase.ROLLING_BACK):
                    yield entry, phase
