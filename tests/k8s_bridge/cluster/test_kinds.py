"""The paths of objects: no name leads anywhere else."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.kinds import EVENTS, LEASES, NODES, PODS


def test_paths() -> None:
    """Of a collection, an object and a subresource, with a group and without."""
    assert NODES.path() == "/api/v1/nodes"
    assert PODS.path("ml", "p", "binding") == "/api/v1/namespaces/ml/pods/p/binding"
    assert LEASES.path("ml", "l") == "/apis/coordination.k8s.io/v1/namespaces/ml/leases/l"


def test_names_stay_within_their_part() -> None:
    """Slashes, questions and marks of a place are names like any other; dots alone are none."""
    path = EVENTS.path("kube-system/services/x:80/proxy?a=b#c")
    tail = "kube-system%2Fservices%2Fx%3A80%2Fproxy%3Fa%3Db%23c/events"
    assert path == f"/apis/events.k8s.io/v1/namespaces/{tail}"
    for name in (".", ".."):
        with pytest.raises(ValueError, match="no name"):
            PODS.path(name)
