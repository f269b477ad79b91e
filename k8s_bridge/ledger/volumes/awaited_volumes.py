"""Volumes that are awaited for long: which claims, of which provisioner, since when, and in words.

The gang of such a claim holds its nodes meanwhile and is planned no more, so no cycle says of it
why it does not start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.ledger import Commit, Ledger
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.api_text import second
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.reasons.kinds import Reason, ReasonKind

LATE_SECONDS = 5.0
"""Seconds after which it is told that a volume is awaited: most are made within them."""

RETELL_SECONDS = 60.0
"""Seconds, at least, until another claim of the same commit is told: it is told to each member."""


@dataclass(frozen=True, slots=True)
class AwaitedVolume:
    """A claim that has no volume for `node` yet; `provisioner` makes it, "" where not known.

    `since` in seconds since the epoch.
    """

    claim: Target
    provisioner: str
    node: str
    since: float

    def awaited(self) -> Reason:
        """Why its gang does not start, while it is awaited."""
        detail = f"{self._what()} yet: {self._provider()} is awaited since {second(self.since)}"
        return Reason(ReasonKind.VOLUMES_AWAITED, detail, unblock=(self.step,))

    def missed(self, seconds: float) -> str:
        """Why its gang goes back after so many seconds."""
        return f"{self._what()} after {seconds:.0f} s: {self._provider()} has not answered"

    @property
    def step(self) -> str:
        """Where to look for what is wrong."""
        namespace, name = self.claim.namespace, self.claim.name
        events = f"see the events of the claim (kubectl -n {namespace} describe pvc {name})"
        return f"{events} and the pods of its provisioner"

    def _provider(self) -> str:
        return f"provisioner {self.provisioner}" if self.provisioner else "its provisioner"

    def _what(self) -> str:
        return f"PersistentVolumeClaim {self.claim} has no volume for {self.node}"


class VolumeWatcher(Protocol):
    """Hears of the volumes of members that are awaited for long."""

    def late(self, member: Member, volume: AwaitedVolume, /) -> None:
        """It has been awaited for `LATE_SECONDS` or more; said again and again."""

    def missed(self, member: Member, volume: AwaitedVolume, /) -> None:
        """It is awaited no longer, and its gang goes back."""

    def over(self, member: Member, claim: Target, /) -> None:
        """The volume of a claim is awaited no longer, whatever came of it."""


class Unwatched:
    """Hears nothing of it."""

    def late(self, _member: Member, _volume: AwaitedVolume, /) -> None:
        """Nothing."""

    def missed(self, _member: Member, _volume: AwaitedVolume, /) -> None:
        """Nothing."""

    def over(self, _member: Member, _claim: Target, /) -> None:
        """Nothing."""


@dataclass(slots=True)
class _Told:
    """What was told of a commit, `at` on the monotonic clock; `over` once it is awaited no more."""

    volume: AwaitedVolume
    at: float
    over: bool = False


@dataclass(slots=True, eq=False)
class AwaitedVolumes:
    """Tells of a commit one claim at a time, another one only when the first has its volume."""

    ledger: Ledger
    clock: Clock
    tell: Callable[[Commit, Reason], None]
    _told: dict[str, _Told] = field(default_factory=dict)
    _missed: dict[str, AwaitedVolume] = field(default_factory=dict)
    """By the UID of the pod."""

    def late(self, member: Member, volume: AwaitedVolume, /) -> None:
        """Tell of it, unless another of the same commit has been told."""
        name = self.ledger.commit_of(member.pod.uid) or ""
        commit = self.ledger.commit(name)
        if commit is None:
            return
        told, now = self._told.get(name), self.clock.monotonic()
        if told is None or (told.over and now - told.at >= RETELL_SECONDS):
            self._told = {one: it for one, it in self._told.items() if self.ledger.commit(one)}
            self._told[name] = _Told(volume, now)
            self.tell(commit, volume.awaited())

    def missed(self, member: Member, volume: AwaitedVolume, /) -> None:
        """Keep it for who takes the commit back."""
        self._missed[member.pod.uid] = volume

    def over(self, member: Member, claim: Target, /) -> None:
        """Another of the commit may be told now."""
        told = self._told.get(self.ledger.commit_of(member.pod.uid) or "")
        if told is not None and told.volume.claim == claim:
            told.over = True

    def missed_by(self, commit: Commit) -> AwaitedVolume | None:
        """A volume for want of which the commit goes back, None where there is none; said once."""
        found = [self._missed.pop(member.pod.uid, None) for member in commit.members]
        return next((one for one in found if one is not None), None)
