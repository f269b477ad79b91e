"""What a search of the model covers: who wants what where, what may go wrong, what is left out."""

from __future__ import annotations

from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class Safeguards:
    """Each of them may be turned off, to see that the search notices."""

    rewrite: bool = True
    """A new leader writes every page anew."""
    kill: bool = True
    """A new leader deletes what is only prepared."""
    binding_version: bool = True
    """A binding is for one version of its pod."""
    uid: bool = True
    """A pod that is read after a conflict has to be the one that was planned."""
    fence: bool = True
    """Unbound members are fenced before what they hold is freed."""
    reread: bool = True
    """A conflict at takeover has the named gang leases read again."""
    page_version: bool = True
    """A page is written under its version."""
    phase_version: bool = True
    """A gang lease is decided under its version."""
    standing: bool = True
    """Before a changed pod is bound, the record of its commit is read again."""

    @property
    def off(self) -> list[str]:
        """Those that are turned off."""
        return [one.name for one in fields(self) if not getattr(self, one.name)]


@dataclass(frozen=True, slots=True)
class Scope:
    """Nodes are numbered; `page_of` says which page lists each.

    `gangs` are the pods of each gang. `places` are the nodes on which each leader may place a
    gang, by leader and gang; each is tried once. The first leader leads when it begins, with
    fresh records. `faults` requests may fail or be lost, `crashes` processes start anew,
    `deaths` times may a leader find that a node is dead, `replaced` pods are deleted and made
    anew. A leader may pause anywhere, for any time or for ever. What follows once a pod has been
    written `writes` times is left out: two leaders that both roll back write their fences over
    each other's for as long as both go on.
    """

    name: str
    page_of: tuple[int, ...]
    gangs: tuple[tuple[int, ...], ...]
    places: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]
    faults: int = 0
    crashes: int = 0
    deaths: int = 0
    replaced: int = 0
    writes: int = 6
    safe: Safeguards = field(default_factory=Safeguards)

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(self.page_of) + 1

    def __str__(self) -> str:
        without = f"; WITHOUT {', '.join(self.safe.off)}" if self.safe.off else ""
        return (
            f"protocol, {self.name}: {len(self.gangs)} gangs of {sum(map(len, self.gangs))} pods, "
            f"{len(self.page_of)} nodes, {self.pages} pages, 2 leaders\n"
            f"  bounds: any number of interruptions and pauses, at most {self.faults} faulty "
            f"requests, {self.crashes} restarts, {self.deaths} dead nodes, {self.replaced} pods "
            f"made anew, {self.writes} writes of each pod{without}"
        )
