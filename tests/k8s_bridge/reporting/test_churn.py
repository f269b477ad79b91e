"""What pods that come and go all the time have written of those that wait."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.kinds import NODES, PODS
from fourleaf.k8s_bridge.cluster.memory.actors import add_namespace, gang, nodes, pod, submit
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.reporting.after_cycle import AfterCycle, after_cycle
from fourleaf.k8s_bridge.reporting.conditions import member_patches
from fourleaf.k8s_bridge.reporting.conditions.retelling import RETELL_SECONDS
from fourleaf.k8s_bridge.reporting.cycle_facts import Reported
from fourleaf.model.reasons.kinds import NearMiss, Reason
from tests import small
from tests.k8s_bridge.reporting.made import NOW, SHORT, facts, pods_of, statuses
from tests.k8s_bridge.test_scheduler import TEAM, Bench

PAIR = small.gang("g", 2)
OLD = small.gang("old", 1)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """Two leaves of two nodes."""
    bench = Bench()
    for body in nodes(1, 2, 2):
        await bench.cluster.create(NODES, "", body)
    yield bench
    await bench.stop()


async def writes_of(bench: Bench, churn: Sequence[Body], seconds: int) -> int:
    """The conditions written while each of `churn` in turn comes and goes within two seconds."""
    scheduler = await bench.start()
    await bench.clock.advance(60)
    before = scheduler.reporter.recorder.statuses.written
    for turn in range(seconds // 2):
        body = churn[turn % len(churn)]
        await submit(bench.cluster, TEAM, [body])
        await bench.clock.advance(1)
        await bench.cluster.delete(PODS, Target(TEAM, body["metadata"]["name"]))
        await bench.clock.advance(1)
    return scheduler.reporter.recorder.statuses.written - before


async def test_one_member_of_many_comes_and_goes(bench: Bench) -> None:
    """How many of 130 exist changes each second for two minutes: they are told thrice at most."""
    *members, last = gang("wide", 130)
    await submit(bench.cluster, TEAM, members[:120])
    assert await writes_of(bench, [last], 120) < 3 * 120 + 120


async def test_a_pod_comes_and_goes_beside_a_queue(bench: Bench) -> None:
    """A pod of one GPU, here and there, changes which leaf is nearest: no word of it for a minute.

    Twenty gangs need both nodes of a leaf, and on each node seven of eight GPUs are taken.
    """
    await add_namespace(bench.cluster, TEAM)
    taken = ["n-0-0-0", "n-0-0-1", "n-0-1-0", "n-0-1-1"]
    busy = [pod(f"busy-{at}", 7) for at in taken]
    for at, body in zip(taken, busy, strict=True):
        body["spec"]["nodeName"] = at
        await bench.cluster.create(PODS, TEAM, body)
    for number in range(20):
        await submit(bench.cluster, TEAM, gang(f"w-{number}", 2))
    here = [pod("x", 1), pod("x", 1)]
    for at, body in zip(("n-0-0-0", "n-0-1-0"), here, strict=True):
        body["spec"]["nodeSelector"] = {"kubernetes.io/hostname": at}
    assert await writes_of(bench, here, 50) <= 2 * 40


def why(*holders: str, leaf: str = "a") -> Reason:
    """Short of a node, which `holders` hold."""
    ends = f"{holders[0]} ends" if len(holders) == 1 else f"{' and '.join(holders)} end"
    near = (NearMiss(leaf, 1, 2, "nodes", tuple((f"{leaf}0", one) for one in holders)),)
    return replace(SHORT, unblock=(f"it starts when {ends}",), near=near)


def texts(news: AfterCycle) -> list[str]:
    """What pods of `g` are told."""
    told = [one for one in statuses(news.outgoing) if one.target.name.startswith("g-")]
    return [one.status["conditions"][0]["message"] for one in told]


def written(bodies: Sequence[Body], news: AfterCycle) -> list[Body]:
    """The pods once each has the status that is told of it."""
    told = {one.target.name: one.status for one in statuses(news.outgoing)}
    return [{**body, "status": told.get(body["metadata"]["name"], {})} for body in bodies]


@pytest.mark.parametrize(
    "other",
    [
        why("ml/old", leaf="b"),
        why("ml/b"),
        why("ml/b", "ml/c", leaf="b"),
        replace(why("ml/b", leaf="b"), counts=(*SHORT.counts, ("anywhere", 5))),
    ],
    ids=["another leaf", "another holder", "more of them", "more in other spines"],
)
def test_others_in_the_way_are_named_a_minute_later(other: Reason) -> None:
    """The holder that was named has not ended: it is no lie, and stands for a minute."""
    gangs = [PAIR, OLD]
    bodies = [*pods_of(PAIR), *pods_of(OLD)]
    news = after_cycle(Reported(), facts(gangs, bodies, reasons=[why("ml/old")]))
    bodies = written(bodies, news)
    late = facts(gangs, bodies, reasons=[other], now=NOW + RETELL_SECONDS - 1)
    held = after_cycle(news.reported, late)
    assert held.outgoing == ()
    told = texts(after_cycle(held.reported, replace(late, now=NOW + RETELL_SECONDS)))
    assert len(told) == 2
    assert all(("in b" in one) == (other.near[0].leaf == "b") for one in told)


@pytest.mark.parametrize("is_kept", [True, False], ids=["one answer", "an answer each cycle"])
def test_who_was_named_and_has_ended_is_named_no_more(is_kept: bool) -> None:
    """`ml/old` ends after another one was found nearer: both pods are told of that one at once.

    When that one ends within the same minute too, they are told after the minute.
    """
    gangs = [PAIR, OLD, small.gang("new", 1)]
    bodies = [*pods_of(PAIR), *pods_of(OLD)]
    news = after_cycle(Reported(), facts(gangs, bodies, reasons=[why("ml/old")]))
    bodies = written(bodies, news)
    now = facts(gangs, bodies, reasons=[why("ml/new")], now=NOW + 1)
    held = after_cycle(news.reported, now)
    assert held.outgoing == ()
    ended = facts([PAIR, gangs[2]], bodies, reasons=[why("ml/new")], now=NOW + 2)
    if is_kept:
        ended = replace(ended, plan=replace(ended.plan, waiting=now.plan.waiting[:1]))
    told = after_cycle(held.reported, ended)
    assert ["when ml/new ends" in text for text in texts(told)] == [True, True]
    bodies = written(bodies, told)
    last = facts([PAIR], bodies, reasons=[why("ml/last")], now=NOW + 3)
    again = after_cycle(told.reported, last)
    assert texts(again) == []
    later = after_cycle(again.reported, replace(last, now=NOW + 2 + RETELL_SECONDS))
    assert ["when ml/last ends" in text for text in texts(later)] == [True, True]


def test_another_step_is_told_at_once() -> None:
    """People can do something now, where they could only wait: both pods say so a second later."""
    bodies = [*pods_of(PAIR), *pods_of(OLD)]
    news = after_cycle(Reported(), facts([PAIR, OLD], bodies, reasons=[why("ml/old")]))
    other = replace(why("ml/old"), unblock=("uncordon a0",))
    told = after_cycle(news.reported, facts([PAIR, OLD], bodies, reasons=[other], now=NOW + 1))
    assert ["uncordon a0" in text for text in texts(told)] == [True, True]


def test_only_pods_that_changed_are_worked_out_anew() -> None:
    """One of two pods has another version, and one more has come: the patch of the other stays."""
    wide = small.gang("g", 3)
    bodies = pods_of(wide)
    news = after_cycle(Reported(), facts([wide], bodies[:2]))
    newer = {**bodies[0], "metadata": {**bodies[0]["metadata"], "resourceVersion": "8"}}
    again = after_cycle(news.reported, facts([wide], [newer, *bodies[1:]], now=NOW + 1))
    old, new = statuses(news.outgoing), statuses(again.outgoing)
    assert [one.target.version for one in new] == ["8", "7", "7"]
    assert [one is new[1] for one in old] == [False, True]


def test_of_a_wide_gang_some_are_worked_out_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five pods, two at once: all are told in three rounds, and the gang is not done before."""
    monkeypatch.setattr(member_patches, "MOST_PODS_AT_ONCE", 2)
    wide = small.gang("g", 5)
    now = facts([wide], pods_of(wide))
    told, reported = [], Reported()
    for second in range(4):
        news = after_cycle(reported, replace(now, now=NOW + second))
        told.append((len(statuses(news.outgoing)), len(news.reported.untold)))
        reported = news.reported
    assert told == [(2, 1), (4, 1), (5, 0), (5, 0)]
