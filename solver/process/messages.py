"""What the parent and the solver process say to each other.

Down go requests, as pickles: the parent is trusted. Up come replies, as JSON: the worker is
our own code, but its heap may be corrupt, so nothing that it sends is ever unpickled.
Every field of a reply is checked against its declared type instead.

The tasks are what the process can be asked for.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError
from pydantic_core import SchemaValidator

from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, Stage
from fourleaf.model.relocation import Budget, DefragPlan, PreemptionPlan, RepairPlan
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.process.framing import Size, WireError, frame


@dataclass(frozen=True, slots=True)
class BatchTask:
    """Place the waiting gangs; those that stand stay."""


@dataclass(frozen=True, slots=True)
class RepairTask:
    """Keep the standing gangs alive that lost members."""


@dataclass(frozen=True, slots=True)
class PreemptionTask:
    """Find the least that has to go for a waiting gang."""

    gang: GangKey


@dataclass(frozen=True, slots=True)
class DefragmentationTask:
    """Move what wins most within a budget."""

    budget: Budget


Task = BatchTask | RepairTask | PreemptionTask | DefragmentationTask
Outcome = Plan | RepairPlan | PreemptionPlan | DefragPlan


@dataclass(frozen=True, slots=True)
class Request:
    """One call. `fabric` is sent where the worker does not hold `fabric_id` yet.

    `rest` holds the other fields of the snapshot. `seconds` is what the worker may take. `task`
    is what it is asked for.
    """

    call: int
    fabric_id: int
    fabric: Fabric | None
    rest: dict[str, Any]
    extensions_enabled: bool
    seconds: float
    task: Task = field(default_factory=BatchTask)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the worker says to `call`: a stage that is done, a plan, or why there is none.

    `nothing`: the time was up before any plan was found, which is no failure of the worker.
    """

    call: int
    stage: Stage | None = None
    plan: Plan | None = None
    repair: RepairPlan | None = None
    preemption: PreemptionPlan | None = None
    defrag: DefragPlan | None = None
    nothing: bool = False
    failure: str = ""

    @classmethod
    def of(cls, call: int, outcome: Outcome) -> Self:
        """The reply that carries `outcome`."""
        match outcome:
            case Plan():
                return cls(call, plan=outcome)
            case RepairPlan():
                return cls(call, repair=outcome)
            case PreemptionPlan():
                return cls(call, preemption=outcome)
            case DefragPlan():
                return cls(call, defrag=outcome)

    @property
    def outcome(self) -> Outcome | None:
        """The plan of whatever kind that came."""
        return self.plan or self.repair or self.preemption or self.defrag


def _failing_fast(schema: Any) -> Any:
    """Copy a schema so that the first wrong item ends a sequence: collecting errors costs most."""
    if isinstance(schema, dict):
        copy = {key: _failing_fast(value) for key, value in schema.items()}
        return {**copy, "fail_fast": True} if copy.get("type") == "tuple" else copy
    if isinstance(schema, list):
        return [_failing_fast(item) for item in schema]
    return schema


_REPLY = TypeAdapter(Reply)
_READER = SchemaValidator(_failing_fast(_REPLY.core_schema))


def _by_fields(kind: type[Any]) -> Callable[[Any], tuple[type[Any], tuple[Any, ...]]]:
    """How to pickle a dataclass in a third of the time that its own way takes."""
    values = attrgetter(*(one.name for one in fields(kind)))
    return lambda one: (kind, values(one))


_REDUCERS = copyreg.dispatch_table | {
    kind: _by_fields(kind) for kind in (RunningPod, Resources, GangKey)
}
"""For what a request has thousands of."""


def encode_request(request: Request) -> bytes:
    """Make the frame of `request`. Raises what pickle raises on objects that it cannot carry."""
    # A fresh fabric leaves behind what the parent has cached in its own.
    fabric = None if request.fabric is None else replace(request.fabric)
    content = io.BytesIO()
    pickler = pickle.Pickler(content, protocol=5)
    pickler.dispatch_table = _REDUCERS
    pickler.dump(replace(request, fabric=fabric))
    return frame(content.getvalue())


def decode_request(payload: bytes) -> Request:
    """Read the request in `payload`; for the worker alone. Raises `WireError` on anything else."""
    request = pickle.loads(payload)  # noqa: S301 - written by the parent, which is trusted
    if not isinstance(request, Request):
        raise WireError(f"expected a request, got {type(request).__name__}")
    return request


def dynamic_part(snapshot: Snapshot) -> dict[str, Any]:
    """Collect the fields of `snapshot` that change from cycle to cycle: all but the fabric."""
    return {
        one.name: getattr(snapshot, one.name) for one in fields(snapshot) if one.name != "fabric"
    }


def encode_reply(reply: Reply) -> bytes:
    """Make the frame of `reply`."""
    return frame(_REPLY.dump_json(reply))


def decode_reply(payload: bytes, size: Size) -> Reply:
    """Read the reply in `payload`. Raises `WireError` on anything else."""
    values = sum(payload.count(mark) for mark in (b",", b"[", b"{"))
    if values > size.values:
        raise WireError(f"a message of {values} values came, {size.values} are allowed")
    try:
        reply: Reply = _READER.validate_json(payload, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "message"
        raise WireError(f"{place}: {first['msg']}") from None
    return reply
