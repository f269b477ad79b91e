"""The records as they stand in the store, and the laws about them alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredChange, StoredObject
from fourleaf.k8s_bridge.ledger.formats.codec import read_gang, read_page
from fourleaf.k8s_bridge.ledger.names import COMMIT, GANG, PAGE, RECORD
from fourleaf.k8s_bridge.ledger.pods import PodSeen, pod_seen
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from fourleaf.k8s_bridge.relocation.codec import RELOCATION, read_relocation
from fourleaf.k8s_bridge.relocation.records import Relocation
from fourleaf.model.gang import GangKey
from tests.simulation.story import Story

OnCommit: TypeAlias = Callable[[str, GangKey, tuple[Member, ...]], None]


class Books:
    """All pages, gang leases and pods at the newest version.

    Laws: epochs never fall. A page goes only when it is empty. A node is on one page. A device
    is given to one member.

    `bound_by` says of each pod which commit it names. `decided` are the members of every commit
    that ever took, less those that ran already when they were taken up; `undone` the commits
    that went back. `sent_for` is the pod whose eviction arrives just now and was named when it was
    sent, "" for none. `listeners` hear of each commit as it takes, with all its members.
    """

    def __init__(self, story: Story) -> None:
        self.pages: dict[str, Page] = {}
        self.leases: dict[str, GangLease] = {}
        self.moves: dict[str, Relocation] = {}
        self.pods: dict[str, PodSeen] = {}
        self.bound_by: dict[str, str] = {}
        self.decided: dict[str, dict[str, Member]] = {}
        self.undone: set[str] = set()
        self.sent_for = ""
        self.listeners: list[OnCommit] = []
        self.epoch = 0
        self._story = story

    def on_change(self, kind: Kind, change: StoredChange) -> None:
        """Take one write."""
        if kind is PODS:
            self._see_pod(change)
        elif kind is LEASES:
            one = change.after or change.before
            assert one is not None
            record = one.labels.get(RECORD)
            if record == PAGE:
                self._see_page(one.metadata["name"], change.after)
            elif record == GANG:
                self._see_lease(one.metadata["name"], change.after)
            elif record == RELOCATION:
                self._see_relocation(one.metadata["name"], change.after)

    def leaves(self, uid: str) -> bool:
        """Whether a relocation says that the pod has to go, or did when the eviction was sent.

        One that is late on its way is judged by what was written when it was sent.
        """
        return uid == self.sent_for or self.names_leaver(uid)

    def names_leaver(self, uid: str) -> bool:
        """Whether a relocation that is written down now says that the pod has to go."""
        return any(leaver.pod.uid == uid for one in self.moves.values() for leaver in one.leavers)

    def counted(self) -> Iterator[tuple[str, Entry, Phase]]:
        """Entries that count, with the page that they are on and their phase."""
        for name, page in self.pages.items():
            for entry in page.entries:
                phase = self.phase(entry)
                if phase in (Phase.COMMITTED, Phase.ROLLING_BACK):
                    yield name, entry, phase

    def phase(self, entry: Entry) -> Phase | None:
        """How far the commit of an entry is; None where it is void."""
        if not entry.lease:
            return entry.phase
        lease = self.leases.get(entry.lease)
        return lease.phase if lease else None

    def _see_pod(self, change: StoredChange) -> None:
        if change.after is not None:
            seen = pod_seen(change.after.body)
            self.pods[seen.pod.uid] = seen
            annotations = change.after.metadata.get("annotations") or {}
            self.bound_by[seen.pod.uid] = annotations.get(COMMIT, "")
        elif change.before is not None:
            self.pods.pop(change.before.metadata["uid"], None)

    def _see_page(self, name: str, after: StoredObject | None) -> None:
        before = self.pages.pop(name, None)
        if after is None:
            if before is not None and (before.nodes or before.entries):
                what = f"{name} went with {before.nodes}, {len(before.entries)} entries"
                self._story.broken("only empty pages are deleted", what)
            return
        page = self.pages[name] = read_page(after.body)
        if before is not None and page.epoch < before.epoch:
            what = f"{name} fell from {before.epoch} to {page.epoch}"
            self._story.broken("epochs never fall", what)
        if page.epoch > self.epoch:
            self.epoch = page.epoch
            self._story.did("took over", f"epoch {page.epoch}")
        self._take_note()
        self._check_nodes()
        self._check_devices()

    def _see_lease(self, name: str, after: StoredObject | None) -> None:
        before = self.leases.pop(name, None)
        if after is None:
            return
        lease = self.leases[name] = read_gang(after.body)
        if before is not None and lease.epoch < before.epoch:
            what = f"{name} fell from {before.epoch} to {lease.epoch}"
            self._story.broken("epochs never fall", what)
        if before is not None and before.phase is Phase.ROLLING_BACK is not lease.phase:
            self._story.broken("what goes back stays back", f"{name} is {lease.phase}")
        self._take_note()
        self._check_devices()

    def _see_relocation(self, name: str, after: StoredObject | None) -> None:
        before = self.moves.pop(name, None)
        if after is None:
            self._story.did("relocation over", name)
            return
        one = self.moves[name] = read_relocation(after.body)
        if before is None:
            seats = [seat.node for seat in one.seats]
            self._story.did(f"relocation {one.purpose}", f"{one.gang} to {seats}: {one.why}")
        elif one.epoch < before.epoch:
            what = f"{name} fell from {before.epoch} to {one.epoch}"
            self._story.broken("epochs never fall", what)

    def _take_note(self) -> None:
        for _, entry, phase in self.counted():
            if entry.commit not in self.decided:
                self._story.did("committed", f"{entry.commit} {entry.gang}")
                lease = self.leases.get(entry.lease)
                for listener in self.listeners:
                    listener(entry.commit, entry.gang, lease.members if lease else entry.members)
            members = self.decided.setdefault(entry.commit, {})
            for member in entry.members:
                seen = self.pods.get(member.pod.uid)
                if seen is not None and not seen.node:
                    members.setdefault(member.pod.uid, member)
            if phase is Phase.ROLLING_BACK and entry.commit not in self.undone:
                self.undone.add(entry.commit)
                self._story.did("rolling back", f"{entry.commit} {entry.gang}")

    def _check_nodes(self) -> None:
        home: dict[str, str] = {}
        for name, page in self.pages.items():
            for node in page.nodes:
                if node in home:
                    what = f"{node} is on {home[node]} and {name}"
                    self._story.broken("a node is on one page", what)
                home[node] = name

    def _check_devices(self) -> None:
        holders: dict[tuple[str, int], str] = {}
        for _, entry, _ in self.counted():
            for member in entry.members:
                if not self.holds(entry.commit, member):
                    continue
                for device in member.devices:
                    key = (member.node, device)
                    if holders.setdefault(key, member.pod.uid) != member.pod.uid:
                        other = self.pods[holders[key]].pod
                        what = f"device {device} of {member.node}: {other} and {member.pod}"
                        self._story.broken("a device is given once", what)
                        return

    def holds(self, commit: str, member: Member) -> bool:
        """Whether the member holds its devices, or may still come to."""
        seen = self.pods.get(member.pod.uid)
        if seen is None or seen.finished or seen.node not in ("", member.node):
            return False
        return bool(seen.node) or not (seen.deleting or seen.fence == commit)
