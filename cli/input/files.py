"""From the options of a verb to a snapshot."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import typer

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.read_cluster import observe
from fourleaf.cli.output.console import print_problems

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import ClusterAccess
    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.extensions import Extensions
    from fourleaf.model.readers import InputReading, Source


def moment(text: str | None) -> float | None:
    """Seconds since the epoch for an RFC 3339 time; a usage error where it is none."""
    if text is None:
        return None
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        when = None
    if when is None or when.tzinfo is None:
        raise typer.BadParameter(
            f"'{text}' is not an RFC 3339 time such as 2025-11-21T06:00:00Z", param_hint="--now"
        )
    return when.timestamp()


def open_files(files: Sequence[str]) -> list[Source]:
    """The sources that `files` name, standard input included."""
    from fourleaf.model.readers import open_paths

    return open_paths(files, sys.stdin.buffer)


def read_files(files: Sequence[str], now: float | None = None) -> InputReading:
    """Everything that `files` hold. Raises `BadInput`."""
    from fourleaf.model.readers import read

    return read(open_files(files), now)


def reading_of(
    reach: ClusterAccess,
    files: Sequence[str] | None,
    now: float | None = None,
    cached: bool = False,
) -> InputReading:
    """What `files` hold; without any, what the cluster holds; see `observe`. Raises `BadInput`."""
    if files:
        reading = read_files(files, now)
        need_nodes(reading, files)
        return reading

    live = observe(reach, cached=cached)
    print_problems(live.config.warnings)
    return (live if now is None else replace(live, now=now)).reading()


def need_terms(config: SchedulerConfig, source: str, extensions: Extensions) -> None:
    """Raise `BadInput` where `scoringWeights` names an unknown term."""
    from fourleaf.model.config.spec import BUILT_IN_TERMS
    from fourleaf.model.extensions import unknown_weights
    from fourleaf.model.problems import BadInput, Problem, Severity

    weights = config.spec.scoring_weights
    problems = [
        Problem(
            Severity.ERROR,
            source,
            f"{config.kind} {config.metadata.name}",
            f"spec.scoringWeights.{name}",
            str(weights[name]),
            "is a weight for a term that does not exist",
            f"Use {', '.join(BUILT_IN_TERMS)}, or install the package that brings it.",
        )
        for name in unknown_weights(weights, extensions)
    ]
    if problems:
        raise BadInput(problems)


def need_nodes(reading: InputReading, files: Sequence[str], gpus: bool = False) -> None:
    """Raise `BadInput` where there is nothing to plan on, as when only a Job was given.

    Nodes of which none has GPUs are warned about, and are nothing either where `gpus` are needed:
    to a plan, it is an answer that gangs wait for others.
    """
    from fourleaf.model.problems import Problem, Severity

    fabric = reading.snapshot.fabric
    if fabric.leaves or fabric.refused:
        return
    nodes = () if gpus else reading.members.situation.objects.of("", "Node")
    if nodes:
        message = "has no GPUs, nor has any other node of the input"
        advice = "Run a device plugin or the agent there, or name their devices by a device map."
        first = f"Node {nodes[0].name}"
        source = ", ".join(files)
        print_problems(
            [Problem(Severity.WARNING, source, first, "status.allocatable", "", message, advice)]
        )
        return
    advice = "Add them: kubectl get nodes,pods -A -o json > now.json, then -f now.json."
    raise bad_input(", ".join(files), "the input holds no node to plan on", advice, about="Node")
