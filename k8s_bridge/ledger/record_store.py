"""Writes of records that end with a certain answer, however often one is lost.

A write whose answer is lost may still arrive later. Repeating it under the same version
settles that: either the repetition takes, and the late one then fails on its version, or it
conflicts, and reading shows whether the record is the one that was written.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from fourleaf.k8s_bridge.cluster.errors import (
    BY_ADMISSION,
    Ambiguous,
    Conflict,
    NotFound,
    Refused,
    Throttled,
)
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.ledger.formats.codec import (
    KNOWN,
    gang_body,
    page_body,
    read_gang,
    read_page,
)
from fourleaf.k8s_bridge.ledger.formats.envelope import OLDEST
from fourleaf.k8s_bridge.ledger.names import page_name
from fourleaf.k8s_bridge.ledger.permanent_refusal import PermanentRefusals
from fourleaf.k8s_bridge.ledger.records import GangLease, Page, Phase
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock

Record = TypeVar("Record", Page, GangLease)
Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Formats:
    """The formats that this process has `known`, and the one that the cluster is set to."""

    known: Iterable[int] = KNOWN
    configured: Callable[[], int] = lambda: OLDEST

    @property
    def written(self) -> int:
        """The format to write: the one that is configured, else the newest that is known.

        Records that are too large for it are written in format 3, where that is known.
        """
        configured = self.configured()
        return configured if configured in self.known else max(self.known)


class Records:
    """Reads and writes the Leases of one namespace, as `writer`."""

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        writer: str,
        clock: Clock,
        formats: Formats | None = None,
    ) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self.writer = writer
        self._clock = clock
        self.formats = formats or Formats()

    def backoff(self) -> Backoff:
        """The waits before requests about one record that are made again."""
        return Backoff(self._clock)

    def page(self, body: Body) -> Page:
        """The page that a Lease holds. Raises `BadRecord`."""
        return read_page(body, self.formats.known)

    def lease(self, body: Body) -> GangLease:
        """The gang lease that a Lease holds. Raises `BadRecord`."""
        return read_gang(body, self.formats.known)

    async def write_page(self, page: Page) -> Page:
        """Create the page, or replace the one of its version; as it stands now.

        Raises `Conflict` where the page is another one by now, `NotFound` where it is gone.
        """
        name = page_name(page.leaf, page.part)
        body = page_body(replace(page, format=self.formats.written), self.writer)
        return read_page(await self._write(name, page.version, body))

    async def write_lease(self, lease: GangLease) -> GangLease:
        """Create the gang lease, or replace the one of its version; as it stands now.

        Raises `Conflict` where it is another one by now, `NotFound` where it is gone.
        """
        mine = replace(lease, format=self.formats.written)
        body = gang_body(mine, self.writer, self.formats.known)
        return read_gang(await self._write(lease.name, lease.version, body))

    def check(self, lease: GangLease) -> None:
        """Raises `BadRecord` where a gang lease is too large to say how its commit goes on."""
        for phase in Phase:
            gang_body(replace(lease, phase=phase), self.writer, self.formats.known)

    async def write_record(self, name: str, version: str, body: Body) -> Body:
        """Create the Lease, or replace the one of that version; as it stands now.

        Raises `Conflict` where it is another one by now, `NotFound` where it is gone.
        """
        return await self._write(name, version, body)

    async def delete(self, name: str, version: str) -> None:
        """Delete the record of that version; one that is gone is gone. Raises `Conflict`."""
        backoff = self.backoff()
        while True:
            try:
                await self.delete_once(name, version)
                return
            except (Ambiguous, Throttled) as error:
                await backoff.wait(error.retry_after)

    async def delete_once(self, name: str, version: str) -> None:
        """The same, without end where the API does not answer. Raises `ClusterError`."""
        try:
            await self._cluster.delete(LEASES, Target(self._namespace, name, "", version))
        except NotFound as error:
            # A webhook may deny by any status, and the record counts for as long as it is there.
            if BY_ADMISSION in str(error):
                raise Ambiguous(str(error), error.status) from error

    async def read(self, name: str) -> Body | None:
        """The Lease of that name by a quorum read, None where there is none."""
        try:
            return await self.answer(
                lambda: self._cluster.get(LEASES, Target(self._namespace, name))
            )
        except NotFound:
            return None

    async def list(self, labels: str) -> list[Body]:
        """All Leases with these labels, by a quorum read."""
        listing = await self.answer(lambda: self._cluster.list(LEASES, self._namespace, labels))
        return listing.items

    async def answer(self, read: Callable[[], Awaitable[Answer]]) -> Answer:
        """What `read` returns, once the API answers; a 403 may pass (`PermanentRefusals`)."""
        backoff, refusing = self.backoff(), PermanentRefusals(self._clock)
        while True:
            try:
                return await read()
            except (Ambiguous, Throttled) as error:
                refusing.unsaid(error)
                await backoff.wait(error.retry_after)
            except Refused as error:
                if refusing.for_good(error):
                    raise
                await backoff.wait()

    async def _write(self, name: str, version: str, body: Body) -> Body:
        backoff = self.backoff()
        while True:
            try:
                if version:
                    target = Target(self._namespace, name, "", version)
                    return await self._cluster.replace(LEASES, target, body)
                return await self._cluster.create(LEASES, self._namespace, body)
            except (Ambiguous, Throttled) as error:
                await backoff.wait(error.retry_after)
            except Conflict:
                # Proxies and connections repeat requests too, and report the last one alone.
                found = await self.read(name)
                if found is not None and _same(found, body):
                    return found
                raise


def _same(found: Body, written: Body) -> bool:
    """Whether `found` is what was written, by the same writer."""
    return all(part(found) == part(written) for part in (_annotations, _spec))


def _annotations(body: Body) -> object:
    return body["metadata"].get("annotations")


def _spec(body: Body) -> object:
    spec = body.get("spec") or {}
    return spec.get("holderIdentity"), spec.get("leaseTransitions")
