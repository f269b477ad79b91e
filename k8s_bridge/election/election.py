"""The election: one Lease, taken and renewed by compare-and-swap.

Only the monotonic clock decides. A candidate takes the Lease when it has not seen it change
for as long as it holds. A leader counts its time from before it sent the renewal, and stops a
margin before others may take over. Leadership is economy: should two lead after all, the
versions of the pages keep them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import structlog

from fourleaf.k8s_bridge.cluster.errors import ClusterError, Conflict, NotFound
from fourleaf.k8s_bridge.cluster.kinds import LEASES
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.election.gate import Gate, NotLeader
from fourleaf.k8s_bridge.election.lease import LeaderLease, lease_body, read_lease
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: how long the Lease holds, between renewals, and of caution before its end."""

    hold: int = 6
    renew: float = 1.5
    margin: float = 1.5


class Election:
    """One candidate. `identity` must be of this process alone, restarts included."""

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        name: str,
        identity: str,
        clock: Clock,
        gate: Gate,
        timing: Timing | None = None,
    ) -> None:
        self.identity = identity
        self._cluster = cluster
        self._target = Target(namespace, name)
        self._clock = clock
        self._gate = gate
        self._timing = timing or Timing()
        self._seen: LeaderLease | None = None
        self._seen_at = 0.0
        self._epoch = 0
        self._log = structlog.get_logger(__name__)

    @property
    def leader(self) -> str:
        """The holder of the Lease, as last seen; "" where there is none."""
        return self._seen.holder if self._seen else ""

    @property
    def epoch(self) -> int:
        """The epoch in which this process leads, or last led; 0 where it never did."""
        return self._epoch

    async def campaign(self) -> int:
        """Wait until this process leads; its epoch."""
        backoff = Backoff(self._clock, first=0.2, most=self._timing.renew)
        while True:
            try:
                if await self._attempt():
                    self._log.info("leading", identity=self.identity, epoch=self._epoch)
                    return self._epoch
                backoff.reset()
                await self._clock.sleep(self._timing.renew / 2)
            except ClusterError as error:
                self._log.warning("election_failed", why=str(error))
                # The lead may come free meanwhile, whatever the server asks for.
                await backoff.wait(min(error.retry_after or 0.0, self._timing.renew))

    async def raise_epoch(self, epoch: int) -> None:
        """Lead in `epoch`, which is above the present one. Raises `NotLeader`."""
        await self._renew(epoch)

    async def hold(self) -> None:
        """Renew until that is no longer possible, then raise `NotLeader`."""
        pause = self._timing.renew
        while True:
            await self._clock.sleep(pause)
            pause = self._timing.renew
            try:
                await self._renew(self._epoch)
            except (Conflict, NotFound):
                await self._learn()
                pause = self._timing.renew / 10
            except ClusterError as error:
                self._log.warning("renewal_failed", why=str(error))
                pause = self._timing.renew / 5
            self._gate.check()

    async def release(self) -> None:
        """Give the Lease back, so that a standby need not wait for its end."""
        self._gate.shut()
        seen = self._seen
        if seen is None or seen.holder != self.identity:
            return
        try:
            await self._write("", seen, self._epoch)
        except ClusterError as error:
            self._log.warning("lease_not_released", why=str(error))

    async def _attempt(self) -> bool:
        """Take the Lease where it is free. Whether this process leads now."""
        try:
            self._look(read_lease(await self._cluster.get(LEASES, self._target)))
        except NotFound:
            self._seen = None
        seen = self._seen
        others = seen is not None and seen.holder not in ("", self.identity)
        if seen is not None and others and not self._expired(seen):
            return False
        sent = self._clock.monotonic()
        try:
            await self._write(self.identity, seen, (seen.transitions if seen else 0) + 1)
        except Conflict:
            return False
        self._extend(sent)
        return True

    def _look(self, lease: LeaderLease) -> None:
        # What others write beside its spec renews no Lease.
        if self._seen is None or lease != replace(self._seen, version=lease.version):
            self._seen_at = self._clock.monotonic()
        self._seen = lease

    def _expired(self, lease: LeaderLease) -> bool:
        held = lease.seconds or self._timing.hold
        return self._clock.monotonic() >= self._seen_at + held

    async def _renew(self, epoch: int) -> None:
        self._gate.check()
        sent = self._clock.monotonic()
        await self._write(self.identity, self._seen, epoch)
        self._extend(sent)

    async def _learn(self) -> None:
        """Look who holds a Lease that has changed: perhaps we, by a renewal without an answer."""
        try:
            self._look(read_lease(await self._cluster.get(LEASES, self._target)))
        except NotFound:
            self._seen = None
        except ClusterError as error:
            self._log.warning("renewal_failed", why=str(error))
            return
        if self.leader != self.identity:
            self._gate.shut()
            raise NotLeader(f"{self.leader or 'none'} holds the leader's lease")

    def _extend(self, sent: float) -> None:
        self._gate.open_until(sent + self._timing.hold - self._timing.margin)

    async def _write(self, holder: str, seen: LeaderLease | None, epoch: int) -> None:
        same = seen is not None and seen.holder == self.identity
        body = lease_body(
            self._target.name,
            holder,
            self._timing.hold,
            epoch,
            self._clock.wall(),
            acquired=seen.acquired if seen and same else "",
            version=seen.version if seen else "",
        )
        self._look(read_lease(await self._send(body, seen)))
        self._epoch = epoch

    async def _send(self, body: Body, seen: LeaderLease | None) -> Body:
        if seen is None:
            return await self._cluster.create(LEASES, self._target.namespace, body)
        target = Target(self._target.namespace, self._target.name, "", seen.version)
        return await self._cluster.replace(LEASES, target, body)
