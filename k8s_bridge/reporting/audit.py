"""The audit log: a line of JSON for each decision that changes, with hashes of its grounds.

A gang that waits as it did before has no line of its own again: a queue of thousands would write
megabytes a minute. How many do is counted in one line.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import structlog
from pydantic import BaseModel

from fourleaf.k8s_bridge.runtime.api_text import microsecond
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.devices.layout import DeviceLayout
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan, Waiting
from fourleaf.model.problems import printable_json
from fourleaf.model.reasons.kinds import Reason
from fourleaf.model.snapshot import Snapshot

STDOUT = "-"
# orjson's own way with dataclasses would take in what their cached properties hold.
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS
_NO_FABRIC = Fabric(())

MOST_LINES = 2000
"""Lines that are written at once; the loop has other things to do."""

Writer = Callable[[str], object]
"""Keeps lines, which have their ends. May raise `OSError`."""


def audit_to(where: str) -> Writer:
    """A writer to standard output (`-`), or to the end of a file, which may be rotated."""
    if where == STDOUT:
        return _to_stdout
    path = Path(where)

    def append(lines: str) -> None:
        # Opened each time: a rotation of the file then needs no signal.
        with path.open("a", encoding="utf-8") as file:
            file.write(lines)

    return append


def _to_stdout(lines: str) -> None:
    sys.stdout.write(lines)
    sys.stdout.flush()


def canonical(value: Any) -> bytes:
    """`value` (frozen data of the model) as JSON with sorted keys: equal data, equal bytes.

    Only fields count, never what was computed from them; sets are sorted.
    """
    return orjson.dumps(value, default=_plain, option=_OPTIONS)


def digest(value: Any) -> str:
    """The SHA-256 of `canonical(value)`, in hexadecimal."""
    return sha256(canonical(value)).hexdigest()


def _plain(value: Any) -> Any:
    kind: Any = type(value)
    names = _fields_of(kind)
    if names is not None:
        return {name: getattr(value, name) for name in names}
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, DeviceLayout):
        return {"devices": value.devices, "links": value.links}
    raise TypeError(f"{type(value).__name__} has no canonical form")


@cache
def _fields_of(kind: Hashable) -> tuple[str, ...] | None:
    """The fields of a dataclass by name, None for anything else."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None


class Audit:
    """Writes what every cycle has decided.

    Where that cannot be written, the log says so and scheduling goes on.
    """

    def __init__(self, write: Writer, clock: Clock) -> None:
        self._log = structlog.get_logger(__name__)
        self._write = write
        self._clock = clock
        self._fabric: tuple[Fabric, str] | None = None
        self._running, self._gangs, self._answers = _Digests(), _Digests(), _Digests()
        self._epoch = 0
        self._unwritten: deque[Callable[[], dict[str, Any]]] = deque()
        self._waiting: dict[int, Waiting] = {}
        """The answers of the last cycle by their identity; most are the same in the next one."""
        self._waits: dict[GangKey, Mapping[str, Any]] = {}
        """The reason that was last written of each gang that waits."""

    def decided(
        self,
        cycle_id: str,
        epoch: int,
        snapshot: Snapshot,
        plan: Plan,
        rejected: Mapping[GangKey, str] | None = None,
        lost: Mapping[GangKey, str] | None = None,
    ) -> int:
        """Write a line for each decision that is another than before; how many were written.

        Of more than `MOST_LINES`, the rest is for `write_more`. `rejected` are placed gangs whose
        commit did not take, and why. They wait; so did `lost`, which were placed in an earlier
        cycle. The first cycle of an epoch has a line for each gang.
        """
        if epoch != self._epoch:
            self._epoch, self._waiting, self._waits = epoch, {}, {}
        before = self._waiting
        now = dict(zip(map(id, plan.waiting), plan.waiting, strict=True))
        are_all_there = before.keys() <= now.keys()
        gone = () if are_all_there else before.keys() - now.keys()
        ended = {before[number].gang for number in gone}
        changed: list[tuple[GangKey, str, list[str], Mapping[str, Any] | None]] = []
        for placement in plan.placements:
            nodes = list(dict.fromkeys(node for _, node in placement.pods))
            why = (rejected or {}).get(placement.gang)
            if why is None:
                changed.append((placement.gang, "placed", nodes, None))
            else:
                changed.append((placement.gang, "waiting", nodes, _not_committed(why)))
        # Gangs that are alike share one reason.
        written: dict[int, Mapping[str, Any]] = {}
        are_the_same = are_all_there and len(before) == len(now)
        for number, one in () if are_the_same else now.items():
            if number not in before:
                said = written.get(id(one.reason)) or _said(one.reason)
                written[id(one.reason)] = said
                if self._waits.get(one.gang) != said:
                    changed.append((one.gang, "waiting", [], said))
                self._waits[one.gang] = said
                ended.discard(one.gang)
        for gang in ended:
            self._waits.pop(gang, None)
        self._waiting = now
        late: list[tuple[GangKey, str, list[str], Mapping[str, Any] | None]] = [
            (gang, "waiting", [], _not_committed(why)) for gang, why in (lost or {}).items()
        ]
        if not changed and not late:
            return 0
        common = self._common(cycle_id, epoch, snapshot, plan)
        self._unwritten.extend(partial(_line, common, *one) for one in (*late, *changed))
        unchanged = len(plan.placements) + len(plan.waiting) - len(changed)
        if unchanged:
            self._unwritten.append(lambda: {**common, "decision": "unchanged", "gangs": unchanged})
        return self.write_more()

    @property
    def is_behind(self) -> bool:
        """Whether lines have yet to be written."""
        return bool(self._unwritten)

    def write_more(self) -> int:
        """Write the next lines, at most `MOST_LINES`; how many were written."""
        number = min(MOST_LINES, len(self._unwritten))
        lines = [self._unwritten.popleft()() for _ in range(number)]
        return len(lines) if lines and self._kept(lines) else 0

    def _common(self, cycle_id: str, epoch: int, snapshot: Snapshot, plan: Plan) -> dict[str, Any]:
        return {
            "time": microsecond(self._clock.wall()),
            "cycle_id": cycle_id,
            "epoch": epoch,
            "snapshot": self.snapshot_hash(snapshot),
            "config": digest(snapshot.config),
            "plan": self._plan_hash(plan),
            "status": plan.status.value,
            "gap": plan.gap,
        }

    def _kept(self, lines: list[dict[str, Any]]) -> bool:
        try:
            self._write(
                "".join(printable_json(orjson.dumps(line).decode()) + "\n" for line in lines)
            )
        except OSError as error:
            self._log.error("audit_not_written", lines=len(lines), why=str(error))
            return False
        return True

    def snapshot_hash(self, snapshot: Snapshot) -> str:
        """The hash of `snapshot`. What stays the same object from cycle to cycle is hashed once."""
        if self._fabric is None or self._fabric[0] is not snapshot.fabric:
            self._fabric = (snapshot.fabric, digest(snapshot.fabric))
        rest = replace(snapshot, fabric=_NO_FABRIC, running=(), gangs=())
        running, gangs = self._running.of(snapshot.running), self._gangs.of(snapshot.gangs)
        return digest((self._fabric[1], running, gangs, rest))

    def _plan_hash(self, plan: Plan) -> str:
        waiting = self._answers.of(plan.waiting)
        return digest((plan.placements, waiting, plan.moves, plan.phantoms))


class _Digests:
    """The digest of many objects, each of which is hashed once while it is among them."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, int]] = {}
        """By identity of the object, which stays alive here: its digest as a number."""
        self._sum = 0

    def of(self, objects: Sequence[object]) -> str:
        """The SHA-256 of the number and the sum of the digests of `objects`, in hexadecimal.

        A sum, modulo 2**256, because it is kept up as objects come and go.
        """
        known, now = self._known, dict(zip(map(id, objects), objects, strict=True))
        # Sets of differences cost several times what it costs to see that there is none.
        if not known.keys() <= now.keys():
            for number in known.keys() - now.keys():
                self._sum -= known.pop(number)[1]
        new = now.keys() - known.keys() if len(now) > len(known) else ()
        for number in new:
            value = int.from_bytes(sha256(canonical(now[number])).digest())
            known[number] = now[number], value
            self._sum += value
        self._sum %= 1 << 256
        return digest((len(objects), f"{self._sum:x}"))


def _not_committed(why: str) -> Mapping[str, Any]:
    return {"kind": "NotCommitted", "detail": why}


def _said(reason: Reason) -> Mapping[str, Any]:
    return {"kind": reason.kind.value, "detail": reason.detail, "counts": dict(reason.counts)}


def _line(
    common: Mapping[str, Any],
    gang: GangKey,
    decision: str,
    nodes: list[str],
    reason: Mapping[str, Any] | None,
) -> dict[str, Any]:
    said: dict[str, Any] = {"gang": str(gang), "decision": decision, "nodes": nodes}
    return {**common, **said} if reason is None else {**common, **said, "reason": reason}
