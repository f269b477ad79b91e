"""An edit of the config that says nothing of what there is has nothing read anew."""

from __future__ import annotations

import random
import sys
from typing import Any

import pytest

from fourleaf.model.config.relocation import Repair
from fourleaf.model.config.spec import NamespacePolicy, SchedulerConfig, Spec
from fourleaf.model.config.strategies import StrategySettings
from fourleaf.model.config.values import Section
from fourleaf.model.readers.gangs.read_gang import read_gang
from fourleaf.model.readers.live import gang_reads as live
from fourleaf.model.readers.live.config_as_read import READ_IN_PART, UNREAD
from tests.model.readers.live.live_world import EVENTS, World
from tests.model.readers.live.test_live import NOW, reader
from tests.model.readers.made import config, node, pod

READERS = "/model/readers/"
COMPARED = "config_as_read.py"
PARTS: dict[str, type[Section]] = {
    "namespaces": NamespacePolicy,
    "strategies": StrategySettings,
    "repair": Repair,
}


def noting(monkeypatch: pytest.MonkeyPatch, kind: type[Section], asked: set[str]) -> None:
    """Note in `asked` what readers look at of sections of that kind."""
    plain = kind.__getattribute__

    def looked_at(self: Section, name: str) -> Any:
        where = sys._getframe(1).f_code.co_filename
        if READERS in where and "/tests/" not in where and not where.endswith(COMPARED):
            asked.add(name)
        return plain(self, name)

    monkeypatch.setattr(kind, "__getattribute__", looked_at)


def test_no_reader_looks_at_what_is_called_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a history of every kind of event, readers ask for other sections of the config."""
    asked: set[str] = set()
    parts: dict[str, set[str]] = {name: set() for name in READ_IN_PART}
    noting(monkeypatch, Spec, asked)
    for name, section in PARTS.items():
        noting(monkeypatch, section, parts[name])
    world = World(random.Random(7).choice)  # noqa: S311 - a history, not a secret
    for _ in range(3):
        for event in EVENTS:
            event(world)
        world.check()
    assert {"devices", "scheduler_names", "topology"} <= asked
    assert not asked & UNREAD
    assert parts["strategies"], "nothing is heard"
    assert Spec.model_fields.keys() >= UNREAD | READ_IN_PART.keys()
    for name, section in PARTS.items():
        looked_at = parts[name] & section.model_fields.keys()
        assert looked_at <= READ_IN_PART[name], f"in {name}"


@pytest.mark.parametrize(
    ("edit", "is_read"),
    [
        ({"solver": {"timeLimitSeconds": 3}}, False),
        ({"namespaces": {"ml": {"gpuQuota": 8}}}, False),
        ({"namespaces": {"ml": {"domains": ["leaf-1"]}}}, True),
        ({"strategies": {"balanced": {"spread": 9, "factors": {"topologyAlignment": 2}}}}, False),
        ({"strategies": {"balanced": {"onePerNode": True}}}, True),
        ({"strategies": {"mine": {}}}, True),
        ({"repair": {"placesSeconds": 7}}, False),
        ({"repair": {"policy": "wait"}}, True),
        ({"gpuResources": ["example.com/gpu"]}, True),
    ],
)
def test_an_edit_reads_anew_what_it_may_change(
    edit: dict[str, Any], is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under new limits, which hold at once, no gang is read again."""
    made = reader(node(), pod("p"), pod("q", nodeName="n1"))
    before = made.reading(NOW)
    read: list[object] = []

    def reading(*of: Any) -> Any:
        read.append(of)
        return read_gang(*of)

    monkeypatch.setattr(live, "read_gang", reading)
    after_edit = SchedulerConfig.model_validate(config(**edit))
    made.configure(after_edit)
    after = made.reading(NOW)
    assert after.snapshot.config is after_edit
    assert bool(read) is is_read
    if not is_read:
        assert after.snapshot.fabric is before.snapshot.fabric
