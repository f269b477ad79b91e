"""A cluster behind a kube-apiserver."""

from fourleaf.k8s_bridge.cluster.live.client import LiveCluster, connect
from fourleaf.k8s_bridge.cluster.live.traffic import Traffic

__all__ = ["LiveCluster", "Traffic", "connect"]
