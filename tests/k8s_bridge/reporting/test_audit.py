"""The audit log, and the hashes in it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from fourleaf.k8s_bridge.reporting import audit as audit_module
from fourleaf.k8s_bridge.reporting.audit import STDOUT, Audit, audit_to, canonical, digest
from fourleaf.model.devices.layout import Device, layout_of
from fourleaf.model.fabric import AdjacencyKind
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Plan
from fourleaf.model.snapshot import Snapshot
from tests import small
from tests.twins.virtual_clock import VirtualClock

A, B = small.gang("a", 1), small.gang("b", 4)
HASHES = ("snapshot", "config", "plan")


def world(**spec: Any) -> Snapshot:
    """Two gangs on a leaf of two nodes."""
    return small.snapshot(small.fabric([[2]]), A, B, **spec)


def decided(snapshot: Snapshot, plan: Plan, **more: Any) -> list[dict[str, Any]]:
    """The lines of one cycle."""
    lines: list[str] = []
    Audit(lines.append, VirtualClock()).decided("c-1", 3, snapshot, plan, **more)
    return [json.loads(line) for line in "".join(lines).splitlines()]


def test_each_decision_has_a_line() -> None:
    """One gang placed, one waiting: who, where, why, under which cycle and epoch."""
    snapshot = world()
    placed, waits = decided(snapshot, small.plan(snapshot, {"a": ["a0"]}))
    assert {key: placed[key] for key in ("time", "cycle_id", "epoch", "status", "gap")} == {
        "time": "2026-01-01T00:00:00.000000Z",
        "cycle_id": "c-1",
        "epoch": 3,
        "status": "OPTIMAL",
        "gap": 0.0,
    }
    assert (placed["gang"], placed["decision"], placed["nodes"]) == ("ml/a", "placed", ["a0"])
    assert (waits["gang"], waits["decision"], waits["nodes"]) == ("ml/b", "waiting", [])
    assert waits["reason"] == {"kind": "NoFreeCapacity", "detail": "", "counts": {}}
    assert [placed[name] for name in HASHES] == [waits[name] for name in HASHES]
    assert placed.keys() | {"reason"} == waits.keys()
    # Nothing of what containers are: neither images nor environment.
    named = {"time", "cycle_id", "epoch", "status", "gap", "gang", "decision", "nodes", "reason"}
    assert waits.keys() == named | set(HASHES)


def test_a_gang_that_waits_as_before_has_no_line_again() -> None:
    """A second cycle of the same decisions writes nothing; where one changes, others are counted.

    A new leader writes all of them once.
    """
    snapshot = world()
    lines: list[str] = []
    audit = Audit(lines.append, VirtualClock())
    nothing = small.plan(snapshot, {})
    assert audit.decided("1-1", 1, snapshot, nothing) == 2
    assert audit.decided("1-2", 1, snapshot, nothing) == 0
    assert audit.decided("1-3", 1, snapshot, small.plan(snapshot, {"a": ["a0"]})) == 2
    last = [json.loads(line) for line in lines[-1].splitlines()]
    assert [one["decision"] for one in last] == ["placed", "unchanged"]
    assert last[1]["gangs"] == 1
    assert audit.decided("2-1", 2, snapshot, nothing) == 2


def test_the_same_reason_is_written_once_however_often_it_is_given() -> None:
    """Three cycles say it anew; a gang that started meanwhile and waits again has a line again."""
    snapshot = world()
    audit = Audit(lambda _: None, VirtualClock())
    said = [audit.decided(f"1-{n}", 1, snapshot, small.plan(snapshot, {})) for n in range(3)]
    assert said == [2, 0, 0]
    audit.decided("1-3", 1, snapshot, small.plan(snapshot, {"a": ["a0"]}))
    assert audit.decided("1-4", 1, snapshot, small.plan(snapshot, {})) == 2


def test_many_lines_are_written_bit_by_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two gangs, a line at once: the second one is written next, as of its cycle."""
    monkeypatch.setattr(audit_module, "MOST_LINES", 1)
    lines: list[str] = []
    audit = Audit(lines.append, VirtualClock())
    assert audit.decided("1-1", 1, world(), small.plan(world(), {})) == 1
    assert audit.is_behind
    assert audit.write_more() == 1
    assert audit.write_more() == 0
    assert not audit.is_behind
    said = [json.loads(line) for line in lines]
    assert [one["gang"] for one in said] == ["ml/a", "ml/b"]
    assert {one["cycle_id"] for one in said} == {"1-1"}


def test_a_commit_that_did_not_take_is_no_placement() -> None:
    """The gang waits, and the line says for which nodes and why not."""
    snapshot = world()
    plan = small.plan(snapshot, {"a": ["a0"]})
    line = decided(snapshot, plan, rejected={GangKey("ml", "a"): "page a has changed"})[0]
    assert (line["decision"], line["nodes"]) == ("waiting", ["a0"])
    assert line["reason"] == {"kind": "NotCommitted", "detail": "page a has changed"}


def test_a_cycle_without_gangs_writes_nothing() -> None:
    """No decision, no line."""
    snapshot = small.snapshot(small.fabric([[1]]))
    assert decided(snapshot, small.plan(snapshot, {})) == []


def test_equal_snapshots_have_equal_hashes_whatever_was_computed_from_them() -> None:
    """What a solve caches in the snapshot and its fabric changes no hash."""
    fresh, used = world(), world()
    assert used.free
    assert used.fabric.leaf_of
    audits = [Audit(print, VirtualClock()).snapshot_hash(one) for one in (fresh, used)]
    assert audits[0] == audits[1]
    assert digest(fresh) == digest(used)


@pytest.mark.parametrize(
    "other",
    [
        replace(world(), now=1.0),
        replace(world(), gangs=(A,)),
        replace(world(), fabric=small.fabric([[2]], AdjacencyKind.RING)),
        world(batch={"size": 7}),
    ],
    ids=["time", "gangs", "adjacency", "config"],
)
def test_anything_else_in_a_snapshot_has_another_hash(other: Snapshot) -> None:
    """Each field counts."""
    audit = Audit(print, VirtualClock())
    assert audit.snapshot_hash(other) != audit.snapshot_hash(world())


def test_the_form_that_is_hashed_is_sorted_json() -> None:
    """Sets and keys in order, so that the bytes do not depend on the process."""
    assert canonical({"b": frozenset({("y", "z"), ("a", "b")}), "a": GangKey("n", "g")}) == (
        b'{"a":{"name":"g","namespace":"n"},"b":[["a","b"],["y","z"]]}'
    )


def test_what_is_known_of_devices_has_a_canonical_form() -> None:
    """A cluster whose inventories or device maps name devices has its decisions written too."""
    layout = layout_of([Device(1, "H200"), Device(0)], [(0, 1, 900)])
    assert canonical(layout) == (
        b'{"devices":[{"classes":[],"memory":0,"number":0,"product":""},'
        b'{"classes":[],"memory":0,"number":1,"product":"H200"}],"links":[[0,1,900]]}'
    )


def test_what_has_no_canonical_form_is_refused() -> None:
    """Read-only mappings count as mappings; an object that is no data raises."""
    assert canonical(MappingProxyType({"b": 1, "a": 2})) == b'{"a":2,"b":1}'
    with pytest.raises(TypeError):
        canonical(object())


def test_a_plan_hash_leaves_out_how_long_it_took() -> None:
    """The same decisions on a slower machine are the same plan; other nodes are not."""
    snapshot = world()
    plan = small.plan(snapshot, {"a": ["a0"]})
    slow = replace(plan, seconds_solve=9.0, peak_memory_mib=99)
    other = small.plan(snapshot, {"a": ["a1"]})
    hashes = [decided(snapshot, one)[0]["plan"] for one in (plan, slow, other)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_files_are_appended_to_and_may_be_rotated(tmp_path: Path) -> None:
    """After the file was moved away, the next line starts a new one."""
    path = tmp_path / "audit.log"
    write = audit_to(str(path))
    write("1\n")
    write("2\n")
    path.rename(tmp_path / "audit.log.1")
    write("3\n")
    assert (tmp_path / "audit.log.1").read_text() == "1\n2\n"
    assert path.read_text() == "3\n"


def test_standard_output_takes_lines_too(capsys: pytest.CaptureFixture[str]) -> None:
    """For platforms that collect it."""
    audit_to(STDOUT)("1\n")
    assert capsys.readouterr().out == "1\n"


def test_a_full_disk_stops_no_cycle(tmp_path: Path) -> None:
    """The lines are lost, the caller goes on and is told that none was written."""
    snapshot = world()
    audit = Audit(audit_to(str(tmp_path)), VirtualClock())
    assert audit.decided("c", 1, snapshot, small.plan(snapshot, {})) == 0
