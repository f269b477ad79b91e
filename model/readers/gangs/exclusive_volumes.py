"""PersistentVolumeClaims that one pod at a time may use: ReadWriteOncePod."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fourleaf.model.gang import Hold
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.turns import Turns
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.readers.pods.volumes import ONE_POD
from fourleaf.model.reasons.kinds import ReasonKind


def take_turns_on_volumes(drafts: Sequence[Draft], running: Neighbours, turns: Turns) -> None:
    """Hold each gang of which a member's claim is in use, or is another's first.

    As kube-scheduler's plugin VolumeRestrictions has it.
    """
    first: dict[tuple[str, str], Draft] = {}
    ready = (one for one in drafts if one.is_exclusive and one.gang.hold is None)
    for draft in sorted(ready, key=turns.order):
        hold = _hold(draft, running, first, turns)
        if hold is not None:
            draft.gang = replace(draft.gang, hold=hold)
            continue
        first |= {(pod.namespace, claim): draft for pod, claim in _uses(draft)}


def _uses(draft: Draft) -> Iterator[tuple[Pod, str]]:
    for pod in draft.waiting:
        for claim in pod.volumes.exclusive:
            yield pod, claim


def _hold(
    draft: Draft,
    running: Neighbours,
    first: dict[tuple[str, str], Draft],
    turns: Turns,
) -> Hold | None:
    own: set[str] = set()
    for pod, claim in _uses(draft):
        title = f"PersistentVolumeClaim {pod.namespace}/{claim} ({ONE_POD})"
        if claim in own:
            advice = "Give each member a claim of its own, or use ReadWriteMany."
            what = f"{title} is for one pod, and two members of one gang use it, which"
            return Hold(ReasonKind.UNSUPPORTED, f"{what} cannot be honoured", (), (advice,))
        own.add(claim)
        user = next(iter(running.claiming(pod.namespace, claim)), None)
        if user is not None:
            advice = f"It is planned once {user.namespace}/{user.name} has ended."
            what = f"{title} is in use by {user.namespace}/{user.name}"
            return Hold(ReasonKind.GATED, what, (), (advice,))
        ahead = first.get((pod.namespace, claim))
        if ahead is not None:
            turns.goes_ahead(ahead, draft)
            what = f"{title} goes to gang {ahead.gang.key} first"
            advice = f"It is planned once {ahead.gang.key} has ended."
            return Hold(ReasonKind.WAITS_FOR_GANG, what, (), (advice,))
    return None
