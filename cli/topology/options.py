"""Options that the verbs of `fourleaf topology` share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class FabricFormat(StrEnum):
    """What `-o` of `fourleaf topology import` takes."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"
    LABELS = "labels"
    CSV = "csv"


class CheckFormat(StrEnum):
    """What `-o` of `fourleaf topology check` and `apply` takes."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


class SourceFormat(StrEnum):
    """What `--from` takes."""

    IBNETDISCOVER = "ibnetdiscover"
    SLURM_CONF = "slurm-conf"
    SLURM_YAML = "slurm-yaml"
    TOPOGRAPH = "topograph"
    KUBERNETES = "kubernetes"
    CSV = "csv"


class Preset(StrEnum):
    """What `--preset` takes: labels that are ours to write."""

    PLAIN = "plain"
    TOPOGRAPH = "topograph"
    NVIDIA_LEGACY = "nvidia-legacy"


SourcePath = Annotated[
    str, typer.Argument(metavar="SOURCE", help="The description: a file, or - for stdin.")
]
MaybeSource = Annotated[
    str | None,
    typer.Argument(
        metavar="SOURCE",
        help="The description: a file, or - for stdin. Without it, the labels of the cluster.",
    ),
]
From = Annotated[
    SourceFormat | None,
    typer.Option("--from", help="The format of SOURCE; without it, what its content shows."),
]
NodesOption = Annotated[
    str | None,
    typer.Option(
        "--nodes",
        metavar="PATH|live",
        help="Kubernetes nodes to match hosts with: a file, - for stdin, or live.",
    ),
]
PresetOption = Annotated[Preset, typer.Option("--preset", help="Which labels to use.")]
MaybePreset = Annotated[
    Preset | None,
    typer.Option(
        "--preset",
        help="Which labels to write; without it, those that nodes carry already, else plain.",
    ),
]
