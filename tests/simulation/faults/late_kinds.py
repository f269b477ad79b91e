"""Kinds that the API server serves only after a while, since their CRD comes late."""

from __future__ import annotations

import random

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import JOB_SETS
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.simulation.controllers.owner import PYTORCH_JOBS
from tests.simulation.faults.fault import Family, Fate, Scene

MISSING = NotFound("the server could not find the requested resource", 404, "NotFound")
MOST_OF_IT = 0.6
"""The part of the trouble by whose end each is served."""


class LateKinds(Family):
    """JobSets and PyTorchJobs cannot be listed at first, each until a moment of its own.

    Their controllers see them before: another API server has taken up the CRD already.
    """

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        latest = scene.begins + MOST_OF_IT * (scene.ends - scene.begins)
        kinds = (JOB_SETS, PYTORCH_JOBS)
        self._served = {kind: chance.uniform(scene.begins, latest) for kind in kinds}

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Answer that there is no such kind."""
        if request.verb not in ("list", "watch") or now >= self._served.get(request.kind, 0.0):
            return None
        return Fate("kind not served", arrives=False, answer=MISSING)
