"""What the verbs that plan have in common: their input, and the limits of the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from fourleaf.cli.cluster.read_cluster import observe
from fourleaf.cli.input.files import need_nodes, need_terms, open_files
from fourleaf.cli.output.console import print_problems
from fourleaf.cli.output.progress import Progress

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import ClusterAccess, Live
    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.plan import Plan
    from fourleaf.model.readers import InputReading, Source
    from fourleaf.model.readers.objects.manifest import Body
    from fourleaf.model.snapshot import Snapshot
    from fourleaf.solver.process.client import SolverClient


LOADING_SECONDS = 5.0
"""Seconds for loading the solver before the time limit runs; it takes one on an idle machine."""


@dataclass(frozen=True, slots=True)
class Input:
    """What is to be planned: the files of `-f`, the cluster, or with `live` both.

    `now` in seconds since the epoch, where the command line states it; `time_limit` in seconds
    and `seed` stand in place of the config's. `cached`: see `observe`.
    """

    reach: ClusterAccess
    files: Sequence[str] = ()
    live: bool = False
    now: float | None = None
    time_limit: float | None = None
    seed: int | None = None
    cached: bool = False

    @property
    def where(self) -> str:
        """What messages call it."""
        return ", ".join(self.files) if self.files and not self.live else self.reach.name

    def read(self) -> InputReading:
        """Read it once. Raises `BadInput`, also where the config weighs unknown terms."""
        return self.gather().reading()

    def gather(self) -> GatheredInput:
        """Take everything in, to be read under one config or several. Raises `BadInput`."""
        given = open_files(self.files)
        if self.files and not self.live:
            return GatheredInput(self, None, given)
        from fourleaf.model.problems import BadInput

        try:
            live = observe(self.reach, cached=self.cached)
        except BadInput as bad:
            if self.files:
                raise
            advice = "Or plan manifests, with -f."
            problems = [replace(one, advice=f"{one.advice} {advice}") for one in bad.problems]
            raise BadInput(problems) from bad
        print_problems(live.config.warnings)
        return GatheredInput(self, live if self.now is None else replace(live, now=self.now), given)

    def limited(self, config: SchedulerConfig) -> SchedulerConfig:
        """`config` with the solver's limits replaced by those of the command line."""
        changes: dict[str, Any] = {}
        if self.time_limit is not None:
            changes["time_limit_seconds"] = self.time_limit
        if self.seed is not None:
            changes["seed"] = self.seed
        if not changes:
            return config
        solver = config.spec.solver.model_copy(update=changes)
        return config.model_copy(update={"spec": config.spec.model_copy(update={"solver": solver})})


@dataclass(frozen=True, slots=True)
class GatheredInput:
    """An `Input` of one moment: files, or a cluster with files on top."""

    of: Input
    live: Live | None
    given: Sequence[Source]

    @property
    def led(self) -> bool:
        """Whether a scheduler leads in the cluster, so far as that was asked for."""
        return self.live is not None and self.live.led

    @property
    def leaderless(self) -> bool:
        """Whether no scheduler leads in the cluster, so far as that was asked for and is known."""
        return self.live is not None and self.live.leaderless

    @property
    def silent(self) -> Mapping[str, float]:
        """Nodes whose kubelets are silent, with the seconds, so far as that was asked for."""
        return {} if self.live is None else self.live.silent

    @property
    def idle(self) -> Sequence[Body]:
        """Jobs of the cluster without pods."""
        return () if self.live is None else self.live.idle

    def reading(self, config: SchedulerConfig | None = None) -> InputReading:
        """What it says, under its own config or under `config`. Raises `BadInput`."""
        from fourleaf.model.extensions import load
        from fourleaf.model.readers import read

        if self.live is None:
            reading = read(self.given, self.of.now, config=config)
            need_nodes(reading, self.of.files)
        else:
            reading = self.live.reading(self.given, config)
        need_terms(reading.snapshot.config, reading.config_source, load())
        limited = self.of.limited(reading.snapshot.config)
        if limited is reading.snapshot.config:
            return reading
        return replace(reading, snapshot=replace(reading.snapshot, config=limited))


def planned(client: SolverClient, snapshot: Snapshot) -> Plan:
    """The plan for `snapshot`, with a word on the terminal where it takes long."""
    with Progress("loading the solver, then solving") as progress:
        # The time limit is for solving: on a busy machine, loading must not use it up. A child
        # that hangs on loading must not keep the caller waiting either: then the limit runs.
        client.wait_until_ready(LOADING_SECONDS)
        return client.plan(snapshot, on_stage=progress.stage)
