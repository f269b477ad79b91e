"""Who runs a cluster (AKS, GKE, EKS), and which nodes come from one pool."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import StrEnum

_POOL_LABELS = (
    "kubernetes.azure.com/agentpool",
    "agentpool",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "alpha.eksctl.io/nodegroup-name",
    "karpenter.sh/nodepool",
)
_AKS_NAME = re.compile(r"^aks-([a-z0-9]+)-[0-9]+-(?:vmss)?[0-9a-z]+$")
_EKS_NAME = re.compile(r"^ip-[0-9]{1,3}(-[0-9]{1,3}){3}(\.|$)")
_GKE_NAME = re.compile(r"^(gke-.+)-[a-z0-9]{4}$")
_NUMBERED = re.compile(r"^(.*[^0-9.-])[.-]?[0-9]+$")


class Provider(StrEnum):
    """Who runs the nodes."""

    AKS = "AKS"
    GKE = "GKE"
    EKS = "EKS"
    OTHER = "other"


def provider_of(name: str, labels: Mapping[str, str]) -> Provider:
    """Who runs a node, by the labels that it has, else by its name."""
    for prefix, provider in (
        ("kubernetes.azure.com/", Provider.AKS),
        ("cloud.google.com/gke-", Provider.GKE),
        ("eks.amazonaws.com/", Provider.EKS),
        ("alpha.eksctl.io/", Provider.EKS),
    ):
        if any(key.startswith(prefix) for key in labels):
            return provider
    if name.startswith("aks-"):
        return Provider.AKS
    if name.startswith("gke-"):
        return Provider.GKE
    return Provider.EKS if _EKS_NAME.match(name) else Provider.OTHER


def cluster_provider(nodes: Iterable[tuple[str, Mapping[str, str]]]) -> Provider:
    """Who runs most of `nodes`, each given by name and labels."""
    counts = Counter(provider_of(name, labels) for name, labels in nodes)
    return max(Provider, key=lambda one: counts[one]) if counts else Provider.OTHER


def pool_of(name: str, labels: Mapping[str, str]) -> str:
    """The pool of a node, by its label, else by its name; "" where neither tells."""
    return next((labels[key] for key in _POOL_LABELS if labels.get(key)), "") or pool_in(name)


def pool_in(name: str) -> str:
    """The part of a node's name that its pool has in common, "" where there is none.

    `workerpool` of `aks-workerpool-25338008-vmss000000`, the group of a GKE instance, the
    stem of `gpu-node-3`. EKS names nodes after addresses, which say nothing.
    """
    if _EKS_NAME.match(name):
        return ""
    for pattern in (_AKS_NAME, _GKE_NAME, _NUMBERED):
        found = pattern.match(name)
        if found is not None:
            return found[1]
    return ""
