"""Of a long queue, all gangs are told why they wait, in turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.reporting.after_cycle import after_cycle
from fourleaf.k8s_bridge.reporting.conditions import pod_scheduled
from fourleaf.k8s_bridge.reporting.cycle_facts import Reported
from fourleaf.model.plan import Waiting
from fourleaf.model.reasons.kinds import Reason, ReasonKind
from tests import small
from tests.k8s_bridge.reporting.test_pod_scheduled import facts, pods_of, statuses


def test_answers_that_are_made_anew_keep_none_untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two of six at once, and each cycle says the same of all in other objects."""
    monkeypatch.setattr(pod_scheduled, "LONG_QUEUE", 1)
    monkeypatch.setattr(pod_scheduled, "MOST_AT_ONCE", 2)
    gangs = [small.gang(name, 1) for name in "abcdef"]
    bodies = [body for gang in gangs for body in pods_of(gang)]
    base = facts(gangs, bodies, reasons=[Reason(ReasonKind.NAMESPACE_LIMIT)] * 6)
    told: set[str] = set()
    reported = Reported()
    for number in range(3):
        waiting = tuple(Waiting(one.gang, one.reason) for one in base.plan.waiting)
        cycle = replace(base, plan=replace(base.plan, waiting=waiting), now=base.now + number)
        news = after_cycle(reported, cycle)
        told |= {one.target.name for one in statuses(news.outgoing)}
        reported = news.reported
    assert len(told) == 6
