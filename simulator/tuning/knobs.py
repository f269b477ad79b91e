"""What may be turned: the values of the config that change plans, and how far.

Left out is what a replay cannot judge: `historicalPerformance` (no replay knows the failures
before it), the penalties (no gang of the traces states a bandwidth, and nothing is migrated), and
limits of the solver, which change how long an answer takes rather than what it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from fourleaf.model.config.spec import SchedulerConfig

if TYPE_CHECKING:
    from optuna import Trial

DIGITS = 3
"""Weights count in thousandths; finer ones would be the same."""

Settings = Mapping[str, float | int]
"""Knob -> value."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One value of the config.

    `name` is its path within `spec`, as in the manifest. It is searched from `low` to `high`, on
    a logarithmic scale where that is named; a `whole` one has no fraction.
    """

    name: str
    low: float
    high: float
    whole: bool = False
    logarithmic: bool = False

    def reach(self, base: float) -> tuple[float, float]:
        """From where to where it is searched, given what the config to start from says."""
        return min(self.low, base), max(self.high, base)


KNOBS: Mapping[str, Knob] = {
    knob.name: knob
    for knob in (
        Knob("scoringWeights.resourceAvailability", 0.0, 1.0),
        Knob("scoringWeights.topologyAlignment", 0.01, 1.0),
        Knob("scoringWeights.domainUtilization", 0.0, 1.0),
        Knob("fragmentation.weight", 0.0, 4.0),
        Knob("batch.ageStepSeconds", 60, 86_400, True, True),
        Knob("backfill.afterSeconds", 60, 86_400, True, True),
        Knob("topology.windowSlack", 0, 1, True),
    )
}
USUAL = tuple(name for name in KNOBS if name != "topology.windowSlack")
"""What is searched unless knobs are named. The slack is a rule of the cluster, not a taste."""


def settings_of(config: SchedulerConfig, knobs: Sequence[str]) -> Settings:
    """Where these knobs stand in `config`."""
    spec = config.spec.model_dump(by_alias=True)
    return {name: _plain(KNOBS[name], _at(spec, name)) for name in knobs}


def applied(config: SchedulerConfig, settings: Settings) -> SchedulerConfig:
    """The same config with these knobs turned. Raises pydantic's `ValidationError`."""
    body = config.model_dump(by_alias=True)
    for name, value in settings.items():
        *path, last = name.split(".")
        section = body["spec"]
        for part in path:
            section = section[part]
        section[last] = value if KNOBS[name].whole else Decimal(str(value))
    return SchedulerConfig.model_validate(body)


def suggested(trial: Trial, base: Settings) -> Settings:
    """What the sampler wants to try next, around the settings `base`."""
    found: dict[str, float | int] = {}
    for name, stands in base.items():
        knob = KNOBS[name]
        low, high = knob.reach(stands)
        if knob.whole:
            logarithmic = knob.logarithmic and low >= 1
            found[name] = trial.suggest_int(name, int(low), int(high), log=logarithmic)
        else:
            found[name] = round(trial.suggest_float(name, low, high), DIGITS)
    return found


def _at(spec: Mapping[str, Any], name: str) -> Any:
    """The value at a path; a weight that the config does not name weighs nothing."""
    *path, last = name.split(".")
    for part in path:
        spec = spec[part]
    return spec.get(last, 0)


def _plain(knob: Knob, value: Any) -> float | int:
    return round(value) if knob.whole else float(value)
