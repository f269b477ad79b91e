"""Server-side apply: one manager's fields, made, changed and given up."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import Conflict, NotFound
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, PODS
from fourleaf.k8s_bridge.cluster.protocol import Body, Target
from tests.k8s_bridge.cluster.contract.bench import Bench, make_pod, target, version_of

OTHER = "00000000-0000-4000-8000-000000000000"


async def _apply(bench: Bench, data: dict[str, str], manager: str = "ours") -> Body:
    where = Target(bench.namespace, "settings")
    return await bench.cluster.apply(CONFIG_MAPS, where, {"data": data}, manager)


async def test_what_is_not_there_is_made(bench: Bench) -> None:
    """The first apply makes the object, as others read it."""
    made = await _apply(bench, {"a": "1"})
    found = await bench.cluster.get(CONFIG_MAPS, target(made))
    assert found["data"] == {"a": "1"}
    assert found["metadata"]["uid"] == made["metadata"]["uid"]


async def test_the_same_again_is_no_new_version(bench: Bench) -> None:
    """Who applies what is there already writes nothing."""
    made = await _apply(bench, {"a": "1"})
    again = await _apply(bench, {"a": "1"})
    assert version_of(again) == version_of(made)


async def test_a_field_no_longer_named_goes(bench: Bench) -> None:
    """Of what a manager applied, only what it still names stays; what others wrote stays too."""
    made = await _apply(bench, {"a": "1", "b": "1"})
    await bench.cluster.patch(CONFIG_MAPS, target(made), {"data": {"theirs": "2"}})
    left = await _apply(bench, {"a": "3"})
    assert left["data"] == {"a": "3", "theirs": "2"}


async def test_fields_of_another_manager_are_taken(bench: Bench) -> None:
    """Two managers of one field: the newer apply counts."""
    await _apply(bench, {"a": "1"}, "theirs")
    assert (await _apply(bench, {"a": "2"}))["data"] == {"a": "2"}


async def test_another_uid(bench: Bench) -> None:
    """An apply for another object of the same name conflicts, whether there is one or not."""
    where = Target(bench.namespace, "settings", uid=OTHER)
    with pytest.raises(Conflict):
        await bench.cluster.apply(CONFIG_MAPS, where, {"data": {}}, "ours")
    made = await _apply(bench, {"a": "1"})
    with pytest.raises(Conflict):
        await bench.cluster.apply(CONFIG_MAPS, where, {"data": {"a": "2"}}, "ours")
    found = await bench.cluster.get(CONFIG_MAPS, target(made))
    assert found["data"] == {"a": "1"}


async def test_a_status_of_nothing_is_not_found(bench: Bench) -> None:
    """A subresource makes no object."""
    where = Target(bench.namespace, "nobody")
    with pytest.raises(NotFound):
        await bench.cluster.apply(PODS, where, {"status": {"reason": "x"}}, "ours", "status")


async def test_a_status(bench: Bench) -> None:
    """An apply of the status leaves all else as it was, and gives up what it no longer names."""
    made = await make_pod(bench)
    body = {"status": {"reason": "Why", "message": "because"}}
    await bench.cluster.apply(PODS, target(made), body, "ours", "status")
    body = {"status": {"reason": "Why"}}
    left = await bench.cluster.apply(PODS, target(made), body, "ours", "status")
    assert left["status"]["reason"] == "Why"
    assert "message" not in left["status"]
    assert left["status"]["phase"] == "Pending"
    assert left["spec"] == made["spec"]
