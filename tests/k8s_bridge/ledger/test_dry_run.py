"""Whether bindings are tried out depends on who looks at them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.errors import Throttled
from fourleaf.k8s_bridge.cluster.kinds import (
    MUTATING_POLICIES,
    VALIDATING_POLICIES,
    VALIDATING_WEBHOOKS,
)
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.dry_run import (
    DryRun,
    Unanswered,
    admission_covers_bindings,
)
from fourleaf.k8s_bridge.ledger.records import Member
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


async def test_who_looks_is_asked_once_for_all_that_are_tried() -> None:
    """A hundred gangs at the same time: webhooks are listed once."""
    clock, listed = VirtualClock(), list[str]()

    class Counting:
        async def before(self, request: ApiRequest) -> None:
            """Take a while."""
            listed.append(request.kind.plural)
            await clock.sleep(1)

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    dry_run = DryRun(MemoryCluster(clock=clock).client("a", Counting()), clock, auto=True)
    tried = [asyncio.ensure_future(dry_run.refusal(())) for _ in range(100)]
    await clock.advance(10)
    assert [one.result() for one in tried] == [""] * 100
    assert listed.count(VALIDATING_WEBHOOKS.plural) == 1


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
    never.rolled_back("ml")
    assert [auto.needed, never.needed] == [True, False]


async def test_what_could_not_be_found_out_is_looked_up_again() -> None:
    """The API has too much to do for one list: bindings are tried out for a minute, not for ever.

    A policy that is gone has none tried out from a minute after it, either.
    """
    clock, refuses = VirtualClock(), [True]

    class Busy:
        async def before(self, request: ApiRequest) -> None:
            """Refuse lists for now."""
            if refuses[0] and request.verb == "list":
                raise Throttled("too many requests", 1.0)

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    cluster = MemoryCluster(clock=clock)
    dry_run = DryRun(cluster.client("a", Busy()), clock, auto=True)
    await dry_run.refusal(())
    assert dry_run.needed
    refuses[0] = False
    await clock.advance(60)
    await dry_run.refusal(())
    assert not dry_run.needed


@pytest.mark.parametrize("is_first", [False, True], ids=["a later one", "the first"])
async def test_a_list_of_webhooks_that_hangs_keeps_no_gang(is_first: bool) -> None:
    """What was known a minute ago counts until the answer comes, which is asked for once.

    Where nothing is known yet, the bindings are tried out.
    """
    clock, hangs, listed = VirtualClock(), asyncio.Event(), list[str]()
    hangs.set()

    class Hanging:
        async def before(self, request: ApiRequest) -> None:
            """Wait, where it hangs."""
            listed.append(request.kind.plural)
            await hangs.wait()

        async def after(self, request: ApiRequest, answer: Any) -> None:
            """Answers pass."""

    dry_run = DryRun(MemoryCluster(clock=clock).client("a", Hanging()), clock, auto=True)
    if not is_first:
        assert await dry_run.refusal(()) == ""
        await clock.advance(60)
    hangs.clear()
    listed.clear()
    for _ in range(3):
        tried = asyncio.ensure_future(dry_run.refusal(()))
        await clock.advance(1)
        assert tried.done()
    assert listed == [VALIDATING_WEBHOOKS.plural]
    assert dry_run.needed is is_first
    hangs.set()
    await clock.advance(1)
    assert not dry_run.needed


class Busy:
    """An API that is too busy for dry runs of bindings; it counts them, and lists of policies."""

    bindings = lists = 0

    async def before(self, request: ApiRequest) -> None:
        """Count it, and do no dry run."""
        self.lists += request.verb == "list" and request.kind is VALIDATING_POLICIES
        if request.subresource == "binding":
            self.bindings += 1
            raise Throttled("too many requests", 429)

    async def after(self, request: ApiRequest, answer: Any) -> None:
        """Answers pass."""


async def test_a_dry_run_that_is_not_answered_is_sent_eight_times() -> None:
    """The gang is told that there is no answer then; others have waited for it long enough."""
    clock, api = VirtualClock(), Busy()
    cluster = MemoryCluster(clock=clock).client("a", api)
    members = [Member(Target("ml", "g-0", "uid"), "n1")]
    asking = asyncio.ensure_future(DryRun(cluster, clock, needed=True).refusal(members))
    await clock.advance(60)
    assert asking.done()
    with pytest.raises(Unanswered):
        await asking
    assert api.bindings == 8


async def test_policies_are_looked_up_once_a_minute() -> None:
    """Each gang would have four lists made otherwise."""
    clock, api = VirtualClock(), Busy()
    auto = DryRun(MemoryCluster(clock=clock).client("a", api), clock, auto=True)
    for _ in range(60):
        await auto.refusal(())
        await clock.advance(1)
    assert api.lists == 1
    await auto.refusal(())
    assert api.lists == 2


async def test_a_commit_that_went_back_has_its_namespace_asked_about_for_ten_minutes() -> None:
    """Any tenant can make one go back: gangs of no other namespace take longer for that."""
    clock = VirtualClock()
    cluster = MemoryCluster(clock=clock)
    auto, never = DryRun(cluster, clock, auto=True), DryRun(cluster, clock)
    for one in (auto, never):
        await one.refusal(())
        one.rolled_back("ml")
    assert [auto.is_due("ml"), auto.is_due("others"), never.is_due("ml")] == [True, False, False]
    for seconds, is_due in ((540, True), (59, True), (2, False)):
        await clock.advance(seconds)
        await auto.refusal(())
        assert auto.is_due("ml") is is_due, seconds
