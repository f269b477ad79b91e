"""A store whose versions and UIDs do not depend on what happens to other objects.

Real versions count all writes of a cluster, so that two independent writes leave different
versions behind by their order. Here each name counts its own writes, through deletion and
creation. Who only compares the versions of one object, as the ledger does, sees no difference,
and equal histories of each object make equal stores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from weakref import WeakKeyDictionary

import orjson

from fourleaf.k8s_bridge.cluster.kinds import LEASES, PODS, Kind
from fourleaf.k8s_bridge.cluster.memory.records import StoredObject
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.k8s_bridge.ledger.names import PAGE, RECORD
from fourleaf.k8s_bridge.ledger.pods import PodSeen, pod_seen
from fourleaf.k8s_bridge.runtime.clock import Clock

DAY_SECONDS = 86400.0


class CountingStore(MemoryStore):
    """`fell` says which page's epoch has gone back, "" while none has."""

    def __init__(self, clock: Clock) -> None:
        self.fell = ""
        self._written: dict[tuple[str, str], int] = {}
        self._digests: WeakKeyDictionary[StoredObject, bytes] = WeakKeyDictionary()
        self._seen: WeakKeyDictionary[StoredObject, PodSeen] = WeakKeyDictionary()
        super().__init__(DayBefore(clock))

    def copy(self) -> CountingStore:
        """The same objects in another store."""
        other = CountingStore.__new__(CountingStore)
        other.__dict__.update(self.__dict__)
        other._written = dict(self._written)
        other._objects = {kind: dict(found) for kind, found in self._objects.items()}
        other._journals = {}
        return other

    def create(self, kind: Kind, namespace: str, body: Body) -> StoredObject:
        """Make an object; its UID tells its kind, its name and which of that name it is."""
        name = str((body.get("metadata") or {}).get("name", ""))
        count = self._written.get((kind.plural, name), 0)
        self._names = Told(f"{kind.plural}-{name}-{count}", self._names)  # type: ignore[assignment]
        try:
            return super().create(kind, namespace, body)
        finally:
            self._names = self._names.inner  # type: ignore[attr-defined]

    def digest(self) -> bytes:
        """16 bytes that tell these Leases and pods from others, and all that they were before."""
        whole = hashlib.blake2b(repr(sorted(self._written.items())).encode(), digest_size=16)
        for kind in (LEASES, PODS):
            for _, record in sorted(self._objects.get(kind, {}).items()):
                whole.update(self.digest_of(record))
        return whole.digest()

    def digest_of_pods(self) -> bytes:
        """16 bytes that tell these pods from others."""
        found = self._objects.get(PODS, {})
        return b"".join(self.digest_of(found[key]) for key in sorted(found))

    def digest_of(self, record: StoredObject) -> bytes:
        """16 bytes that tell this object and version from others."""
        found = self._digests.get(record)
        if found is None:
            text = orjson.dumps(record.body, option=orjson.OPT_SORT_KEYS)
            found = hashlib.blake2b(text, digest_size=16).digest()
            self._digests[record] = found
        return found

    def pods(self) -> Iterator[StoredObject]:
        """All pods."""
        return self.records(PODS)

    def seen(self) -> Iterator[PodSeen]:
        """All pods, as the ledger sees them."""
        for record in self.pods():
            found = self._seen.get(record)
            if found is None:
                found = self._seen[record] = pod_seen(record.body)
            yield found

    def _put(self, kind: Kind, before: StoredObject | None, body: Body) -> StoredObject:
        name = body["metadata"]["name"]
        count = self._written.get((kind.plural, name), 0)
        self._written[kind.plural, name] = count + 1
        self.version = count
        record = super()._put(kind, before, body)
        if before is not None and record.labels.get(RECORD) == PAGE:
            self._watch_epoch(before, record)
        return record

    def _watch_epoch(self, before: StoredObject, after: StoredObject) -> None:
        old, new = (one.body["spec"]["leaseTransitions"] for one in (before, after))
        if new < old:
            self.fell = f"the epoch of {after.metadata['name']} fell from {old} to {new}"


class DayBefore:
    """The clock of the API server: all that leaders see was made and bound long ago."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def monotonic(self) -> float:
        """Seconds, as leaders read them."""
        return self._clock.monotonic()

    def wall(self) -> float:
        """Seconds since the epoch, a day before theirs."""
        return self._clock.wall() - DAY_SECONDS

    async def sleep(self, seconds: float) -> None:
        """Let leaders' time pass."""
        await self._clock.sleep(seconds)


class Told:
    """Names for one creation, with this UID."""

    def __init__(self, uid: str, inner: object) -> None:
        self._uid = uid
        self.inner = inner

    def uid(self) -> str:
        """The UID that was told."""
        return self._uid
