"""What a pod prefers: node affinity, affinity to pods, and spread that need not be met."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fourleaf.model.node_constraint import FULL_WEIGHT, Preference
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.pods.node_terms import node_term
from fourleaf.model.readers.pods.pod_terms import (
    ANYWAY,
    PodTerm,
    SpreadConstraint,
    read_pod_term,
    spread_constraints,
)

PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

MOST_PREFERENCES = 16
"""Preferences of one pod that are looked at: each is compared with all nodes or pods."""


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """Pods that another would rather be near, or with a weight below 0 apart from."""

    weight: int
    term: PodTerm


@dataclass(frozen=True, slots=True)
class PodPreferences:
    """What a pod prefers of `nodes` themselves, of the pods on them, and for its `spread`."""

    nodes: tuple[Preference, ...] = ()
    pods: tuple[WeightedTerm, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()

    @property
    def minds_others(self) -> bool:
        """Whether where other pods are decides which nodes are preferred."""
        return bool(self.pods or self.spread)


NO_PREFERENCES = PodPreferences()


def read_preferences(manifest: Manifest, spec: Body) -> PodPreferences:
    """Decode what `spec` prefers; what is not looked at is warned about."""
    affinity = manifest.mapping(spec.get("affinity"), "spec.affinity")
    nodes = tuple(_node_preferences(manifest, affinity)) if affinity else ()
    near = tuple(_weighted_terms(manifest, affinity, "podAffinity", 1)) if affinity else ()
    apart = tuple(_weighted_terms(manifest, affinity, "podAntiAffinity", -1)) if affinity else ()
    spread = spread_constraints(manifest, spec, ANYWAY)
    if not (nodes or near or apart or spread):
        return NO_PREFERENCES
    pods = (*near, *apart)
    if len(nodes) + len(pods) + len(spread) > MOST_PREFERENCES:
        manifest.warn(
            "spec",
            None,
            f"prefers more than {MOST_PREFERENCES} things of nodes, of which the first count",
            "Merge preferences, or give fewer.",
        )
        nodes = nodes[:MOST_PREFERENCES]
        pods = pods[: MOST_PREFERENCES - len(nodes)]
        spread = spread[: MOST_PREFERENCES - len(nodes) - len(pods)]
    return PodPreferences(nodes, pods, spread)


def _node_preferences(manifest: Manifest, affinity: Body) -> Iterator[Preference]:
    part = manifest.mapping(affinity.get("nodeAffinity"), "spec.affinity.nodeAffinity")
    for path, body in manifest.mappings(
        part.get(PREFERRED), f"spec.affinity.nodeAffinity.{PREFERRED}"
    ):
        at = f"{path}.preference"
        requirements = node_term(manifest, manifest.mapping(body.get("preference"), at), at)
        # As in kube-scheduler, every node meets a preference without conditions.
        if requirements:
            yield Preference(_weight(manifest, body, path), requirements)


def _weighted_terms(
    manifest: Manifest, affinity: Body, kind: str, sign: int
) -> Iterator[WeightedTerm]:
    field = f"spec.affinity.{kind}"
    part = manifest.mapping(affinity.get(kind), field)
    for path, body in manifest.mappings(part.get(PREFERRED), f"{field}.{PREFERRED}"):
        at = f"{path}.podAffinityTerm"
        term, unsupported = read_pod_term(
            manifest, manifest.mapping(body.get("podAffinityTerm"), at), at
        )
        if term is None:
            manifest.warn(
                unsupported.removeprefix(manifest.prefix),
                None,
                "is not looked at, so this preference counts for nothing",
                "Name the namespaces and the topologyKey.",
            )
            continue
        yield WeightedTerm(sign * _weight(manifest, body, path), term)


def _weight(manifest: Manifest, body: Body, path: str) -> int:
    return manifest.whole(body.get("weight"), f"{path}.weight", 1, 1, FULL_WEIGHT)
