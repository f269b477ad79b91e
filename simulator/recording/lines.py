"""The lines of a recorded trace: one JSON object each, told apart by their field `line`.

Every file begins with a head, the leaves, the nodes and the gangs of that moment, so that it can
be read without the files before it. Times are in seconds since the epoch.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from fourleaf.model.fabric import AdjacencyKind
from fourleaf.model.gang import Strategy, TopologyPolicy
from fourleaf.model.node import Taint
from fourleaf.model.node_constraint import NodeConstraint
from fourleaf.model.resources import Resources

FORMAT = 1
"""The format of the lines; another one is refused, with the advice to use a newer version."""

MOST = (1 << 62) - 1
"""The largest amount in a line; more is written as this."""
MOST_SECONDS = 1e12
"""The latest moment and the longest duration; tenants state durations as they like."""

Moment = Annotated[float, Field(ge=0, le=MOST_SECONDS)]
Count = Annotated[int, Field(ge=0, le=MOST)]


class RecordedState(StrEnum):
    """How a node is: fit for new pods, cordoned, failed, or no longer there."""

    READY = "ready"
    CORDONED = "cordoned"
    NOT_READY = "notReady"
    GONE = "gone"


class StopReason(StrEnum):
    """Why a gang no longer runs.

    `gone`: its pods were deleted, and how they ended was not seen. `waits`: it was interrupted and
    waits again; it has not ended.
    """

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    GONE = "gone"
    WAITS = "waits"


def bounded(amount: int) -> int:
    """`amount` as a line can hold it."""
    return max(0, min(amount, MOST))


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Amounts(_Part):
    """What a pod asks for or a node offers, devices by their number alone; see `Resources`."""

    gpus: Count = 0
    cpu: Count | None = 0
    memory: Count | None = 0
    pods: Count = 1
    extra: tuple[tuple[str, Count], ...] = ()

    @classmethod
    @lru_cache(maxsize=1024)
    def of(cls, amount: Resources) -> Amounts:
        """The same without demands of single devices; equal ones are one object."""
        return cls(
            gpus=bounded(amount.gpus),
            cpu=None if amount.cpu is None else bounded(amount.cpu),
            memory=None if amount.memory is None else bounded(amount.memory),
            pods=bounded(amount.pods),
            extra=tuple((name, bounded(count)) for name, count in amount.extra),
        )

    @property
    def resources(self) -> Resources:
        """The same as the model has it."""
        return Resources(self.gpus, self.cpu, self.memory, self.pods, self.extra)


class RoleShape(_Part):
    """So many pods of a gang that ask for the same."""

    pods: Annotated[int, Field(ge=1, le=1 << 20)]
    request: Amounts
    constraint: NodeConstraint = NodeConstraint()


class GangShape(_Part):
    """What a gang asks for; see `Gang`."""

    roles: tuple[RoleShape, ...]
    priority: Annotated[int, Field(ge=-(1 << 31), lt=1 << 31)] = 0
    strategy: Strategy = Strategy.BALANCED
    policy: TopologyPolicy = TopologyPolicy.REQUIRED
    preferred_domain: str | None = None
    latency_sensitive: bool = False
    bandwidth: Count | None = None
    one_per_node: bool = False
    preempts: bool = True
    duration: Annotated[float, Field(gt=0, le=MOST_SECONDS)] | None = None


class HeadLine(_Part):
    """Where a file begins. `after` is when something was seen last, before nothing was for long."""

    line: Literal["head"] = "head"
    format: Literal[1]
    at: Moment
    after: Moment | None = None


class LeavesLine(_Part):
    """All leaves in the order of the fabric, each as (name, spine, uplink in Mbit/s).

    `unlabelled` are the nodes that name no leaf; see `Fabric`.
    """

    line: Literal["leaves"] = "leaves"
    at: Moment
    adjacency: AdjacencyKind = AdjacencyKind.CONSECUTIVE
    edges: tuple[tuple[str, str], ...] = ()
    unlabelled: tuple[str, ...] = ()
    leaves: tuple[tuple[str, str, Count | None], ...]


class NodeLine(_Part):
    """A node that has come, or that offers something else than before."""

    line: Literal["node"] = "node"
    at: Moment
    name: str
    leaf: str
    offer: Amounts
    product: str = ""
    bandwidth: Count | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    taints: tuple[Taint, ...] = ()


class StateLine(_Part):
    """A node that fails, is cordoned, comes back or goes."""

    line: Literal["state"] = "state"
    at: Moment
    node: str
    state: RecordedState


class GangShapeLine(_Part):
    """A gang that has come, or that has another shape than before.

    `gang` is its number, under which other lines name it; `ran` how long it has run in seconds,
    before it was interrupted.
    """

    line: Literal["gang"] = "gang"
    at: Moment
    gang: Count
    namespace: str
    name: str
    created: Moment
    shape: GangShape
    ran: Moment = 0.0


class RunLine(_Part):
    """A gang that runs, since `at`, on `nodes`, one for each of its pods."""

    line: Literal["run"] = "run"
    at: Moment
    gang: Count
    nodes: tuple[str, ...]


class StopLine(_Part):
    """A gang that runs or waits no longer."""

    line: Literal["stop"] = "stop"
    at: Moment
    gang: Count
    why: StopReason


class SeenLine(_Part):
    """Until `at` nothing else was seen: recording was ended then, or nothing changed for long."""

    line: Literal["seen"] = "seen"
    at: Moment


Line = HeadLine | LeavesLine | NodeLine | StateLine | GangShapeLine | RunLine | StopLine | SeenLine
_LINE: TypeAdapter[Line] = TypeAdapter(Annotated[Line, Field(discriminator="line")])


def written(line: Line) -> bytes:
    """The line as JSON, with its end. What a tenant has named is text in it and nothing else."""
    said = line.model_dump(mode="json", exclude_defaults=True)
    return orjson.dumps({"line": line.line, **said}) + b"\n"


def read_line(text: bytes) -> Line:
    """The line that `text` is. Raises `ValueError` where it is none."""
    return _LINE.validate_json(text)
