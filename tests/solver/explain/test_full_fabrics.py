"""Reasons on fabrics on which nothing is free, which is where they are asked for most."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from fastapi import Request

from fourleaf.cli.render.queue import ROW_WIDTH, queue_lines
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.views.queue import queue_view
from fourleaf.dashboard.web.pages import QUEUE_COLUMNS, full_name
from fourleaf.dashboard.web.table_state import TableState, table_page
from fourleaf.dashboard.web.templates import Drawing
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.reporting.cycle_facts import ReportedReason
from fourleaf.k8s_bridge.reporting.events.waiting_gangs import waits_event
from fourleaf.k8s_bridge.reporting.other_namespaces import without_others
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Regarding
from fourleaf.k8s_bridge.runtime.api_text import TEXT_LIMIT_BYTES, reason_text
from fourleaf.model.documents.queue import queue_entry
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import PlanStatus, Waiting
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod, Snapshot
from fourleaf.solver.batch.greedy import greedy_plan
from fourleaf.solver.explain.explain import explain
from tests.cli.made import text
from tests.small import fabric, gang, snapshot

MOST_WORDS = 60
"""Three lines of a terminal hold so many."""
HIDDEN = re.compile("a gang of another namespace|[0-9]+ gangs of other namespaces")
"""What a tenant reads in place of a name; counted as one word, as the name is."""
SIZES = (2, 3, 4, 16, 33, 64, 128, 256, 512)
NAMES = (
    ("ml", "w-", "research", "run-"),
    ("research-foundation-models", "mixtral-8x22b-continued-pretraining-w", "speech", "whisper-"),
)
"""Namespace and beginning of the gangs that wait, and of those that run."""
SMALL, LARGE = (16, 4), (26, 40)
"""Leaves and nodes of each: 64 nodes and 1040."""

Bodies = Mapping[tuple[str, str], Mapping[str, Any]]


def full(seed: int, ground: tuple[int, int] | None) -> Snapshot:
    """A fabric of 16 to 1040 nodes, full but for one here and there, and gangs that wait."""
    rnd = random.Random(seed)  # noqa: S311 - no secret
    leaves, size = ground or (rnd.choice([4, 12, 26]), rnd.choice([4, 16, 40]))
    space, begin, owners, runs = NAMES[seed % 2]
    where = fabric([[size] * (leaves // 2)] * 2)
    names, running = list(where.nodes), []
    free = rnd.choice([0.0, 0.02])
    while names:
        owner = GangKey(owners, f"{runs}{len(names)}")
        some = min(len(names), rnd.choice([1, 4, 16]))
        for node in [names.pop() for _ in range(some)]:
            if rnd.random() >= free:
                request = Resources(gpus=8)
                running.append(RunningPod(owners, f"{owner.name}-{node}", node, request, owner))
    waiting = [gang(f"{begin}{one}", one) for one in SIZES if one <= leaves * size // 2]
    gangs = (replace(one, key=GangKey(space, one.key.name)) for one in waiting)
    return snapshot(where, *gangs, running=tuple(running))


def told(world: Snapshot, waiting: tuple[Waiting, ...]) -> Bodies:
    """The first pod of each gang that waits, with the condition that the scheduler writes."""
    bodies = {}
    for one in waiting:
        message = reason_text(one.reason)
        condition = {"type": "PodScheduled", "status": "False", "message": message}
        pod = world.gangs_by_key[one.gang].roles[0].pods[0]
        bodies[one.gang.namespace, pod] = {"status": {"conditions": [condition]}}
    return bodies


def rows(world: Snapshot, bodies: Bodies, **more: Any) -> list[str]:
    """The rows of the queue of gangs that have waited for an hour, in the order of the plan."""
    entries = [queue_entry(one, bodies) | more for one in world.gangs]
    return text(list(queue_lines(entries, world.now + 3600))[1:], width=500).splitlines()


def cells(world: Snapshot, bodies: Bodies) -> Iterator[str]:
    """What the page of the queue says of each gang, in the order of the plan."""
    look = ClusterMoment(1, world, (), bodies, lambda *_: (), lambda _: ())
    shown = queue_view(look, {}, 0).gangs
    in_order = sorted(shown, key=lambda one: one.pods)
    request = Request({"type": "http", "path": "/queue", "headers": [], "query_string": b""})
    table = table_page(TableState("/queue"), in_order, full_name, QUEUE_COLUMNS)
    page = Drawing("test", live=False).drawn("parts/queue.html", request, table=table)
    for cell in re.findall(r'<td class="why" data-head="Why">(.*?)</td>', page, re.DOTALL):
        yield unescape(" ".join(re.sub(r"<[^>]*>", " ", cell).split()))


def need_helpful(said: str) -> None:
    """Whole words, first what helps."""
    assert ". To unblock: " in said, said
    assert said.index(". To unblock: ") < len(said.partition(". Nearest: ")[0]), said
    assert "..." not in said, said
    assert len(said.encode()) <= TEXT_LIMIT_BYTES, said


@pytest.mark.parametrize(
    ("seeds", "ground"),
    [
        pytest.param(range(20), None, id="some"),
        pytest.param(range(4), SMALL, id="64"),
        pytest.param(range(1, 2), LARGE, id="1040"),
        pytest.param(range(20, 200), None, id="200", marks=pytest.mark.deep),
        pytest.param(range(2, 20), LARGE, id="1040s", marks=pytest.mark.deep),
    ],
)
def test_a_reason_is_short_and_says_what_would_let_the_gang_start(
    seeds: range, ground: tuple[int, int] | None
) -> None:
    """Condition, event, page and row of the queue: each whole, for gangs of 2 to 512 nodes."""
    for seed in seeds:
        world = full(seed, ground)
        plan = explain(world, greedy_plan(world))
        assert plan.status is PlanStatus.GREEDY
        sizes = {len(world.gangs_by_key[one.gang].roles[0].pods) for one in plan.waiting}
        assert ground is not LARGE or sizes >= {64, 128, 256, 512}
        bodies = told(world, plan.waiting)
        by_start = [{}, {"start": {"seconds": 100_000, "held": False, "waitsFor": []}}]
        printed = [rows(world, bodies, **start) for start in by_start]
        beside = dict(
            zip((one.key for one in world.gangs), zip(*printed, strict=True), strict=True)
        )
        drawn = dict(zip(beside, cells(world, bodies), strict=True))
        for one in plan.waiting:
            said, step = reason_text(one.reason), one.reason.unblock[0].rstrip(".")
            need_helpful(said)
            assert len(said.split()) <= MOST_WORDS, said
            spaces = {pod.namespace for pod in world.running} | {one.gang.namespace}
            read = without_others(said, one.gang.namespace, spaces)
            need_helpful(read)
            assert len(HIDDEN.sub("hidden", read).split()) <= MOST_WORDS, read
            reported = ReportedReason(one.reason.kind, said, 0.0, 0.0)
            pod = Regarding(PODS, one.gang.namespace, "w-0")
            note = waits_event(pod, one.gang, reported).note
            need_helpful(note)
            assert said in note, note
            assert step in drawn[one.gang], drawn[one.gang]
            assert "..." not in drawn[one.gang], drawn[one.gang]
            for row in beside[one.gang]:
                assert len(row) <= ROW_WIDTH, row
                assert " ".join(step.split()[:3]) in row, row
