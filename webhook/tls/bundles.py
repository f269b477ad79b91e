"""The caBundle of the webhook configurations: the authorities that the API server trusts."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target

GENERATION = "gpu.scheduling/ca-generation"
"""Annotation of a configuration: which change of the bundle it has seen."""


class Overtaken(Exception):
    """Another replica has written a newer bundle."""


@dataclass(frozen=True, slots=True)
class Bundles:
    """Both configurations called `name`; one that does not exist trusts none, which is fine."""

    cluster: Cluster
    name: str

    async def generation(self) -> int:
        """The newest generation that a configuration has seen, 0 for none."""
        return max([_generation(body) for _, body in await self._read()], default=0)

    async def hold(self, bundle: bytes, generation: int) -> bool:
        """Whether every configuration trusts exactly `bundle`, in that generation."""
        return all(_holds(body, bundle, generation) for _, body in await self._read())

    async def put(self, bundle: bytes, generation: int) -> None:
        """Let every configuration trust `bundle`.

        Raises `Overtaken` where one has seen a newer generation, `Conflict` where one was
        changed meanwhile, and any other `ClusterError`.
        """
        for kind, body in await self._read():
            if _generation(body) > generation:
                raise Overtaken
            if _holds(body, bundle, generation):
                continue
            text = base64.b64encode(bundle).decode()
            for hook in body.get("webhooks") or ():
                hook["clientConfig"] = {**hook["clientConfig"], "caBundle": text}
            annotations = body["metadata"].setdefault("annotations", {})
            annotations[GENERATION] = str(generation)
            metadata = body["metadata"]
            named = Target("", self.name, metadata["uid"], metadata["resourceVersion"])
            await self.cluster.replace(kind, named, body)

    async def _read(self) -> list[tuple[Any, Body]]:
        found = []
        for kind in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS):
            try:
                found.append((kind, await self.cluster.get(kind, Target("", self.name))))
            except NotFound:
                continue
        return found


def _generation(body: Body) -> int:
    text = (body["metadata"].get("annotations") or {}).get(GENERATION, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else 0


def _holds(body: Body, bundle: bytes, generation: int) -> bool:
    text = base64.b64encode(bundle).decode()
    hooks = body.get("webhooks") or ()
    return _generation(body) == generation and all(
        hook["clientConfig"].get("caBundle") == text for hook in hooks
    )
