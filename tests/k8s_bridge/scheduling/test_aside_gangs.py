"""The queue and the gangs aside, kept up, against the same worked out anew each time."""

from __future__ import annotations

import random

import pytest

from fourleaf.k8s_bridge.scheduling.aside_gangs import AsideGangs, QueueOrder
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests.small import gang

REASONS = [Reason(kind) for kind in (ReasonKind.QUOTA_EXCEEDED, ReasonKind.TOO_LARGE)]


def changed(queue: list[Gang], dice: random.Random, number: int) -> list[Gang]:
    """Gangs go, come anywhere, or are others by the same name."""
    queue = [one for one in queue if dice.random() > 0.2]
    for at in range(dice.randrange(4)):
        queue.insert(dice.randint(0, len(queue)), gang(f"g{number}-{at}"))
    if queue and dice.random() < 0.3:
        at = dice.randrange(len(queue))
        queue[at] = gang(queue[at].key.name)
    return queue


@pytest.mark.parametrize("seed", range(40))
def test_kept_up_as_if_worked_out_anew(seed: int) -> None:
    """Who is gone, who is not aside, in which order, and who waits for what."""
    dice = random.Random(seed)  # noqa: S311 - no secret
    aside, order, queue = AsideGangs(), QueueOrder(), list[Gang]()
    why: dict[int, Reason] = {}
    for number in range(30):
        before, queue = queue, changed(queue, dice, number) if dice.random() < 0.8 else queue
        now = set(map(id, queue))
        gone = order.follow(queue)
        assert sorted(gone) == sorted({id(one) for one in before} - now)
        for one in gone:
            if one in aside:
                aside.pop(one)
                del why[one]
        for one in queue:
            if id(one) in aside and dice.random() < 0.1:
                aside.pop(id(one))
                del why[id(one)]
                order.come_back()
        assert order.others(queue, aside) == [one for one in queue if id(one) not in why]
        for one in queue:
            if dice.random() < 0.3:
                why[id(one)] = dice.choice(REASONS)
                aside.put(one, Waiting(one.key, why[id(one)]))
        assert {number: aside.reason(number) for number in aside.numbers} == why
        by_reason = {reason.kind: set(numbers) for reason, numbers in aside.by_reason()}
        for reason in REASONS:
            waits = {number for number, said in why.items() if said is reason}
            assert by_reason.get(reason.kind, set()) == waits
            assert set(aside.waiting_for(reason.kind)) == waits
