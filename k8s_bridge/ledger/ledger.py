"""The ledger as its writer knows it: every record, as of the last write or read of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.k8s_bridge.ledger.records import Entry, GangLease, Member, Page, Phase
from fourleaf.k8s_bridge.ledger.sealed import Sealed, SealedRecords
from fourleaf.k8s_bridge.runtime.keyed_locks import KeyedLocks
from fourleaf.model.gang import GangKey


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, put together from its entries and its gang lease.

    `phase` is None where it is void: its entries name a gang lease that is not there. `sealed`:
    a record of it cannot be read, so it may not be taken any further, nor what it holds be freed.
    """

    name: str
    gang: GangKey
    phase: Phase | None
    members: tuple[Member, ...]
    pages: tuple[str, ...]
    lease: GangLease | None = None
    sealed: bool = False


class Ledger:
    """All pages and gang leases. `writing` has a lock for each of them, by its name.

    `sealed` are the records that cannot be read, `founded` the pages that were made, or are being
    made, before it was certain that no other leader had taken over.
    """

    def __init__(self) -> None:
        self.writing = KeyedLocks()
        self.founded: set[str] = set()
        self.sealed = SealedRecords()
        self._pages: dict[str, Page] = {}
        self._leases: dict[str, GangLease] = {}
        self._lease_of: dict[str, str] = {}
        self._pages_of: dict[str, tuple[str, ...]] = {}
        self._entries: dict[str, dict[str, Entry]] = {}
        self._commit_of: dict[str, str] = {}
        self._open: set[str] = set()
        self._made: dict[str, Commit] = {}
        self._undecided: dict[str, Commit] = {}
        self._undecided_on: dict[str, dict[str, list[Member]]] = {}

    @property
    def pages(self) -> Iterable[Page]:
        """Every page."""
        return self._pages.values()

    @property
    def leases(self) -> Iterable[GangLease]:
        """Every gang lease."""
        return self._leases.values()

    def page(self, name: str) -> Page | None:
        """The page of that name."""
        return self._pages.get(name)

    def page_of(self, node: str) -> str | None:
        """The name of the page that lists `node`, be it sealed."""
        listed = self._pages_of.get(node)
        return listed[0] if listed else self.sealed.page_of(node)

    def lease(self, name: str) -> GangLease | None:
        """The gang lease of that name."""
        return self._leases.get(name)

    def put_page(self, page: Page) -> None:
        """Take `page` for what the cluster holds now."""
        name = page_name(page.leaf, page.part)
        self._forget(name)
        self.sealed.drop(name)
        self._pages[name] = page
        for node in page.nodes:
            self._pages_of[node] = (*self._pages_of.get(node, ()), name)
        for entry in page.entries:
            self._entries.setdefault(entry.commit, {})[name] = entry
            self._changed(entry.commit)
            for member in entry.members:
                self._commit_of[member.pod.uid] = entry.commit

    def drop_page(self, name: str) -> None:
        """The page does not exist."""
        self._forget(name)
        self.sealed.drop(name)
        self._pages.pop(name, None)

    def put_lease(self, lease: GangLease) -> None:
        """Take `lease` for what the cluster holds now."""
        self.sealed.drop(lease.name)
        before = self._leases.get(lease.name)
        if before is not None and before.commit != lease.commit:
            # Other commits name it too, and are what it says by now.
            self._made.clear()
        self._leases[lease.name] = lease
        self._lease_of[lease.commit] = lease.name
        self._changed(lease.commit)

    def drop_lease(self, name: str) -> None:
        """The gang lease does not exist."""
        self.sealed.drop(name)
        lease = self._leases.pop(name, None)
        if lease is not None:
            if len(self._lease_of) > len(self._leases) + 1:
                self._made.clear()
            del self._lease_of[lease.commit]
            self._changed(lease.commit)

    def put_sealed(self, one: Sealed) -> None:
        """Take a record that cannot be read for what the cluster holds now."""
        self.drop_page(one.name)
        self.drop_lease(one.name)
        self.sealed.put(one)

    @property
    def sealed_gangs(self) -> frozenset[GangKey]:
        """The gangs that sealed records are about, and those of commits with one among theirs."""
        if not self.sealed:
            return frozenset()
        return self.sealed.gangs | {one.gang for one in self.open_commits() if one.sealed}

    def commit(self, name: str) -> Commit | None:
        """The commit of that name, None where no record names it."""
        if self.sealed:
            # Which records are sealed changes what a commit is, and is not told here.
            return self._put_together(name)
        known = self._made.get(name)
        if known is None:
            known = self._put_together(name)
            if known is not None:
                self._made[name] = known
        return known

    def _changed(self, name: str) -> None:
        """A record of the commit is another one now: it may want something done."""
        self._open.add(name)
        self._made.pop(name, None)

    def _put_together(self, name: str) -> Commit | None:
        """The same, from its records."""
        entries = self._entries.get(name, {})
        lease = self._leases.get(self._lease_of.get(name, ""))
        if lease is None and not entries:
            return None
        members = tuple(member for entry in entries.values() for member in entry.members)
        if lease is not None:
            phase, pages = lease.phase, tuple(entries)
            sealed = any(page in self.sealed for page in lease.pages)
            return Commit(name, lease.gang, phase, lease.members, pages, lease, sealed)
        first = next(iter(entries.values()))
        if first.lease in self.sealed:
            phase = Phase.COMMITTED
            return Commit(name, first.gang, phase, members, tuple(entries), sealed=True)
        return Commit(
            name, first.gang, None if first.lease else first.phase, members, tuple(entries)
        )

    def commits(self) -> Iterator[Commit]:
        """Every commit."""
        for name in sorted({*self._entries, *self._lease_of}):
            commit = self.commit(name)
            if commit is not None:
                yield commit

    def commit_of(self, uid: str) -> str | None:
        """The name of the commit that an entry holds the pod for."""
        return self._commit_of.get(uid)

    def open_commits(self) -> list[Commit]:
        """Commits that may want something done, oldest name first; the others are at rest."""
        found = []
        for name in sorted(self._open):
            commit = self.commit(name)
            if commit is None:
                self._open.discard(name)
            else:
                found.append(commit)
        return found

    @contextmanager
    def deciding(self, commits: Iterable[Commit]) -> Iterator[None]:
        """Within, the records of these commits are being written, which decides about each."""
        named = {commit.name: commit for commit in commits}
        self._undecided.update(named)
        for commit in named.values():
            for member in commit.members:
                on = self._undecided_on.setdefault(member.node, {})
                on.setdefault(commit.name, []).append(member)
        try:
            yield
        finally:
            for name in named:
                self.decided(name)

    def decided(self, commit: str) -> None:
        """What became of `commit` is certain."""
        one = self._undecided.pop(commit, None)
        for node in {member.node for member in one.members} if one else ():
            del self._undecided_on[node][commit]
            if not self._undecided_on[node]:
                del self._undecided_on[node]

    def undecided_on(self, node: str) -> Iterator[Member]:
        """The members that commits whose records are being written would put there."""
        for members in self._undecided_on.get(node, {}).values():
            yield from members

    @property
    def undecided(self) -> Mapping[str, Commit]:
        """The commits whose records are being written, by name: each takes or does not."""
        return self._undecided

    def on_their_way(self) -> Iterator[Commit]:
        """The commits whose members may stand where they are to go, whatever is seen of them."""
        yield from self._undecided.values()
        yield from (one for one in self.open_commits() if one.phase is not None)

    def rest(self, commit: str) -> None:
        """Nothing is to be done for `commit` until a record or a pod of it changes."""
        self._open.discard(commit)

    def wake(self, uid: str) -> None:
        """Something has happened to the pod: look at its commit again."""
        commit = self._commit_of.get(uid)
        if commit is not None:
            self._open.add(commit)

    def _forget(self, name: str) -> None:
        page = self._pages.get(name)
        if page is None:
            return
        for node in page.nodes:
            # One that moves while its pages are read is on both until the older one is read again.
            listed = tuple(one for one in self._pages_of.get(node, ()) if one != name)
            if listed:
                self._pages_of[node] = listed
            else:
                self._pages_of.pop(node, None)
        for entry in page.entries:
            entries = self._entries.get(entry.commit, {})
            entries.pop(name, None)
            if not entries:
                self._entries.pop(entry.commit, None)
            self._changed(entry.commit)
            for member in entry.members:
                if self._commit_of.get(member.pod.uid) == entry.commit:
                    del self._commit_of[member.pod.uid]
