"""A cluster behind a kube-apiserver."""

from fourleaf.k8s_bridge.cluster.live.client import LiveCluster, connect
from fourleaf.k8s_bridge.cluster.live.transport import Traffic

__all__ = ["LiveCluster", "Traffic", "connect"]
