"""The volumes of PersistentVolumeClaims as they were last seen, and which nodes reach them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.kinds import (
    NODES,
    PODS,
    STORAGE_CLASSES,
    VOLUME_CLAIMS,
    VOLUMES,
)
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.model.readers.pods.volumes import (
    claims_of,
    class_of,
    is_claim_bound,
    is_made_on_first_use,
    is_reached,
    volume_of,
)


@dataclass(frozen=True, slots=True)
class ClaimedVolumes:
    """What the cache says of them."""

    cache: ClusterCache

    def unprovisioned(self, pod: Target) -> list[Target]:
        """The claims of a pod that get their volume on first use, and have none yet."""
        classes = self.cache.objects.get(STORAGE_CLASSES, {})
        return [
            Target(pod.namespace, claim["metadata"]["name"])
            for claim in self._claims(pod)
            if not is_claim_bound(claim)
            and is_made_on_first_use(classes.get(("", class_of(claim))))
        ]

    def provisioned(self, pod: Target) -> list[str]:
        """The volumes of the claims of a pod that have one."""
        return [volume_of(claim) for claim in self._claims(pod) if is_claim_bound(claim)]

    def provisioner(self, storage_class: str) -> str:
        """Who makes the volumes of a StorageClass, "" where that is not known."""
        body = self.cache.objects.get(STORAGE_CLASSES, {}).get(("", storage_class))
        return "" if body is None else str(body.get("provisioner") or "")

    def reaches(self, node: str, volume: str) -> bool | None:
        """Whether a node reaches a volume, None where one of the two is not known yet."""
        there = self.cache.objects.get(NODES, {}).get(("", node))
        body = self.cache.objects.get(VOLUMES, {}).get(("", volume))
        return None if there is None or body is None else is_reached(body, there)

    def _claims(self, pod: Target) -> Iterator[Body]:
        body = self.cache.objects.get(PODS, {}).get((pod.namespace, pod.name))
        if body is None or body["metadata"].get("uid", "") != pod.uid:
            return
        claims = self.cache.objects.get(VOLUME_CLAIMS, {})
        for _, name in claims_of(pod.name, body.get("spec") or {}):
            if (claim := claims.get((pod.namespace, name))) is not None:
                yield claim
