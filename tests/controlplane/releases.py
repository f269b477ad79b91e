"""Tests that need a release of Kubernetes: they skip on older ones, and say so."""

from __future__ import annotations

import pytest

from tests.controlplane.build import kubernetes_version


def since(minor: int, what: str) -> pytest.MarkDecorator:
    """A mark for what Kubernetes has only since 1.`minor`."""
    version = kubernetes_version()
    older = int(version.split(".")[1]) < minor
    return pytest.mark.skipif(older, reason=f"{what} came with 1.{minor}; this is {version}")
