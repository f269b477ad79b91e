"""The whole scheduler among records of another version: what users and operators would see.

The fabric is one spine of 4 leaves of 4 nodes. The old version is this one, made to know format 1
alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, EVENTS, LEASES, PODS
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from fourleaf.k8s_bridge.ledger.formats.codec import page_body, read_page
from fourleaf.k8s_bridge.ledger.names import FORMAT, PAGES, page_name
from fourleaf.k8s_bridge.relocation.codec import RELOCATIONS, read_relocation, relocation_body
from fourleaf.k8s_bridge.reporting.status import status_document
from fourleaf.model.config.spec import CONFIG_MAP
from tests.k8s_bridge.relocation.bench import TEAM, Bench

SYSTEM = "kube-system"
OLD = (1,)


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    """A scheduler of this version leads."""
    bench = Bench()
    await bench.start()
    await bench.classes(low=1, middle=5, high=10)
    yield bench
    await bench.stop()


async def pages(bench: Bench) -> dict[str, Body]:
    """The pages by name."""
    items = (await bench.cluster.list(LEASES, SYSTEM, PAGES)).items
    return {body["metadata"]["name"]: body for body in items}


async def sealed(bench: Bench, job: str) -> Body:
    """Somebody newer writes the page of a job's leaf in format 2; the page."""
    (leaf,) = set(await bench.leaves(job))
    name = page_name(f"leaf-0-{leaf}", 0)
    page = read_page((await pages(bench))[name])
    body = page_body(replace(page, format=2), "newer")
    return await bench.cluster.replace(LEASES, Target(SYSTEM, name, "", page.version), body)


def version(body: Body) -> str:
    """The resource version of an object: it changes with every write."""
    return str(body["metadata"]["resourceVersion"])


async def condition(bench: Bench, pod: Body) -> str:
    """What a pod's PodScheduled condition says."""
    body = await bench.cluster.get(PODS, Target(TEAM, pod["metadata"]["name"]))
    found = [one for one in body["status"].get("conditions", []) if one["type"] == "PodScheduled"]
    return str(found[0].get("message", "")) if found else ""


async def test_the_old_version_holds_a_sealed_leaf_back_and_says_so(bench: Bench) -> None:
    """Others go elsewhere; a lost member waits and is told why; the next new version binds it."""
    await bench.submit("runs", 4)
    page = await sealed(bench, "runs")
    old = await bench.succeed("old", OLD)
    await bench.submit("others", 12)
    (leaf,) = set(await bench.leaves("runs"))
    assert leaf not in await bench.leaves("others")
    lost = (await bench.pods("runs"))[0]["metadata"]
    await bench.cluster.delete(PODS, Target(TEAM, lost["name"]))
    await bench.clock.advance(30)
    assert len(await bench.places("runs")) == 3
    (waits,) = [pod for pod in await bench.pods("runs") if not pod["spec"].get("nodeName")]
    text = await condition(bench, waits)
    name = page["metadata"]["name"]
    assert f"lease {name} is about it and is written in a format" in text
    assert "To unblock: Run the version of the scheduler that wrote it" in text
    assert version((await pages(bench))[name]) == version(page)
    events = [e for e in (await bench.cluster.list(EVENTS)).items if "Record" in e["reason"]]
    assert [e["regarding"]["name"] for e in events] == [name]
    assert "format '2' is unknown; this version reads 1; 4 nodes and 1 gangs" in events[0]["note"]
    counts = {
        kind: bench.metrics.registry.get_sample_value("fourleaf_ledger_records", {"format": kind})
        for kind in ("1", "2", "unreadable")
    }
    assert counts == {"1": 3, "2": 0, "unreadable": 1}
    said = status_document(old.reporter.status())["ledger"]
    assert (said["writes"], said["formats"]) == (1, {"1": 3})
    assert [one["lease"] for one in said["unreadable"]] == [name]
    await bench.succeed("new")
    assert len(await bench.places("runs")) == 4
    assert FORMAT not in (await pages(bench))[name]["metadata"]["annotations"]


async def test_nobody_is_evicted_who_stands_on_a_sealed_page(bench: Bench) -> None:
    """The lowest gang would be the victim; its page cannot be read, so the next one goes."""
    for name in ("a", "b", "c"):
        await bench.submit(name, 4, priority="middle")
    await bench.submit("d", 4, priority="low")
    await sealed(bench, "d")
    uids = {name: await bench.uids(name) for name in "abcd"}
    await bench.succeed("old", OLD)
    await bench.submit("top", 4, priority="high")
    await bench.clock.advance(30)
    assert len(await bench.places("top")) == 4
    assert await bench.uids("d") == uids["d"]
    gone = [name for name in "abc" if await bench.uids(name) != uids[name]]
    assert len(gone) == 1


async def test_a_gang_on_a_sealed_page_is_not_repaired(bench: Bench) -> None:
    """Its node is dead; the old version leaves it, the new one moves it."""
    await bench.submit("runs", 4)
    places, uids = await bench.places("runs"), await bench.uids("runs")
    await sealed(bench, "runs")
    await bench.succeed("old", OLD)
    bench.lose(places[0])
    await bench.clock.advance(60)
    assert await bench.uids("runs") == uids
    assert not (await bench.cluster.list(LEASES, SYSTEM, RELOCATIONS)).items
    await bench.succeed("new")
    await bench.clock.advance(60)
    assert places[0] not in (await bench.places("runs")).values()
    assert len(await bench.places("runs")) == 4


async def test_a_sealed_relocation_keeps_its_gang_and_its_places(bench: Bench) -> None:
    """A repair is under way when the old version takes over: it neither ends it nor goes on."""
    await bench.submit("runs", 4)
    places = await bench.places("runs")
    bench.kubelets.silent |= set(places.values())
    bench.lose(places[0])
    found: list[Body] = []
    for _ in range(60):
        await bench.clock.advance(0.5)
        found = (await bench.cluster.list(LEASES, SYSTEM, RELOCATIONS)).items
        if found:
            break
    one = read_relocation(found[0])
    target = Target(SYSTEM, found[0]["metadata"]["name"], "", one.version)
    bench.tasks[-1].cancel()
    body = relocation_body(replace(one, format=2), "newer")
    kept = await bench.cluster.replace(LEASES, target, body)
    await bench.succeed("old", OLD)
    await bench.submit("others", 12)
    await bench.clock.advance(30)
    (now,) = (await bench.cluster.list(LEASES, SYSTEM, RELOCATIONS)).items
    assert version(now) == version(kept)
    taken = set((await bench.places("others")).values())
    assert not taken & {seat.node for seat in one.seats}
    await bench.succeed("new")
    await bench.clock.advance(60)
    assert places[0] not in (await bench.places("runs")).values()
    assert len(await bench.places("runs")) == 4


async def test_all_records_follow_the_config(bench: Bench) -> None:
    """The format goes up and down in the config; one leader rewrites every record each time."""
    await bench.submit("runs", 8)
    head = "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\n"
    config = Target(SYSTEM, CONFIG_MAP)
    await bench.cluster.create(CONFIG_MAPS, SYSTEM, {"metadata": {"name": CONFIG_MAP}, "data": {}})
    for number in (2, 1):
        data = {"config.yaml": f"{head}spec: {{ledger: {{format: {number}}}}}"}
        await bench.cluster.patch(CONFIG_MAPS, config, {"data": data})
        await bench.clock.advance(5)
        found = {read_page(body).format for body in (await pages(bench)).values()}
        assert found == {number}
    assert len(await bench.places("runs")) == 8
