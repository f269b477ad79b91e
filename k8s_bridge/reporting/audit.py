"""The audit log: one line of JSON per decision, with hashes of all that it was made from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Set
from dataclasses import fields, is_dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import structlog
from pydantic import BaseModel

from fourleaf.k8s_bridge.runtime.api_text import microsecond
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot

STDOUT = "-"
# orjson's own way with dataclasses would take in what their cached properties hold.
_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS | orjson.OPT_PASSTHROUGH_DATACLASS


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
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, Set):
        return sorted(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} has no canonical form")


class Audit:
    """Writes what every cycle has decided.

    Where that cannot be written, the log says so and scheduling goes on.
    """

    def __init__(self, write: Writer, clock: Clock) -> None:
        self._log = structlog.get_logger(__name__)
        self._write = write
        self._clock = clock
        self._fabric: tuple[Fabric, str] | None = None

    def decided(
        self,
        cycle_id: str,
        epoch: int,
        snapshot: Snapshot,
        plan: Plan,
        rejected: Mapping[GangKey, str] | None = None,
    ) -> int:
        """Write a line for each gang of `plan`; how many were written.

        `dropped` are placed gangs whose commit did not take, and why. They wait.
        """
        common = {
            "time": microsecond(self._clock.wall()),
            "cycle_id": cycle_id,
            "epoch": epoch,
            "snapshot": self.snapshot_hash(snapshot),
            "config": digest(snapshot.config),
            "plan": digest((plan.placements, plan.waiting, plan.moves, plan.phantoms)),
            "status": plan.status.value,
            "gap": plan.gap,
        }
        why_rejected = rejected or {}
        lines: list[dict[str, Any]] = []
        for placement in plan.placements:
            nodes = list(dict.fromkeys(node for _, node in placement.pods))
            if placement.gang in why_rejected:
                reason = {"kind": "NotCommitted", "detail": why_rejected[placement.gang]}
                lines.append(_line(common, placement.gang, "waiting", nodes, reason))
            else:
                lines.append(_line(common, placement.gang, "placed", nodes, None))
        for waiting in plan.waiting:
            why = waiting.reason
            said = {"kind": why.kind.value, "detail": why.detail, "counts": dict(why.counts)}
            lines.append(_line(common, waiting.gang, "waiting", [], said))
        return len(lines) if self._kept(lines) else 0

    def _kept(self, lines: list[dict[str, Any]]) -> bool:
        try:
            self._write("".join(orjson.dumps(line).decode() + "\n" for line in lines))
        except OSError as error:
            self._log.error("audit_not_written", lines=len(lines), why=str(error))
            return False
        return True

    def snapshot_hash(self, snapshot: Snapshot) -> str:
        """The hash of `snapshot`. The fabric is hashed once for as long as it stays the same."""
        if self._fabric is None or self._fabric[0] is not snapshot.fabric:
            self._fabric = (snapshot.fabric, digest(snapshot.fabric))
        rest = [getattr(snapshot, f.name) for f in fields(snapshot) if f.name != "fabric"]
        return digest([self._fabric[1], rest])


def _line(
    common: Mapping[str, Any],
    gang: GangKey,
    decision: str,
    nodes: list[str],
    reason: Mapping[str, Any] | None,
) -> dict[str, Any]:
    said: dict[str, Any] = {"gang": str(gang), "decision": decision, "nodes": nodes}
    return {**common, **said} if reason is None else {**common, **said, "reason": reason}
