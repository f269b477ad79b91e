"""What a replay may be told."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum

from fourleaf.model.config.spec import Batch, SchedulerConfig, Solver, Spec

SOLVE_SECONDS = 900.0
"""Seconds of a solve. Long enough that no limit decides: then the same seed gives the same run."""


RULELESS = ("spread",)
"""Policies that do not know the leaf rule."""


class Recovery(StrEnum):
    """What happens to gangs that lose a node.

    `repair`: the solver finds them new places with the fewest moves. `patch`: the policy places
    the lost members, the others stay. `restart`: the whole gang waits again. Under the first
    two a gang that cannot live is restarted as well.
    """

    REPAIR = "repair"
    PATCH = "patch"
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class FailureModel:
    """Failures of nodes, and what they cost. Nodes fail until the last job has arrived.

    `rate` is in failures per 1000 node-days: 6.5 is what Kokolis et al. report for RSC-1
    ("Revisiting Reliability in Large-Scale Machine Learning Research Clusters", HPCA 2025).
    A node is away for an exponential time of `outage` seconds on average. A gang that lost a
    node goes back to its last checkpoint, one every `checkpoint` seconds of work, and stands
    still for `restart` seconds once it has its nodes; so does one of which a pod moves.
    """

    rate: float = 0.0
    outage: int = 86_400
    recovery: Recovery = Recovery.REPAIR
    movable: bool = False
    checkpoint: int = 3600
    restart: int = 300


@dataclass(frozen=True, slots=True)
class BackfillOptions:
    """Whether room is kept for the first gang that has waited for `after` seconds.

    Gangs that end before it is needed may use it meanwhile. Durations are known exactly.
    """

    enabled: bool = False
    after: int = 600


@dataclass(frozen=True, slots=True)
class DefragmentationOptions:
    """Moves of gangs that make room, `moves` at most, every `every` seconds; 0: never."""

    every: int = 0
    moves: int = 16


@dataclass(frozen=True, slots=True)
class Communication:
    """Whether durations stretch with the place. `communication_model` has the model.

    `share` is the part of a step, in thousandths, that a gang within one leaf spends in
    communication that computing does not hide.
    """

    enabled: bool = False
    oversubscription: int = 1
    share: int = 300


def _config() -> SchedulerConfig:
    return SchedulerConfig(
        spec=Spec(solver=Solver(time_limit_seconds=SOLVE_SECONDS), batch=Batch(size=500))
    )


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """One replay. The policy is asked at multiples of `period` seconds, where something changed."""

    policy: str = "cpsat"
    seed: int = 0
    period: int = 60
    failures: FailureModel = FailureModel()
    backfill: BackfillOptions = BackfillOptions()
    defragmentation: DefragmentationOptions = DefragmentationOptions()
    communication: Communication = Communication()
    config: SchedulerConfig = field(default_factory=_config)

    @property
    def solves(self) -> bool:
        """Whether gangs that run are moved or mended by the solver, whatever places them."""
        repairs = self.failures.rate > 0 and self.failures.recovery is Recovery.REPAIR
        return repairs or self.defragmentation.every > 0


class NoRule(ValueError):
    """A policy without the leaf rule is to be mended by it. The message ends with the advice."""


def under(options: ReplayOptions, policy: str) -> ReplayOptions:
    """The same options for another policy: `spread`, which cannot be repaired, patches."""
    failures = options.failures
    if policy in RULELESS and failures.recovery is Recovery.REPAIR:
        failures = replace(failures, recovery=Recovery.PATCH)
    return replace(options, policy=policy, failures=failures)


def need_rule(options: ReplayOptions) -> None:
    """Raise `NoRule` where the solver, which keeps the leaf rule, is to move who does not."""
    if options.policy in RULELESS and options.solves:
        moving = options.defragmentation.every > 0
        what = "defragmentation" if moving else "repair"
        advice = "leave it out with --policy" if moving else "use --recovery patch or restart"
        raise NoRule(
            f"policy '{options.policy}': {what} keeps the leaf rule, which it does not know\n"
            f"For '{options.policy}', {advice}."
        )
