"""All that makes a study what it is. Two workers of one study hold the same task."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.simulator.trace import Sizes
from fourleaf.simulator.tuning import knobs, objectives


class TuningTask(BaseModel):
    """What is replayed, what is turned, and what counts.

    `snapshots` are files or folders, oldest first, in place of `trace`; gangs of theirs that
    state no duration run for `duration` seconds. `load` is in percent. `held_out` is the share of
    the gangs, or of the snapshots, that come last: they are left for the verdict. The evidence is
    replayed once as recorded and `deals` - 1 times with its arrivals dealt anew.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    trace: str = "kalos"
    snapshots: tuple[str, ...] = ()
    duration: int = 3600
    fabric: str = "lingjun"
    load: float | None = None
    days: int | None = None
    sizes: Sizes = Sizes.ASKED
    held_out: float = Field(default=0.3, gt=0, lt=1)
    deals: int = Field(default=3, ge=1)
    period: int = Field(default=60, ge=1)
    seed: int = Field(default=0, ge=0)
    objectives: tuple[str, ...] = objectives.USUAL
    knobs: tuple[str, ...] = knobs.USUAL
    config: SchedulerConfig = SchedulerConfig()

    def text(self) -> str:
        """The task as JSON."""
        return self.model_dump_json(by_alias=True)

    def differences(self, other: TuningTask) -> list[str]:
        """The fields in which two tasks differ."""
        return [
            name for name in type(self).model_fields if getattr(self, name) != getattr(other, name)
        ]
