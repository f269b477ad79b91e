"""The HTTP server, asked by a client of its own."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from prometheus_client.openmetrics import parser as openmetrics
from prometheus_client.parser import text_string_to_metric_families

from fourleaf.k8s_bridge.ledger.format_usage import LedgerUse
from fourleaf.k8s_bridge.ledger.sealed import Sealed
from fourleaf.k8s_bridge.reporting.cycle_history import CycleNote
from fourleaf.k8s_bridge.reporting.http import StateServer
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.reporting.status import LastCycle, Queued, Status
from fourleaf.k8s_bridge.runtime.http.pages import Address
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Stage
from fourleaf.model.problems import Problem, Severity
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind

FINE = Status(
    identity="pod-1", version="0.1.0", leader=False, holder="pod-2", epoch=4, beat_age=0.25
)


class Source:
    """Says what it is told to say."""

    def __init__(self, status: Status) -> None:
        self.now = status

    def status(self) -> Status:
        """The status of the test."""
        return self.now

    def cycles(self) -> tuple[CycleNote, ...]:
        """Two cycles, the newest last."""
        seconds = {"observe": 0.01, "solve": 0.25}
        stages = (Stage("who", True, 3, 3, 0.125),)
        first = CycleNote("4-1", 100.0, "OPTIMAL", 10, 10, 0.0, 3, 1, 0, seconds, stages)
        return first, CycleNote("4-2", 101.0, "FEASIBLE", 9, 12, 0.25, 2, 1, 1, {}, note="late")


@asynccontextmanager
async def served(status: Status) -> AsyncIterator[tuple[str, Source]]:
    """A server on a free port: its address and its source."""
    source = Source(status)
    metrics = SchedulerMetrics()
    metrics.leading(True)
    async with StateServer(source, metrics.registry, Address(port=0), stale_after=10) as server:
        yield f"http://127.0.0.1:{server.port}", source


async def got(url: str, **headers: str) -> tuple[int, str, Any]:
    """Status, content type and body (JSON decoded) of a GET."""
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        is_json = answer.content_type == "application/json"
        body = await (answer.json() if is_json else answer.text())
        return answer.status, answer.content_type, body


async def test_alive_while_the_loop_beats() -> None:
    """200 up to the limit of 10 s, 503 beyond."""
    async with served(replace(FINE, beat_age=10.0)) as (url, source):
        assert (await got(f"{url}/healthz"))[0] == 200
        source.now = replace(FINE, beat_age=10.1)
        status, _, body = await got(f"{url}/healthz")
        assert (status, body) == (503, {"alive": False, "beatAgeSeconds": 10.1})


async def test_ready_once_the_caches_are_complete_leader_or_not() -> None:
    """503 and what is missing, then 200 for a standby."""
    async with served(replace(FINE, unsynced=("pods",))) as (url, source):
        status, _, body = await got(f"{url}/readyz")
        assert (status, body) == (503, {"ready": False, "leader": False, "unsynced": ["pods"]})
        source.now = FINE
        assert (await got(f"{url}/readyz"))[0] == 200


async def test_metrics_in_both_formats() -> None:
    """Plain text by default, OpenMetrics for those who ask for it."""
    async with served(FINE) as (url, _):
        status, content_type, text = await got(f"{url}/metrics")
        families = {family.name: family for family in text_string_to_metric_families(text)}
        assert (status, content_type) == (200, "text/plain")
        assert families["fourleaf_leader"].samples[0].value == 1
        accept = "application/openmetrics-text; version=1.0.0"
        _, content_type, text = await got(f"{url}/metrics", Accept=accept)
        assert content_type == "application/openmetrics-text"
        assert list(openmetrics.text_string_to_metric_families(text))


async def test_status_tells_the_queue_with_reasons() -> None:
    """The document that the commands read, field by field."""
    reason = Reason(
        ReasonKind.NO_FREE_CAPACITY,
        counts=(("needed", 2), ("free", 1)),
        near=(NearMiss("leaf-1", 1, 2, holders=(("n1", "ml/old-0"),)),),
        unblock=("wait for ml/old",),
    )
    problem = Problem(Severity.ERROR, "", "ConfigMap k/c", "spec.x", "1", "is unknown", "Remove it")
    status = replace(
        FINE,
        leader=True,
        holder="pod-1",
        cycles=(("OPTIMAL", 5),),
        last=LastCycle("c-5", 100.0, 0.25, "OPTIMAL", 0.0, 3, 1),
        queue=(Queued(GangKey("ml", "g"), 10, 16, 2, 50.0, reason),),
        config_source="built-in defaults",
        config_problems=(problem,),
        ledger=LedgerUse(1, {1: 7}, (Sealed("page-x", "page", "2", "format '2' is unknown"),)),
    )
    async with served(status) as (url, _):
        _, _, body = await got(f"{url}/status")
    assert body == {
        "apiVersion": "topology.scheduler/v1alpha1",
        "kind": "Status",
        "identity": "pod-1",
        "version": "0.1.0",
        "leader": True,
        "holder": "pod-1",
        "epoch": 4,
        "beatAgeSeconds": 0.25,
        "ready": True,
        "unsynced": [],
        "cycles": {"OPTIMAL": 5},
        "lastCycle": {
            "id": "c-5",
            "at": 100.0,
            "seconds": 0.25,
            "status": "OPTIMAL",
            "gap": 0.0,
            "placed": 3,
            "waiting": 1,
        },
        "config": {
            "source": "built-in defaults",
            "valid": False,
            "problems": [
                {
                    "object": "ConfigMap k/c",
                    "field": "spec.x",
                    "value": "1",
                    "message": "is unknown",
                    "advice": "Remove it",
                }
            ],
        },
        "ledger": {
            "writes": 1,
            "formats": {"1": 7},
            "unreadable": [{"lease": "page-x", "format": "2", "why": "format '2' is unknown"}],
        },
        "plugins": [],
        "queue": [
            {
                "namespace": "ml",
                "name": "g",
                "priority": 10,
                "gpus": 16,
                "pods": 2,
                "since": 50.0,
                "reason": "NoFreeCapacity",
                "message": "not enough is free: needs 2 nodes, 1 is free; nearest: "
                "1 of 2 nodes free in leaf-1 (n1 held by ml/old-0)",
                "detail": "",
                "counts": {"needed": 2, "free": 1},
                "near": [
                    {
                        "leaf": "leaf-1",
                        "free": 1,
                        "needed": 2,
                        "unit": "nodes",
                        "holders": [{"node": "n1", "holder": "ml/old-0"}],
                    }
                ],
                "unblock": ["wait for ml/old"],
            }
        ],
    }


async def test_cycles_are_told_the_newest_first() -> None:
    """What each was worth, what bounds it, and where its time went."""
    async with served(FINE) as (url, _):
        _, _, body = await got(f"{url}/cycles")
    assert (body["kind"], body["identity"], body["leader"]) == ("Cycles", "pod-1", False)
    newest, first = body["cycles"]
    assert (newest["id"], newest["gap"], newest["lost"], newest["note"]) == ("4-2", 0.25, 1, "late")
    assert first == {
        "id": "4-1",
        "at": 100.0,
        "status": "OPTIMAL",
        "objective": 10,
        "bound": 10,
        "gap": 0.0,
        "placed": 3,
        "waiting": 1,
        "lost": 0,
        "seconds": {"observe": 0.01, "solve": 0.25},
        "stages": [{"name": "who", "proven": True, "objective": 3, "bound": 3, "seconds": 0.125}],
        "note": "",
    }


async def test_nothing_else_is_served_and_nothing_is_written() -> None:
    """Other paths are 404; other methods are 405."""
    async with served(FINE) as (url, _):
        assert (await got(f"{url}/"))[0] == 404
        async with aiohttp.ClientSession() as session, session.post(f"{url}/status") as answer:
            assert answer.status == 405


async def test_an_address_that_is_taken_is_an_error() -> None:
    """Opening raises, and the port it had is free for others afterwards."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        server = StateServer(Source(FINE), SchedulerMetrics().registry, Address(port=port))
        with pytest.raises(OSError, match="Address already in use"):
            await server.__aenter__()
    assert server.port == 0
