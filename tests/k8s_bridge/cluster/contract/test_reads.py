"""Lists and gets."""

from __future__ import annotations

import pytest

from fourleaf.k8s_bridge.cluster.errors import NotFound, Refused
from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, EVENTS, NAMESPACES, NODES, PODS, Kind
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.reporting.recorder.event_series import event_body
from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from tests.k8s_bridge.cluster.contract.bench import Bench, make_pod, target, version_of


async def _labelled(bench: Bench) -> None:
    for name, labels in (
        ("a", {"app": "x", "tier": "1"}),
        ("b", {"app": "x"}),
        ("c", {"app": "y", "tier": "2"}),
        ("d", {}),
    ):
        body = {"metadata": {"name": name, "labels": labels}}
        await bench.cluster.create(CONFIG_MAPS, bench.namespace, body)


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("", "abcd"),
        ("app=x", "ab"),
        ("app==y", "c"),
        ("app in (x, y)", "abc"),
        ("app notin (x)", "cd"),
        ("tier", "ac"),
        ("!tier", "bd"),
        ("app=x,tier", "a"),
        ("app!=x", "cd"),
        ("app in (x),!tier", "b"),
    ],
)
async def test_selectors(bench: Bench, selector: str, names: str) -> None:
    """A list holds exactly the objects whose labels the selector takes."""
    await _labelled(bench)
    listing = await bench.cluster.list(CONFIG_MAPS, bench.namespace, selector)
    found = {item["metadata"]["name"] for item in listing.items}
    assert found - {"kube-root-ca.crt"} == set(names)


async def test_bad_selector(bench: Bench) -> None:
    """A selector that is none is refused."""
    with pytest.raises(Refused) as caught:
        await bench.cluster.list(CONFIG_MAPS, bench.namespace, "a b c")
    assert caught.value.status == 400


async def test_list_is_of_one_namespace(bench: Bench) -> None:
    """A list of a namespace leaves others out; one without a namespace has both."""
    other = f"{bench.namespace}-2"
    await bench.cluster.create(NAMESPACES, "", {"metadata": {"name": other}})
    for namespace in (bench.namespace, other):
        await bench.cluster.create(CONFIG_MAPS, namespace, {"metadata": {"name": "m"}})
    one = await bench.cluster.list(CONFIG_MAPS, other)
    found = {i["metadata"]["namespace"] for i in one.items}
    assert found == {other}
    every = await bench.cluster.list(CONFIG_MAPS)
    assert {bench.namespace, other} <= {i["metadata"]["namespace"] for i in every.items}


async def test_list_is_as_new_as_the_newest_write(bench: Bench) -> None:
    """What was created is in the next list, whose version is at least the object's."""
    made = await make_pod(bench)
    listing = await bench.cluster.list(PODS, bench.namespace)
    assert [version_of(item) for item in listing.items] == [version_of(made)]
    assert int(listing.version) >= int(version_of(made))


async def test_cached_list(bench: Bench) -> None:
    """A list that may be old is a whole list with a version all the same."""
    listing = await bench.cluster.list(NAMESPACES, cached=True)
    assert "default" in {item["metadata"]["name"] for item in listing.items}
    assert int(listing.version) > 0


async def test_listed_objects_are_lean(bench: Bench) -> None:
    """Objects in lists carry neither their kind nor what their managers did."""
    made = await make_pod(bench)
    (item,) = (await bench.cluster.list(PODS, bench.namespace)).items
    assert "apiVersion" not in item
    assert "kind" not in item
    assert "managedFields" not in item["metadata"]
    assert item["metadata"]["uid"] == made["metadata"]["uid"]
    assert item["spec"]["schedulerName"] == "topology-aware-scheduler"


async def test_get(bench: Bench) -> None:
    """A get tells what the object is, whatever UID and version are asked for."""
    made = await make_pod(bench)
    wrong = Target(bench.namespace, "p", uid="other", version="1")
    for asked in (target(made), wrong):
        found = await bench.cluster.get(PODS, asked)
        assert found["metadata"]["uid"] == made["metadata"]["uid"]
    assert (found["apiVersion"], found["kind"]) == ("v1", "Pod")


async def test_absent(bench: Bench) -> None:
    """What does not exist is not found."""
    with pytest.raises(NotFound):
        await bench.cluster.get(PODS, Target(bench.namespace, "nobody"))
    with pytest.raises(NotFound):
        await bench.cluster.get(NODES, Target("", "nobody"))


async def test_what_comes_out_is_a_copy(bench: Bench) -> None:
    """Changing an answer changes nothing in the cluster."""
    made = await make_pod(bench)
    made["metadata"]["name"] = made["spec"]["schedulerName"] = "changed"
    found = await bench.cluster.get(PODS, Target(bench.namespace, "p"))
    assert found["metadata"]["name"] == "p"
    assert found["spec"]["schedulerName"] == "topology-aware-scheduler"


async def test_kind_paths() -> None:
    """Paths of core and grouped kinds are those of the API's reference."""
    core = PODS.path("ns", "p", "binding")
    assert core == "/api/v1/namespaces/ns/pods/p/binding"
    grouped = Kind("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
    assert grouped.path("ns") == "/apis/policy/v1/namespaces/ns/poddisruptionbudgets"
    assert NODES.path("", "n1", "status") == "/api/v1/nodes/n1/status"


async def test_lists_by_field(bench: Bench) -> None:
    """Pods of one node are listed alone; a field that nobody can select by is refused."""
    await make_pod(bench, "a", nodeName="n1")
    await make_pod(bench, "b", nodeName="n2")
    await make_pod(bench, "c")
    listing = await bench.cluster.list(PODS, bench.namespace, fields="spec.nodeName=n1")
    assert [item["metadata"]["name"] for item in listing.items] == ["a"]
    listing = await bench.cluster.list(PODS, bench.namespace, fields="spec.nodeName!=n1")
    assert [item["metadata"]["name"] for item in listing.items] == ["b", "c"]
    with pytest.raises(Refused):
        await bench.cluster.list(PODS, bench.namespace, fields="spec.nodeSelector=x")


async def test_events_are_selected_by_their_reason(bench: Bench) -> None:
    """Of two events on one pod."""
    about = Regarding(PODS, bench.namespace, "p", "u")
    for number, reason in enumerate(("NotRepaired", "Evicted")):
        body = event_body(Event(about, reason, "why", "Relocating"), "i", 1e9, number)
        await bench.cluster.create(EVENTS, bench.namespace, body)
    listing = await bench.cluster.list(EVENTS, bench.namespace, fields="reason=NotRepaired")
    assert [one["reason"] for one in listing.items] == ["NotRepaired"]


async def test_pages_of_events_about_one_pod(bench: Bench) -> None:
    """Three about a, two at a time; none about b, nor about a Job of that name."""
    for number, (kind, name) in enumerate([("Pod", "a")] * 3 + [("Pod", "b"), ("Job", "a")]):
        about = {"kind": kind, "namespace": bench.namespace, "name": name, "apiVersion": "v1"}
        body = {
            "metadata": {"name": f"e{number}"},
            "regarding": about,
            "eventTime": "2026-01-01T00:00:00.000000Z",
            "reportingController": "test",
            "reportingInstance": "test",
            "action": "Testing",
            "reason": "Tested",
            "type": "Normal",
        }
        await bench.cluster.create(EVENTS, bench.namespace, body)
    fields = "regarding.kind=Pod,regarding.name=a"
    pages = [
        [item["metadata"]["name"] for item in page]
        async for page in bench.cluster.pages(EVENTS, bench.namespace, 2, fields)
    ]
    assert pages == [["e0", "e1"], ["e2"]]
