"""Whether a node is dead: a pure function of what is known of it, and of its last judgement.

A wrong yes restarts a training for nothing; a late yes wastes its GPUs. So a silent node is dead
only on two accounts: its kubelet has fallen silent, and its host does not answer either, or the
node controller has given it up. Neither counts while most nodes are silent at once, or more and
more fall silent. And once dead it stays so until it has been well for a while, for what flaps is no
place to go.

That a node is not late proves nothing where no node is: what died of its silence is back once it
has said something new. While no kubelet is heard at all, no node comes back from death, and none
that has come back is on its way to be well but by an answer of its host.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum


class NodeVerdict(StrEnum):
    """What a node is taken for.

    `well`. `silent`: its kubelet is late, and nothing follows from that yet. `dead`: what runs
    there is lost. `returning`: it was dead and is heard again, but takes no gang yet.
    """

    WELL = "well"
    SILENT = "silent"
    DEAD = "dead"
    RETURNING = "returning"


class Cause(StrEnum):
    """What speaks for a node's death, the surest first."""

    DELETED = "Deleted"
    OUT_OF_SERVICE = "OutOfService"
    CONDITION = "Condition"
    UNREACHABLE = "Unreachable"
    SILENT = "Silent"


_BY_SILENCE = frozenset({Cause.UNREACHABLE, Cause.SILENT})
"""Causes that a network which has come apart looks like as well."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What is known of a node now.

    `there`: its object exists. `deleted`: it is gone for good, and the API server
    has said so itself. `ready` is the status of its condition `Ready`. `silence` is in
    seconds, None where its kubelet has never been heard. `answers` is what the probe found,
    None where its object names no address, or hosts that are surely well do not answer either.
    `out_of_service`: it is tainted as shut down. `broken` names a condition that is
    true and that the config counts as a failure. `leaf_dead`: another node of its leaf is dead.
    `general`: it is silent as most nodes are, or were a moment ago, or as many have just become.
    `renewed` is what its Lease says. `answered`: its host has answered just now, while
    `answers` is also true where too few probes have failed. `hushed`: no kubelet is heard at all,
    so that `silence` counts for nothing, and is None once that has lasted.
    """

    there: bool = True
    deleted: bool = False
    ready: str = "True"
    silence: float | None = 0.0
    answers: bool | None = None
    out_of_service: bool = False
    broken: str = ""
    leaf_dead: bool = False
    general: bool = False
    renewed: str = ""
    answered: bool = False
    hushed: bool = False


SUSPECT_SECONDS = 11.0
"""Seconds of silence after which a node is asked whether it lives. Kubelets renew every 10 s."""

RETURN_SILENCE_SHARE = 0.75
"""Of the silence that makes a node dead, what a node that returns may take between heartbeats."""

LEAF_SILENCE_SECONDS = 12.0
"""Seconds of silence that suffice where another node of the leaf is dead: what takes a rack
down takes it down at once, but the heartbeats of its nodes are due at different times."""


@dataclass(frozen=True, slots=True)
class SilenceLimits:
    """Seconds of silence that make a node dead, and of health that make it well again."""

    silent: float = 20.0
    well: float = 30.0


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, what it rests on, and since when (monotonic seconds).

    `renewed`: what the Lease of a dead node said when it was found silent last; "" where it was
    not, or has none.
    """

    verdict: NodeVerdict = NodeVerdict.WELL
    cause: Cause | None = None
    since: float = 0.0
    detail: str = ""
    renewed: str = ""

    @property
    def dead(self) -> bool:
        """Whether what runs on the node is lost."""
        return self.verdict is NodeVerdict.DEAD

    @property
    def usable(self) -> bool:
        """Whether the node may be given to gangs."""
        return self.verdict in (NodeVerdict.WELL, NodeVerdict.SILENT)


def judge(before: Judgement, signs: Signs, limits: SilenceLimits, now: float) -> Judgement:
    """The judgement of a node at `now` (monotonic seconds)."""
    cause = _cause(signs, limits)
    if cause in _BY_SILENCE and signs.general and not before.dead:
        cause = None
    if cause is not None:
        renewed = signs.renewed if cause in _BY_SILENCE else before.renewed
        if before.dead and (before.cause, before.renewed) == (cause, renewed):
            return before
        since = before.since if before.dead else now
        return Judgement(NodeVerdict.DEAD, cause, since, signs.broken, renewed)
    if before.verdict is NodeVerdict.DEAD:
        # A node that is only no longer probed has not come back.
        return _returning(now) if _has_come_back(before, signs, limits) else before
    if before.verdict is NodeVerdict.RETURNING:
        # Kubelets may be told to renew their Leases as seldom as they like.
        if not (_is_heard(signs, limits) or (signs.answered and _is_ready(signs))):
            return replace(before, since=now)
        return before if now - before.since < limits.well else Judgement(since=now)
    verdict = NodeVerdict.SILENT if is_suspect(signs) else NodeVerdict.WELL
    return before if verdict is before.verdict else Judgement(verdict, since=now)


def is_suspect(signs: Signs) -> bool:
    """Whether the node is worth a probe."""
    late = signs.silence is not None and signs.silence > SUSPECT_SECONDS
    return signs.there and (late or signs.ready == "Unknown")


def _cause(signs: Signs, limits: SilenceLimits) -> Cause | None:
    if not signs.there:
        return Cause.DELETED if signs.deleted else None
    if signs.out_of_service:
        return Cause.OUT_OF_SERVICE
    if signs.broken:
        return Cause.CONDITION
    if signs.answers:
        return None
    if signs.ready == "Unknown" and (signs.silence is None or signs.silence > limits.silent):
        # The node controller says so as well: that is a second account by itself.
        return Cause.UNREACHABLE
    limit = min(LEAF_SILENCE_SECONDS, limits.silent) if signs.leaf_dead else limits.silent
    if signs.answers is False and signs.silence is not None and signs.silence > limit:
        return Cause.SILENT
    return None


def _has_come_back(before: Judgement, signs: Signs, limits: SilenceLimits) -> bool:
    """Whether a dead node is back, by something that it did itself."""
    is_unknown = signs.silence is None
    if not _is_heard(signs, limits) or (signs.hushed and not is_unknown):
        return False
    if not before.renewed or signs.renewed not in ("", before.renewed):
        return True
    # Without its Lease, only its kubelet makes a node ready again that was given up.
    return is_unknown and (signs.answered or before.cause is not Cause.SILENT)


def _is_heard(signs: Signs, limits: SilenceLimits) -> bool:
    if signs.hushed:
        # Where Leases may be read no more and no host may be asked, all that is left is the API.
        known = signs.answered or (signs.silence is None and signs.answers is None)
        return known and _is_ready(signs)
    limit = limits.silent if signs.answers else RETURN_SILENCE_SHARE * limits.silent
    late = signs.silence is not None and signs.silence > max(SUSPECT_SECONDS, limit)
    return not late and _is_ready(signs)


def _is_ready(signs: Signs) -> bool:
    return signs.there and signs.ready == "True"


def _returning(now: float) -> Judgement:
    return Judgement(NodeVerdict.RETURNING, since=now)
