"""The k-th binding of a gang of eight on two leaves fails, for each k."""

from __future__ import annotations

import time
from itertools import pairwise

from tests.faults.actor import Actor
from tests.faults.asked import bindings, dry_runs
from tests.faults.done import Done
from tests.faults.faults import (
    BROKEN,
    BUSY,
    CONFLICT,
    FORBIDDEN,
    DropAfter,
    DropBefore,
    Fault,
    Refuse,
)
from tests.faults.policies import refusing
from tests.faults.scenario import Needs, Scenario
from tests.faults.stage import Stage
from tests.history.check import Expectations

SIZE = 8
LEAVES = Needs(nodes=16)
TRIED_OUT = Needs(nodes=16, arguments=("--dry-run", "always"))


def lost_before(stage: Stage) -> None:
    """The k-th binding never reaches the apiserver."""
    _each(stage, [DropBefore()])


def lost_after(stage: Stage) -> None:
    """The answer to the k-th binding is lost."""
    _each(stage, [DropAfter()])


def refused_once(stage: Stage) -> None:
    """The k-th binding is refused in passing."""
    _each(stage, [CONFLICT, BROKEN, BUSY, FORBIDDEN, Refuse(503), Refuse(504)])


def _each(stage: Stage, faults: list[Fault]) -> None:
    """Let the k-th binding of a gang fail, for each k in some order; every gang runs whole."""
    leader, _ = stage.lead()
    order = stage.chance.sample(range(1, SIZE + 1), 2 if stage.brief else SIZE)
    for k in order:
        strike = leader.proxy.strike(bindings, stage.chance.choice(faults), first=k)
        gang = stage.submit(f"gang-{k}", SIZE)
        assert strike.done.wait(60), f"binding {k} was never sent"
        stage.runs(gang)
        leader.proxy.remove(strike)
        if k != order[-1]:
            stage.delete(gang)
            stage.gangs.remove(gang)
    many = len(order)
    stage.expected = Expectations(bindings=SIZE * many, commits=many, holding=SIZE)


def refused_for_good(stage: Stage) -> None:
    """One member passes the dry run, and its binding is refused by a policy of somebody else."""
    leader, _ = stage.lead()
    victim = f"gang-{(stage.seed - 1) % SIZE}"
    condition = f"object.metadata.name == '{victim}' && !(has(request.dryRun) && request.dryRun)"
    reason = stage.chance.choice(("Forbidden", "Invalid"))
    with refusing(stage.api, f"another-{stage.seed}", stage.namespace, condition, reason):
        gang = stage.submit("gang", SIZE)
        stage.wait(lambda: _refusals(leader), f"the binding of {victim} is refused")
        other = stage.submit("other", stage.chance.randint(2, 6))
        stage.runs(other)
        stage.wait(lambda: len(stage.pods(gang)) == 1, f"all but {victim} have been evicted")
        assert stage.bound(gang) == 0
        tried = [one for one in leader.proxy.done(dry_runs) if one.took]
        assert {one.name for one in tried} >= set(gang.names), "the dry run was not good"
    stage.expected = Expectations(bindings=SIZE - 1 + other.pods, commits=2, holding=other.pods)


def dry_run_refused(stage: Stage) -> None:
    """The whole dry run of a gang is refused: nothing of it is bound, others go on."""
    leader, _ = stage.lead()
    condition = "object.metadata.name.startsWith('gang-')"
    others = 0
    with refusing(stage.api, f"another-{stage.seed}", stage.namespace, condition):
        gang = stage.submit("gang", SIZE)
        stage.wait(lambda: leader.proxy.done(dry_runs), "the gang is tried out")
        until = time.monotonic() + (10.0 if stage.brief else 40.0)
        while time.monotonic() < until:
            others += 1
            stage.runs(stage.submit(f"other-{others}", stage.chance.randint(1, 2), gpus=1), 10.0)
            time.sleep(stage.chance.uniform(1.0, 3.0))
        assert stage.bound(gang) == 0
        assert not [one for one in leader.proxy.done(bindings) if one.name.startswith("gang-")]
        _waits_grow(leader)
    stage.runs(gang, 90.0)
    stage.expected = Expectations(bindings=SIZE + others, commits=1 + others, holding=SIZE + others)


def _waits_grow(leader: Actor) -> None:
    """The gang was tried out after 1, 2, 4, 8 and 16 s at the soonest, and not given up."""
    tries = sorted(one.began for one in leader.proxy.done(dry_runs) if one.name == "gang-0")
    waits = [after - before for before, after in pairwise(tries)]
    assert len(waits) >= 2, f"tried out {len(tries)} times only"
    for number, wait in enumerate(waits):
        # Between the refusal and the next try there are a pause and a plan, which only add.
        assert wait > 0.9 * 2**number, f"waits between tries: {waits}"


def _refusals(leader: Actor) -> list[Done]:
    return [one for one in leader.proxy.done(bindings) if one.status in (403, 422)]


SCENARIOS = (
    Scenario(
        "binding-lost-before",
        "Whichever binding is lost on its way, the gang runs whole.",
        lost_before,
        LEAVES,
    ),
    Scenario(
        "binding-lost-after",
        "Whichever binding's answer is lost, the gang runs whole.",
        lost_after,
        LEAVES,
        quick=True,
    ),
    Scenario(
        "binding-refused-once",
        "Whichever binding is refused in passing, the gang runs whole.",
        refused_once,
        LEAVES,
    ),
    Scenario(
        "binding-refused-for-good",
        "Whichever member is refused for good after a good dry run, none of the gang stays bound.",
        refused_for_good,
        TRIED_OUT,
        quick=True,
    ),
    Scenario(
        "dry-run-refused",
        "A gang whose dry run is refused is never bound in part, is tried ever less, and holds "
        "up no other.",
        dry_run_refused,
        TRIED_OUT,
    ),
)
