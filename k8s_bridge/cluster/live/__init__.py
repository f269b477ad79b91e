"""A cluster behind a kube-apiserver."""

from fourleaf.k8s_bridge.cluster.live.client import CONNECTIONS, LiveCluster, connect
from fourleaf.k8s_bridge.cluster.live.transport import Traffic

__all__ = ["CONNECTIONS", "LiveCluster", "Traffic", "connect"]
