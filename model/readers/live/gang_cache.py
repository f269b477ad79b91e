"""What has been read of every gang, kept until something of it changes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from fourleaf.model.gang import GangKey
from fourleaf.model.problems import Problem
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.names import Identity
from fourleaf.model.readers.gangs.read_gang import GangRead
from fourleaf.model.readers.live.known_problems import KnownProblems
from fourleaf.model.readers.live.object_cache import Address
from fourleaf.model.readers.pods.attached_volumes import AttachedVolumes
from fourleaf.model.readers.pods.mapped_devices import MappedDevices, nodes_in_maps
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.reasons.kinds import ReasonKind
from fourleaf.model.resources import Resources, plus, total
from fourleaf.model.snapshot import RunningPod

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Kept:
    """What was read of one gang, and what was found wrong on the way."""

    read: GangRead
    problems: tuple[Problem, ...] = ()


NOTHING = Kept(GangRead())
"""What there is of a gang that is gone."""


class GangCache:
    """The gangs as they were read last, and what all of them come to.

    `running` are the running pods, `uids` theirs. `drafted` are the gangs with something to
    place, `undated` those whose age depends on the time of the reading. `problems` are by
    gang. `arrivals` counts how often gangs came to be on no hold. `mapped` are the devices that
    device maps name, `sharing`, by node, the gangs whose lines depend on which of them are held.
    `come_free` are those that held themselves back when they were read before; who reads them
    clears them.
    """

    def __init__(self) -> None:
        self.running: dict[Address, RunningPod] = {}
        self.uids: dict[Address, str] = {}
        self.drafted: dict[Identity, tuple[Draft, ...]] = {}
        self.undated: set[Identity] = set()
        self.problems = KnownProblems()
        self.arrivals = 0
        self.neighbours = Neighbours()
        self.attached = AttachedVolumes()
        self.mapped = MappedDevices()
        self.come_free: list[Draft] = []
        self.sharing: dict[str, set[Identity]] = {}
        self._maps: dict[Identity, frozenset[str]] = {}
        self._shares: dict[Identity, frozenset[str]] = {}
        """Gangs of `sharing` -> the nodes that their maps name."""
        self._there: dict[Identity, dict[Address, Pod]] = {}
        self._gang_of: dict[Address, Identity] = {}
        """Where a running pod was read last: it may have moved to a gang that is read earlier."""
        self._on_node: dict[str, dict[Address, RunningPod]] = {}
        self._used: dict[str, Resources] = {}
        self._touched: set[str] = set()

    @property
    def used(self) -> Mapping[str, Resources]:
        """Node -> what its running pods hold; nodes without pods are absent."""
        for node in self._touched:
            pods = self._on_node.get(node)
            if pods:
                self._used[node] = total([pod.request for pod in pods.values()])
            else:
                self._on_node.pop(node, None)
                self._used.pop(node, None)
        self._touched.clear()
        return self._used

    def keep(self, gangs: Mapping[Identity, Kept]) -> bool:
        """Keep `gangs` in place of what was read of them; whether other pods run now."""
        changed = self._run(gangs)
        for identity, kept in gangs.items():
            drafts, running = kept.read.drafts, kept.read.running
            before = self.drafted.get(identity, ())
            self.arrivals += bool(_able(drafts) - _able(before))
            if before:
                self.come_free += _come_free(before, drafts)
            _keep_gangs(before, drafts)
            for pod in self._there.pop(identity, {}).values():
                self.neighbours.discard(pod)
                self.attached.discard(pod)
            for pod, counted in running:
                self._note_there(identity, pod, counted)
            _note(self.drafted, identity, drafts)
            self.problems.keep(identity, kept.problems)
            self._share(identity, self._shares.pop(identity, frozenset()), kept.read)
            self.mapped.put(self._maps.pop(identity, ()), kept.read.maps)
            if kept.read.maps:
                self._maps[identity] = kept.read.maps
            _mark(self.undated, identity, any(draft.undated for draft in drafts))
        return changed

    def _share(self, identity: Identity, before: frozenset[str], read: GangRead) -> None:
        """Let the gang be read again where other devices are held on nodes that its maps name."""
        now = nodes_in_maps(read.maps) if read.shares else frozenset[str]()
        for node in before - now:
            self.sharing[node].discard(identity)
            if not self.sharing[node]:
                del self.sharing[node]
        for node in now - before:
            self.sharing.setdefault(node, set()).add(identity)
        if now:
            self._shares[identity] = now

    def put_pod(self, identity: Identity, at: Address, read: GangRead) -> None:
        """Keep what is read of one pod alone, in place of what there was of it."""
        self.take_out(at)
        for pod, running in read.running:
            self._gang_of[at] = identity
            self._note_there(identity, pod, running)
            self._start(at, pod, running)

    def take_out(self, at: Address) -> bool:
        """The pod is gone, or is read anew; whether it ran."""
        identity = self._gang_of.pop(at, None)
        if identity is None:
            return False
        there = self._there.get(identity, {})
        if (pod := there.pop(at, None)) is not None:
            self.neighbours.discard(pod)
            self.attached.discard(pod)
        if not there:
            self._there.pop(identity, None)
        self._leave(at)
        del self.uids[at]
        return True

    def _note_there(self, identity: Identity, pod: Pod, running: RunningPod) -> None:
        """Let others mind the pod, and count its volumes."""
        self._there.setdefault(identity, {})[_at(pod)] = pod
        self.neighbours.add(pod)
        self.attached.add(pod, running.node, pod.attached, running.ours)

    def _run(self, gangs: Mapping[Identity, Kept]) -> bool:
        """Take over what runs; a pod that runs as before stays the same object."""
        changed = False
        # All gangs at once: a pod may have moved from one of them to another.
        before = {at for identity in gangs for at in self._there.get(identity, ())}
        now = {_at(both[0]): both for kept in gangs.values() for both in kept.read.running}
        for at in before - now.keys():
            if self._gang_of.get(at) not in gangs:
                continue
            self._leave(at)
            del self.uids[at], self._gang_of[at]
            changed = True
        for identity, kept in gangs.items():
            self._gang_of.update((_at(pod), identity) for pod, _ in kept.read.running)
        for at, (pod, running) in now.items():
            if self.running.get(at) != running or self.uids[at] != pod.uid:
                self._leave(at)
                self._start(at, pod, running)
                changed = True
        return changed

    def _start(self, at: Address, pod: Pod, running: RunningPod) -> None:
        """The pod runs from now on."""
        self._on_node.setdefault(running.node, {})[at] = running
        self._touched.add(running.node)
        if running.ours:
            self.mapped.hold(running.node, running.devices)
        self.running[at], self.uids[at] = running, pod.uid

    def _leave(self, at: Address) -> None:
        """The pod runs no more, or not as before."""
        old = self.running.pop(at, None)
        if old is not None:
            self._on_node[old.node].pop(at)
            self._touched.add(old.node)
            if old.ours:
                self.mapped.release(old.node, old.devices)


def used_with(used: Mapping[str, Resources], others: Iterable[RunningPod]) -> dict[str, Resources]:
    """What pods hold by node, with `others` beside them."""
    found = dict(used)
    for one in others:
        held = found.get(one.node)
        found[one.node] = one.request if held is None else plus(held, one.request)
    return found


def _at(pod: Pod) -> Address:
    return pod.namespace, pod.name


def _able(drafts: Iterable[Draft]) -> set[GangKey]:
    """The gangs that are on no hold."""
    return {draft.gang.key for draft in drafts if draft.as_read.hold is None}


def _come_free(before: Iterable[Draft], now: Iterable[Draft]) -> list[Draft]:
    """Those that were held for what they were, and not for what another part of them does.

    None of which members are bound: it has had its turn.
    """
    held = {
        draft.as_read.key
        for draft in before
        if draft.as_read.hold is not None
        and draft.as_read.hold.kind is not ReasonKind.WAITS_FOR_GANG
    }
    return [
        draft
        for draft in now
        if draft.as_read.key in held and draft.as_read.hold is None and not draft.bound
    ]


def _keep_gangs(before: Iterable[Draft], now: Iterable[Draft]) -> None:
    """Let drafts that were read anew have the gangs of before, where those are equal."""
    known = {draft.as_read.key: draft.as_read for draft in before}
    for draft in now:
        old = known.get(draft.gang.key)
        if old == draft.gang:
            draft.take(old)


def _note(where: dict[_Key, tuple[_Value, ...]], key: _Key, values: tuple[_Value, ...]) -> None:
    if values:
        where[key] = values
    else:
        where.pop(key, None)


def _mark(where: set[_Key], key: _Key, yes: bool) -> None:
    if yes:
        where.add(key)
    else:
        where.discard(key)
