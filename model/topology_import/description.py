"""One form for every description of a fabric: where each node stands, and what was odd."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from fourleaf.model.readers.topology.findings import Finding, FindingKind
from fourleaf.model.topology import natural_key


class DescriptionFormat(StrEnum):
    """What a description is written in."""

    IBNETDISCOVER = "ibnetdiscover"
    SLURM_CONF = "slurm-conf"
    SLURM_YAML = "slurm-yaml"
    TOPOGRAPH = "topograph"
    KUBERNETES = "kubernetes"
    CSV = "csv"


@dataclass(frozen=True, slots=True)
class Position:
    """Where one node stands; "" where the source names no such level.

    `core` is what joins spines (superspine). `accelerator` is the node's NVLink domain.
    """

    node: str
    leaf: str
    spine: str = ""
    core: str = ""
    accelerator: str = ""


@dataclass(frozen=True, slots=True)
class ScalableUnit:
    """Leaf switches that share their nodes: the rails of a scalable unit, one leaf here."""

    name: str
    switches: tuple[str, ...]


@dataclass(frozen=True)
class Description:
    """A fabric as a source describes it.

    `positions` are in the order of the scheduler: natural by core, spine, leaf and node.
    `listed` are leaves by spine in the order of the source, where that order means something.
    `islands` are parts of the fabric that no switch joins, where the source tells. `findings`
    are what the reader of the source alone can know.
    """

    format: DescriptionFormat
    source: str
    positions: tuple[Position, ...]
    units: tuple[ScalableUnit, ...] = ()
    islands: tuple[str, ...] = ()
    listed: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()

    @property
    def cut_off(self) -> Finding | None:
        """What the source lacks of what it names: then a node that is absent may well exist."""
        return next((one for one in self.findings if one.kind is FindingKind.CUT_OFF), None)


def in_order(positions: Iterable[Position]) -> tuple[Position, ...]:
    """`positions` as the scheduler orders leaves and nodes."""
    return tuple(
        sorted(
            positions,
            key=lambda one: (
                natural_key(one.core),
                natural_key(one.spine),
                natural_key(one.leaf),
                natural_key(one.node),
            ),
        )
    )
