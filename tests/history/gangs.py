"""Gangs as the pods' own annotations tell them, followed through every version."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.history import pods
from tests.history.history import History
from tests.history.versions import Version

Body = dict[str, Any]


@dataclass(slots=True)
class Gang:
    """The members of a gang that there have been, as last seen, and which of them are gone."""

    name: str
    size: int = 0
    members: dict[str, Body] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)

    def note(self, version: Version) -> None:
        """Take a version of a member."""
        uid = pods.uid(version.body)
        self.members[uid] = version.body
        if version.deleted:
            self.gone.add(uid)
        elif pods.gang_size(version.body):
            self.size = pods.gang_size(version.body)

    @property
    def there(self) -> list[Body]:
        """The members that are not gone."""
        return [pod for uid, pod in self.members.items() if uid not in self.gone]

    @property
    def bound(self) -> list[Body]:
        """The members that hold a node."""
        return [pod for pod in self.there if pods.holds(pod)]

    @property
    def started(self) -> list[Body]:
        """The members that hold a node, and those that have ended on theirs."""
        ended = [pod for pod in self.members.values() if pods.node(pod) and pods.ended(pod)]
        return [*self.bound, *ended]

    @property
    def waiting(self) -> list[Body]:
        """The members that are neither bound nor on their way out."""
        return [
            pod
            for pod in self.there
            if not pods.node(pod) and not pods.dying(pod) and not pods.ended(pod)
        ]

    @property
    def whole(self) -> bool:
        """Whether as many members as it needs have started, of those that are not gone."""
        return self.size > 0 and len(self.started) >= self.size


def stages(
    history: History, sizes: Mapping[str, int] | None = None
) -> Iterator[tuple[Version, Gang]]:
    """Each version of a member of a gang of ours, with the gang as it then stands.

    `sizes` gives the size of gangs whose pods do not say it, by NAMESPACE/NAME.
    """
    gangs: dict[str, Gang] = {}
    for version in history.of("pods"):
        name = pods.gang(version.body)
        if not name or not history.is_ours(version.body):
            continue
        gang = gangs.setdefault(name, Gang(name))
        gang.note(version)
        gang.size = (sizes or {}).get(name, gang.size)
        yield version, gang
