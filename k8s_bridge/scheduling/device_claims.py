"""Which claim of a pod gets which of the devices that were chosen for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.records import ClaimAllocation, Member
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.dra.claims import ClaimAsk
from fourleaf.model.readers.live import LiveReading


class DeviceClaims:
    """Shares out devices to claims, and gives no claim to two pods."""

    def __init__(self, reading: LiveReading, ledger: Ledger) -> None:
        self._reading = reading
        self._taken = {
            (one.claim.namespace, one.claim.uid)
            for commit in ledger.open_commits()
            for member in commit.members
            for one in member.claims
        }

    def claimed(self, gang: GangKey, members: Sequence[Member]) -> tuple[tuple[Member, ...], str]:
        """The members of a gang, their devices by name and claim; why that cannot be."""
        facts = self._reading.gangs.get(gang)
        asks = {one.uid: one.claims for one in facts.waiting} if facts else {}
        found = []
        for member in members:
            claims = asks.get(member.pod.uid, ())
            if sum(one.count for one in claims) != len(member.devices):
                return (), f"the claims of {member.pod} have changed meanwhile"
            for one in claims:
                if (member.pod.namespace, one.uid) in self._taken:
                    return (), f"ResourceClaim {one.name} is on its way to another pod"
                self._taken.add((member.pod.namespace, one.uid))
            node = self._reading.snapshot.fabric.nodes[member.node]
            names = iter([node.device_names[number] for number in member.devices])
            given = tuple(_given(member.pod.namespace, one, names) for one in claims)
            found.append(replace(member, devices=(), claims=given))
        return tuple(found), ""


def _given(namespace: str, ask: ClaimAsk, names: Iterator[DeviceName]) -> ClaimAllocation:
    devices = tuple((request, next(names)) for request, count in ask.requests for _ in range(count))
    return ClaimAllocation(Target(namespace, ask.name, ask.uid, ask.version), devices)
