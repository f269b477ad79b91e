"""What Prometheus is given of each program: metrics, and not when each of them was made."""

from __future__ import annotations

import re

from prometheus_client import enable_created_metrics, generate_latest

from docs.reference.metrics import registries
from tests.house.test_names import ROOMS, ROOT


def test_no_program_says_when_a_metric_was_made() -> None:
    """Counters with a series each, and no `_created` among the lines of any page."""
    enable_created_metrics()
    pages = {program: generate_latest(one).decode() for program, one in registries().items()}
    assert all("_total" in page for page in pages.values())
    assert [page for page in pages.values() if "_created" in page] == []


def test_registries_are_made_in_one_place() -> None:
    """Another one would have the lines again, in a program that makes no other."""
    made = {
        file.relative_to(ROOT).as_posix()
        for room in ROOMS
        for file in (ROOT / room).rglob("*.py")
        if re.search(r"\bCollectorRegistry\(\)", file.read_text())
    }
    assert made == {"k8s_bridge/runtime/metric_registry.py"}
