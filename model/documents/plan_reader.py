"""A plan from its JSON document: what `validate-plan` reads."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from fourleaf.model.documents.plan import KIND
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Move, Phantom, Placement, Plan, PlanStatus, Stage, Waiting
from fourleaf.model.problems import BadInput, Problem, Severity, shown
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind

ADVICE = "Give the document that `fourleaf plan -o json` prints."


class _DocumentPart(BaseModel):
    """Unknown fields are left alone: a document may carry notes, or come from a newer version."""

    model_config = ConfigDict(
        frozen=True, extra="ignore", strict=True, alias_generator=to_camel, validate_by_name=True
    )


Name = Annotated[str, Field(min_length=1)]
Whole = Annotated[int, Field(ge=0)]


class _Pod(_DocumentPart):
    name: Name
    node: Name
    gpus: Whole | None = None
    devices: list[Whole] | None = None


class _Holder(_DocumentPart):
    node: str
    holder: str


class _Near(_DocumentPart):
    leaf: str
    free: int
    needed: int
    unit: str = "nodes"
    holders: list[_Holder] = []

    def restored(self) -> NearMiss:
        holders = tuple((one.node, one.holder) for one in self.holders)
        return NearMiss(self.leaf, self.free, self.needed, self.unit, holders)


class _GangDocument(_DocumentPart):
    namespace: Name
    name: Name
    placed: bool
    pods: list[_Pod] = []
    score: int | None = None
    terms: dict[str, int] = {}
    reason: Annotated[ReasonKind, Field(strict=False)] | None = None
    detail: str = ""
    counts: dict[str, int] = {}
    near: list[_Near] = []
    unblock: list[str] = []

    @model_validator(mode="after")
    def _says_where_or_why(self) -> _GangDocument:
        if self.placed and not self.pods:
            raise ValueError("a placed gang needs pods")
        if not self.placed and self.reason is None:
            raise ValueError("a gang that is not placed needs a reason")
        return self

    @property
    def key(self) -> GangKey:
        return GangKey(self.namespace, self.name)


class _Move(_DocumentPart):
    namespace: Name
    pod: Name
    source: Annotated[str, Field(alias="from")]
    target: Annotated[str, Field(alias="to")]
    why: str = ""


class _Phantom(_DocumentPart):
    nodes: Whole
    gpus: Whole
    hosts: list[str]
    value: int


class _Stage(_DocumentPart):
    name: str
    proven: bool
    objective: int
    bound: int
    seconds: float = 0.0


class _Seconds(_DocumentPart):
    build: float = 0.0
    solve: float = 0.0


class _Document(_DocumentPart):
    api_version: Literal["topology.scheduler/v1alpha1"]
    kind: Literal["Plan"]
    status: Annotated[PlanStatus, Field(strict=False)]
    objective: int = 0
    bound: int | None = None
    gap: float | None = None
    seconds: _Seconds = _Seconds()
    peak_memory: Annotated[int, Field(alias="peakMemoryMiB")] = 0
    note: str = ""
    gangs: list[_GangDocument]
    moves: list[_Move] = []
    phantoms: list[_Phantom] = []
    stages: list[_Stage] = []


def from_document(document: object, source: str) -> Plan:
    """The plan that `document` states. Raises `BadInput`, naming `source` and each wrong field."""
    try:
        read = TypeAdapter(_Document).validate_python(document)
    except ValidationError as error:
        raise BadInput(_problems(error, document, source)) from None
    return Plan(
        status=read.status,
        placements=tuple(
            Placement(g.key, tuple((p.name, p.node) for p in g.pods), tuple(g.terms.items()))
            for g in read.gangs
            if g.placed
        ),
        waiting=tuple(
            Waiting(
                g.key,
                Reason(
                    g.reason,
                    g.detail,
                    tuple(g.counts.items()),
                    tuple(miss.restored() for miss in g.near),
                    tuple(g.unblock),
                ),
            )
            for g in read.gangs
            if not g.placed and g.reason is not None
        ),
        phantoms=tuple(Phantom(p.nodes, p.gpus, tuple(p.hosts), p.value) for p in read.phantoms),
        moves=tuple(Move(m.namespace, m.pod, m.source, m.target, m.why) for m in read.moves),
        stages=tuple(Stage(s.name, s.proven, s.objective, s.bound, s.seconds) for s in read.stages),
        objective=read.objective,
        bound=read.objective if read.bound is None else read.bound,
        seconds_build=read.seconds.build,
        seconds_solve=read.seconds.solve,
        peak_memory_mib=read.peak_memory,
        note=read.note,
    )


def _problems(error: ValidationError, document: object, source: str) -> list[Problem]:
    found = []
    for detail in error.errors(include_url=False, include_context=False):
        path = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in detail["loc"])
        absent = detail["type"] == "missing"
        found.append(
            Problem(
                Severity.ERROR,
                source,
                _object(document, detail["loc"]),
                path.lstrip(".") or "(document)",
                "nothing" if absent else shown(detail["input"]),
                detail["msg"].removeprefix("Value error, ").rstrip("."),
                ADVICE,
            )
        )
    return found


def _object(document: object, path: tuple[int | str, ...]) -> str:
    """The gang that `path` leads into, else the plan as a whole."""
    match path, document:
        case ["gangs", int(index), *_], {"gangs": list(gangs)} if index < len(gangs):
            match gangs[index]:
                case {"namespace": str(namespace), "name": str(name)}:
                    return f"Gang {namespace}/{name}"
    return KIND
