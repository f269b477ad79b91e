"""The leader's Lease deleted, emptied or filled with nonsense, by whoever may write it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.controlplane.api import ApiError
from tests.faults.actor import Actor
from tests.faults.scenario import Scenario
from tests.faults.scenarios.leaders import TAKEOVER
from tests.faults.stage import LEADER, Stage

LARGEST = 2**31 - 1
"""The largest number that the fields of a Lease can hold."""


def deleted(stage: Stage) -> None:
    """Delete the Lease in the middle of commits."""
    _attacked(stage, lambda: stage.api.delete(LEADER))


def cleared(stage: Stage) -> None:
    """Take everything out of the Lease in the middle of commits."""
    _attacked(stage, lambda: stage.api.patch(LEADER, {"spec": None}))


def mangled(stage: Stage) -> None:
    """Write nonsense into the Lease in the middle of commits."""
    _attacked(stage, lambda: stage.api.patch(LEADER, {"spec": _nonsense(stage)}))


def _attacked(stage: Stage, attack: Callable[[], object]) -> None:
    """Attack up to three times, each time with or without the death of who leads."""
    stage.lead()
    stage.runs(stage.submit("before", stage.chance.randint(2, 8), gpus=4))
    for number in range(1 if stage.brief else stage.chance.randint(1, 3)):
        gang = stage.submit(f"gang-{number}", stage.chance.randint(1, 8), gpus=2)
        time.sleep(stage.chance.uniform(0.0, 0.3))
        victim = _leader(stage) if stage.chance.random() < 0.4 else None
        with suppress(ApiError):
            # Between a deletion and the next leader there may be nothing to attack.
            attack()
        if victim is not None:
            victim.process.kill()
        stage.wait(lambda: _one_leads(stage), "one replica leads again", TAKEOVER)
        stage.runs(gang)
        if victim is not None:
            victim.start()
    _epochs_rise(stage)


def _nonsense(stage: Stage) -> dict[str, Any]:
    """Values that the API takes, and nobody sane writes."""
    pick = stage.chance.choice
    now = datetime.now(UTC)
    moments = [
        None,
        *(_written(now + timedelta(seconds=far)) for far in (0, -86400, 86400, 10**9)),
    ]
    return {
        "holderIdentity": pick(("", "somebody-else", "x" * 1000, "💥", *_identities(stage))),
        "leaseDurationSeconds": pick((None, 1, 15, 61, LARGEST)),
        "leaseTransitions": pick((None, 0, 1, LARGEST - 1, LARGEST)),
        "acquireTime": pick(moments),
        "renewTime": pick(moments),
    }


def _written(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _identity(actor: Actor) -> str:
    """What the present process of the replica calls itself, "" before it has said so."""
    return next((str(line["identity"]) for line in actor.said("synced")), "")


def _identities(stage: Stage) -> list[str]:
    return [_identity(actor) for actor in stage.actors]


def _leader(stage: Stage) -> Actor | None:
    return next((actor for actor in stage.actors if actor.leads), None)


def _one_leads(stage: Stage) -> bool:
    """Whether one replica leads, holds the Lease, and says so in an epoch that records can have."""
    leaders = [actor for actor in stage.actors if actor.leads]
    if len(leaders) != 1:
        return False
    spec = stage.leader_lease()
    held = spec.get("holderIdentity") == _identity(leaders[0])
    taken = leaders[0].said("took_over")
    return held and bool(taken) and spec.get("leaseTransitions") == taken[-1]["epoch"]


def _epochs_rise(stage: Stage) -> None:
    """Whoever took over did so in a higher epoch than whoever did before."""
    lines = [line for actor in stage.actors for line in actor.said_ever("took_over")]
    epochs = [line["epoch"] for line in sorted(lines, key=lambda line: line["timestamp"])]
    assert epochs == sorted(set(epochs)), f"epochs in the order of takeovers: {epochs}"


SCENARIOS = (
    Scenario(
        "lease-deleted",
        "With the leader's Lease deleted, one leads again within 20 s, in a higher epoch.",
        deleted,
    ),
    Scenario(
        "lease-cleared",
        "With the leader's Lease emptied, one leads again within 20 s, in a higher epoch.",
        cleared,
        quick=True,
    ),
    Scenario(
        "lease-mangled",
        "With nonsense in the leader's Lease, one leads again within 20 s, in a higher epoch.",
        mangled,
    ),
)
