"""AdmissionReviews, as the webhook decodes and answers them."""

from __future__ import annotations

import json

import orjson

from fourleaf.model.problems import Problem
from fourleaf.webhook.decide import Route, decide
from fourleaf.webhook.review import Malformed, decoded
from fourleaf.webhook.settings import Settings
from tests.fuzz.law import Broken, Reader
from tests.fuzz.seeds import gpu_claim, rich, running
from tests.webhook.made import pod, review

SETTINGS = Settings(claims={("ml", "c"): gpu_claim()})
MOST_ANSWERED = 256 * 1024
"""Bytes of an answer."""

SEEDS = (
    review(rich("a-0")),
    review(
        pod(
            "p-0",
            {"gpu-scheduling-map": "0=n1:0,1\n1=n2:2"},
            volumes=[{"hostPath": {"path": "/x"}}],
        )
    ),
    review(pod("p-0", {"gpu.scheduling/claim": "c"}, hostPID=True, initContainers=[{"name": "i"}])),
    review(running("b-0"), running("b-0")),
    review(running("b-0"), running("b-0"), sub="ephemeralcontainers"),
    review(gpu_claim(), resource="gpuclaims", group="gpu.scheduling"),
)


def answered(data: bytes) -> list[Problem]:
    """What is said to the tenant through each of the doors."""
    request = decoded(data)
    told: list[Problem] = []
    for door in Route:
        decision = decide(request, door, SETTINGS)
        told += decision.problems
        size = len(orjson.dumps(decision.answer))
        if size > MOST_ANSWERED + 4 * len(data):
            raise Broken(f"reviews: {len(data)} bytes are answered by {size}")
    return told


READERS = (
    Reader("reviews", answered, tuple(json.dumps(one).encode() for one in SEEDS), (Malformed,)),
)
