"""Which claim of a pod gets which devices: GPUs that were chosen for it, and others beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import RESOURCE_CLAIMS
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.free_devices import held_by_claims
from fourleaf.k8s_bridge.ledger.ledger import Ledger
from fourleaf.k8s_bridge.ledger.records import ClaimAllocation, Member
from fourleaf.k8s_bridge.scheduling.holds.claims_on_their_way import on_their_way
from fourleaf.model.devices.names import DeviceName
from fourleaf.model.gang import GangKey
from fourleaf.model.readers.dra.claims import Asked, ClaimAsk, allocated
from fourleaf.model.readers.live import LiveReading
from fourleaf.model.topology import natural_key

_Given = dict[tuple[int, int, int], list[DeviceName]]
"""Member, claim of it, request of that -> the devices of the request."""


class DeviceClaims:
    """Shares out devices to claims, none to two, and gives no claim that has none to two pods."""

    def __init__(self, reading: LiveReading, ledger: Ledger, cache: ClusterCache) -> None:
        self._reading, self._ledger, self._cache = reading, ledger, cache
        self._gpus_are_claimed = cache.config.spec.devices.mode == "dra"
        self._given: set[DeviceName] = set()
        self._taken = on_their_way(ledger)

    def claimed(self, gang: GangKey, members: Sequence[Member]) -> tuple[tuple[Member, ...], str]:
        """The members of a gang, the devices of their claims by name; why that cannot be."""
        facts = self._reading.gangs.get(gang)
        waiting = {one.uid: one.claims for one in facts.waiting} if facts else {}
        asks = [waiting.get(member.pod.uid, ()) for member in members]
        if not any(asks) and not self._gpus_are_claimed:
            return tuple(members), ""
        why = next(filter(None, map(self._unclaimable, members, asks)), "")
        if why:
            return (), why
        beside, why = self._beside_gpus(members, asks)
        if why:
            return (), why
        self._given.update(name for names in beside.values() for name in names)
        found = []
        for number, (member, claims) in enumerate(zip(members, asks, strict=True)):
            gpus = self._gpus_of(member)
            given = tuple(
                _allocation(
                    member.pod.namespace, ask, self._names(ask, (number, place), beside, gpus)
                )
                for place, ask in enumerate(claims)
            )
            devices = () if self._gpus_are_claimed else member.devices
            found.append(replace(member, devices=devices, claims=given))
        return tuple(found), ""

    def _unclaimable(self, member: Member, claims: Sequence[ClaimAsk]) -> str:
        """Why the claims of a member cannot be given what they ask for, as things stand now."""
        count = sum(one.count for one in claims)
        if count != (len(member.devices) if self._gpus_are_claimed else 0):
            return f"the claims of {member.pod} have changed meanwhile"
        for one in claims:
            if one.held:
                continue
            if (member.pod.namespace, one.uid) in self._taken:
                return f"ResourceClaim {one.name} is on its way to another pod"
            self._taken.add((member.pod.namespace, one.uid))
        return ""

    def _gpus_of(self, member: Member) -> Iterator[DeviceName]:
        """The GPUs that were chosen for a member, by name, where they are claimed."""
        if not self._gpus_are_claimed:
            return iter(())
        node = self._reading.snapshot.fabric.nodes[member.node]
        return iter([node.device_names[number] for number in member.devices])

    def _beside_gpus(
        self, members: Sequence[Member], asks: Sequence[Sequence[ClaimAsk]]
    ) -> tuple[_Given, str]:
        """Devices for all requests of a gang for others than GPUs; why there are too few.

        Narrow classes choose first, and each takes devices of the fewest classes, so that none
        takes what only a narrower one can use, as far as classes lie within each other.
        """
        wider = self._cache.drivers.kinds.wider
        requests = [
            ((number, place, at), asked, members[number].node)
            for number, claims in enumerate(asks)
            for place, ask in enumerate(claims)
            for at, asked in enumerate(ask.requests)
            if asked.device_class
        ]
        requests.sort(key=lambda one: -len(wider.get(one[1].device_class, ())))
        found: _Given = {}
        free: dict[str, dict[DeviceName, tuple[str, ...]]] = {}
        for key, asked, node in requests:
            if node not in free:
                free[node] = self._free_on(node)
            left = free[node]
            fitting = [name for name, classes in left.items() if asked.device_class in classes]
            if len(fitting) < asked.count:
                return {}, f"devices of class {asked.device_class} of node {node} have been taken"
            found[key] = fitting[: asked.count]
            for name in found[key]:
                del left[name]
        return found, ""

    def _free_on(self, node: str) -> dict[DeviceName, tuple[str, ...]]:
        """The devices of a node beside its GPUs that nothing holds, those of few classes first."""
        # No union: what the whole cluster holds would be copied for each node of a batch.
        held = (self._held, self._given, held_by_claims(self._ledger, self._cache, (node,)))
        offered = self._cache.drivers.offer(node).classes
        free = [
            (name, classes)
            for name, classes in offered.items()
            if not any(name in names for names in held)
        ]
        free.sort(
            key=lambda one: (len(one[1]), one[0].driver, one[0].pool, natural_key(one[0].device))
        )
        return dict(free)

    @cached_property
    def _held(self) -> set[DeviceName]:
        """All devices that claims hold, whatever made them."""
        claims = self._cache.objects.get(RESOURCE_CLAIMS, {}).values()
        return {name for body in claims for name in allocated(body)}

    @staticmethod
    def _names(
        ask: ClaimAsk, key: tuple[int, int], beside: _Given, gpus: Iterator[DeviceName]
    ) -> Iterator[tuple[Asked, list[DeviceName]]]:
        """The devices of each request of a claim."""
        for at, asked in enumerate(ask.requests):
            if asked.device_class:
                yield asked, beside[(*key, at)]
            else:
                yield asked, [next(gpus) for _ in range(asked.count)]


def _allocation(
    namespace: str, ask: ClaimAsk, given: Iterator[tuple[Asked, list[DeviceName]]]
) -> ClaimAllocation:
    devices = tuple((asked.request, name) for asked, names in given for name in names)
    return ClaimAllocation(Target(namespace, ask.name, ask.uid, ask.version), ask.held or devices)
