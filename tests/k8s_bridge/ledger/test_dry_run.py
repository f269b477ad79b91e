"""Whether bindings are tried out depends on who looks at them."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import VALIDATING_WEBHOOKS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.ledger.dry_run import admission_covers_bindings


@pytest.mark.parametrize(
    ("rule", "looks"),
    [
        ({"apiGroups": [""], "resources": ["pods/binding"], "operations": ["CREATE"]}, True),
        ({"apiGroups": ["*"], "resources": ["*/*"], "operations": ["*"]}, True),
        ({"apiGroups": [""], "resources": ["pods"], "operations": ["CREATE"]}, False),
        ({"apiGroups": [""], "resources": ["pods/binding"], "operations": ["UPDATE"]}, False),
        ({"apiGroups": ["apps"], "resources": ["*/*"], "operations": ["*"]}, False),
    ],
)
async def test_rules(rule: dict[str, Any], looks: bool) -> None:
    """Only a rule for creating pods/binding counts, wildcards included."""
    cluster = MemoryCluster()
    body = {"metadata": {"name": "hook"}, "webhooks": [{"name": "a.b.c", "rules": [rule]}]}
    await cluster.create(VALIDATING_WEBHOOKS, "", body)
    assert await admission_covers_bindings(cluster) is looks


async def test_without_webhooks_nobody_looks() -> None:
    """A cluster without admission webhooks needs no dry run."""
    assert not await admission_covers_bindings(MemoryCluster())
