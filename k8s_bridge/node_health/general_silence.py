"""General silence: most nodes are silent at once, which says more of the network than of them.

A leader may be on the smaller side of a network that has come apart, beside the API server and one
node, and find all others silent by every witness it has. It holds none of them for dead for that,
as Kubernetes' node controller holds evictions back where most nodes of a zone are lost.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Container, Mapping, Set
from dataclasses import dataclass, field
from datetime import datetime

from fourleaf.k8s_bridge.node_health.judge import Judgement, Signs, is_suspect

GENERAL_SILENCE_SHARE = 0.55
"""What has to be silent; the node controller's `--unhealthy-zone-threshold`."""

FEW_SILENT_NODES = 2
"""So many may fall silent at once whatever share they are."""

FRESH_DEATH_SECONDS = 60.0
"""A node that is dead for longer fell silent before the others, and counts on neither side."""

SAME_SILENCE_SECONDS = 600.0
"""Seconds between the last heartbeats, each by the clock of its node, of nodes that may have fallen
silent at once. Clocks of nodes differ, and no kubelet lives whose clock is further off."""

_NO_SIGNS = Signs(there=False)


@dataclass(frozen=True, slots=True)
class _Silent:
    """A node that is silent as most are, or were until `ended`, and what its Lease said then."""

    renewed: str
    ended: float | None = None


@dataclass(slots=True, eq=False)
class GeneralSilence:
    """The general silences of one term. One lasts while `exempt` names any node."""

    exempt: frozenset[str] = frozenset()
    """Nodes that do not die of their silence."""
    heard: set[str] = field(default_factory=set)
    """Nodes that were heard in this term, by their kubelet or by their host."""
    _members: dict[str, _Silent] = field(default_factory=dict)
    """Nodes that were exempt in the silence that lasts, and have not been heard since."""

    def see(
        self,
        signs: Mapping[str, Signs],
        answering: Set[str],
        judgements: Mapping[str, Judgement],
        now: float,
        hold: float,
    ) -> None:
        """Look at the `signs` of all nodes; `now` in monotonic seconds.

        Who is no longer silent as most are stays exempt for `hold` seconds, or until it is heard:
        kubelets come back one by one. One that is deleted or taken out of service meanwhile counts
        as silent until the silence ends, or nodes that are taken out would make the others dead.
        `answering`: those whose hosts have answered a probe just now.
        """
        well = {name for name, one in signs.items() if one.there and not is_suspect(one)}
        known = signs.keys() | self._members.keys()
        self.heard = (self.heard & known) | answering | well
        members = {
            name: one
            for name, one in self._members.items()
            if not _is_renewed(signs.get(name, _NO_SIGNS), one.renewed)
        }
        most = general_silence(signs, answering, self.heard, judgements, now, members.keys())
        for name in most - members.keys():
            if not _is_dead(judgements, name):
                members[name] = _Silent(signs[name].renewed)
        for name, one in list(members.items()):
            if name in most:
                members[name] = _Silent(one.renewed)
            elif one.ended is None:
                members[name] = _Silent(one.renewed, now)
            elif now - one.ended > hold:
                del members[name]
        self.exempt = frozenset(
            name
            for name in members.keys() & signs.keys()
            if signs[name].there
            and not signs[name].out_of_service
            and not _is_dead(judgements, name)
        )
        self._members = members if self.exempt else {}


def general_silence(
    signs: Mapping[str, Signs],
    answering: Container[str],
    heard: Set[str],
    judgements: Mapping[str, Judgement],
    now: float,
    members: Set[str] = frozenset(),
) -> frozenset[str]:
    """The nodes that are silent as most are; `now` in monotonic seconds.

    Of nodes that have been `heard` in this term, most of these; of the others, most of all, as far
    as they may have fallen silent together. So nodes that were switched off before it began say
    nothing of one that falls silent now, nor of one that did so just before.
    `answering`: those whose hosts have answered a probe just now. `members` of a silence that
    lasts are silent whatever has become of them, unless they answer.
    """
    silent, counted = {name for name in members if name not in answering}, set(members)
    for name in signs.keys() - members:
        one, before = signs[name], judgements.get(name)
        is_old = before is not None and before.dead and now - before.since > FRESH_DEATH_SECONDS
        if not one.there or one.out_of_service or is_old:
            continue
        counted.add(name)
        if is_suspect(one) and name not in answering:
            silent.add(name)
    late, never = silent & heard, silent - heard
    found = late if are_most(len(late), len(counted & heard)) else set()
    return frozenset(found | _together(never, signs, len(counted)))


def _together(never: Set[str], signs: Mapping[str, Signs], of_all: int) -> set[str]:
    """Those that may have fallen silent with most nodes, by what their Leases say."""
    if not are_most(len(never), of_all):
        return set()
    last = {name: _moment(signs.get(name, _NO_SIGNS).renewed) for name in never}
    known = sorted(at for at in last.values() if at is not None)

    def beside(at: float | None) -> int:
        if at is None:
            return len(never)
        first = bisect_left(known, at - SAME_SILENCE_SECONDS)
        end = bisect_right(known, at + SAME_SILENCE_SECONDS)
        return end - first + len(never) - len(known)

    return {name for name, at in last.items() if are_most(beside(at), of_all)}


def _moment(renewed: str) -> float | None:
    """When a Lease was renewed, in seconds since the epoch; None where it does not say."""
    try:
        return datetime.fromisoformat(renewed).timestamp()
    except ValueError:
        return None


def are_most(some: int, of_all: int) -> bool:
    """Whether so many silent nodes are most of all."""
    return some > FEW_SILENT_NODES and some / of_all >= GENERAL_SILENCE_SHARE


def _is_renewed(one: Signs, before: str) -> bool:
    """Whether its kubelet was heard since its Lease said what it said `before`.

    Its silence does not tell: that counts for nothing where no kubelet is heard.
    """
    return one.there and (one.renewed != before if one.renewed else not is_suspect(one))


def _is_dead(judgements: Mapping[str, Judgement], name: str) -> bool:
    return name in judgements and judgements[name].dead
