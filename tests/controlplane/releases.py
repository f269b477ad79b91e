"""What the control plane of the tests has by its release of Kubernetes; tests of the rest skip."""

from __future__ import annotations

import pytest

from tests.controlplane.build import kubernetes_version


def has(minor: int) -> bool:
    """Whether it has what came with Kubernetes 1.`minor`."""
    return int(kubernetes_version().split(".")[1]) >= minor


def since(minor: int, what: str) -> pytest.MarkDecorator:
    """A mark for what came with Kubernetes 1.`minor`."""
    reason = f"{what} came with 1.{minor}; this is {kubernetes_version()}"
    return pytest.mark.skipif(not has(minor), reason=reason)
