"""Whether bindings are tried out depends on who looks at them."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.kinds import (
    MUTATING_POLICIES,
    VALIDATING_POLICIES,
    VALIDATING_WEBHOOKS,
)
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.ledger.dry_run import (
    DryRun,
    admission_covers_bindings,
)
from tests.twins.virtual_clock import VirtualClock


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


async def test_policies_look_too() -> None:
    """A policy whose resourceRules name pods/binding counts as a webhook does."""
    cluster = MemoryCluster()
    rule = {"apiGroups": [""], "resources": ["pods/binding"], "operations": ["CREATE"]}
    body = {"metadata": {"name": "policy"}, "spec": {"matchConstraints": {"resourceRules": [rule]}}}
    await cluster.create(MUTATING_POLICIES, "", body)
    assert await admission_covers_bindings(cluster)


async def test_who_looks_is_followed() -> None:
    """A policy that comes later is known a minute after at the latest; `never` never asks."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    auto, never = DryRun(cluster, clock, auto=True), DryRun(cluster, clock)
    assert [await auto.refusal(()), auto.needed] == ["", False]
    rule = {"apiGroups": ["*"], "resources": ["*/*"], "operations": ["*"]}
    body = {"metadata": {"name": "policy"}, "spec": {"matchConstraints": {"resourceRules": [rule]}}}
    await cluster.create(VALIDATING_POLICIES, "", body)
    await clock.advance(60)
    await auto.refusal(())
    await never.refusal(())
    never.rolled_back()
    assert [auto.needed, never.needed] == [True, False]
