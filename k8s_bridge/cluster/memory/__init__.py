"""A cluster in memory: the apiserver's answers without an apiserver, for demos and tests."""

from fourleaf.k8s_bridge.cluster.memory.client import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest, Interceptor
from fourleaf.k8s_bridge.cluster.memory.store import MemoryStore

__all__ = ["ApiRequest", "Interceptor", "MemoryCluster", "MemoryStore"]
