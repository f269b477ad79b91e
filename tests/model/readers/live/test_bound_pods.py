"""Pods that other schedulers bind, of any shape: read by slices, and not again for a label."""

from __future__ import annotations

import copy
from collections import Counter
from typing import Any

import pytest

from fourleaf.model.readers.live import LiveReader, pod_cache
from fourleaf.model.readers.live.read_allowance import CLAIMS_A_POD
from fourleaf.model.readers.objects import amounts
from fourleaf.model.readers.pods import pods
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from tests.model.readers.live.test_live import NOW, reader, tell
from tests.model.readers.made import Body, node, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
HOST = "kubernetes.io/hostname"


def bound(name: str, **fields: Any) -> Body:
    """Make a pod of one GPU of another namespace that has been bound to node `n1`."""
    return pod(name, 1, namespace="other", nodeName="n1", phase="Running", **fields)


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Let ten pods be read at once; count those that are, by name."""
    monkeypatch.setattr("fourleaf.model.readers.live.reader.MOST_PODS_AT_ONCE", 10)
    how, counts = pod_cache.read_pod, Counter[str]()
    monkeypatch.setattr(
        pod_cache, "read_pod", lambda *given: counts.update([given[1]]) or how(*given)
    )
    return counts


def test_bound_pods_are_taken_in_by_slices(read: Counter[str]) -> None:
    """Of thirty that stand when a replica starts, ten are read before others have their turn."""
    live = reader(node(), *(bound(f"b{n:02}") for n in range(30)))
    sizes = []
    for more in (True, True, False):
        assert live.take_in(NOW) == more
        assert bool(live.bound_left) == live.is_behind_in("other") == more
        sizes.append(len(read))
    assert sizes == [10, 20, 30]


def test_pods_of_many_claims_take_more_slices(read: Counter[str]) -> None:
    """Of bound pods of twenty volumes each two are read at once, as they are looked up."""
    volumes = [
        {"name": f"v{n}", "persistentVolumeClaim": {"claimName": f"c{n}"}}
        for n in range(5 * CLAIMS_A_POD)
    ]
    live = reader(node(), *(bound(f"b{n}", volumes=volumes) for n in range(6)))
    assert live.take_in(NOW)
    assert len(read) == 2


def test_long_annotations_take_more_turns(read: Counter[str]) -> None:
    """Of bound pods that each have 2,500 letters of annotations, two are read at once."""
    said = {DEVICE_MAP: "0=n1:0," * 360}
    live = reader(node(), *(bound(f"b{n}", annotations=said) for n in range(6)))
    assert live.take_in(NOW)
    assert len(read) == 2


def test_annotations_that_are_not_read_take_no_more_turns(read: Counter[str]) -> None:
    """What other products have written into pods costs nothing, however long it is."""
    said = {"example.com/config": "x" * 50_000}
    live = reader(node(), *(bound(f"b{n}", annotations=said) for n in range(6)))
    assert not live.take_in(NOW)
    assert len(read) == 6


def test_a_spec_that_is_kept_takes_no_more_turns(read: Counter[str]) -> None:
    """Of bound pods that cost five each two are read at once; six once only labels change."""
    many = [{"key": f"k{n}", "operator": "Exists"} for n in range(240)]
    some = [bound(f"b{n}", tolerations=many) for n in range(6)]
    live = reader(node(), *some)
    live.reading(NOW)
    read.clear()
    for one in some:
        tell(live, edited(one, turn="1"))
    tell(live, edited(some[0], turn="2"))
    live.take_in(NOW)
    assert not live.bound_left
    assert {name for name, count in read.items() if count} == {f"b{n}" for n in range(6)}
    # What was not kept costs what it did: another spec, or other amounts that containers hold.
    other = copy.deepcopy(some)
    for n, one in enumerate(other):
        held = {"name": "c", "resources": {"requests": {"cpu": f"{n + 1}"}}}
        one["status"]["containerStatuses"] = [held]
        tell(live, one)
    live.take_in(NOW)
    assert live.bound_left


def test_who_was_left_comes_before_who_changes_later(read: Counter[str]) -> None:
    """A tenant whose pods come first by name, and change all the time, keeps no other waiting."""
    live = reader(node(), *(bound(f"b{n:02}") for n in range(25)))
    assert live.take_in(NOW)
    last = live.bound_left.stop - 1
    for turn in range(2):
        for n in range(10):
            tell(live, edited(bound(f"b{n:02}"), turn=str(turn)))
        live.take_in(NOW)
    assert not (live.bound_left and live.bound_left.start <= last)
    assert live.bound_left


def test_a_reading_leaves_no_bound_pod(read: Counter[str]) -> None:
    """A plan made before all slices are read has the room of all bound pods taken."""
    live = reader(node(gpus=64), *(bound(f"b{n:02}") for n in range(30)))
    assert live.take_in(NOW)
    assert live.reading(NOW, 10).snapshot.used["n1"].gpus == 30
    assert not live.bound_left


def test_a_bound_pod_that_is_gone_before_it_is_read_is_left_no_more(read: Counter[str]) -> None:
    """Nothing is short of pods that have been deleted between two slices."""
    live = reader(node(), *(bound(f"b{n:02}") for n in range(12)))
    assert live.take_in(NOW)
    for name in ("b10", "b11"):
        live.remove("", "Pod", "other", name)
    assert not live.bound_left
    assert not live.take_in(NOW)


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count how often amounts and wants of pods are decoded."""
    counts = Counter[str]()
    wants, sums = pods.read_wants, amounts.pod_amounts
    monkeypatch.setattr(
        pods, "read_wants", lambda *given: counts.update(["wants"]) or wants(*given)
    )
    monkeypatch.setattr(
        amounts, "pod_amounts", lambda *given: counts.update(["amounts"]) or sums(*given)
    )
    return counts


def term(**selector: Any) -> Body:
    """Make a term about pods that `selector` picks, on the same node."""
    return {"topologyKey": HOST, "namespaceSelector": {}, "labelSelector": selector}


def repelling(*terms: Body) -> Body:
    """Make an affinity that keeps the pods of these terms away."""
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def edited(body: Body, **labels: str) -> Body:
    """The same pod, of which these labels are others."""
    new = copy.deepcopy(body)
    new["metadata"]["labels"] = {**new["metadata"].get("labels", {}), **labels}
    return new


def both(live: LiveReader, *bodies: Body) -> None:
    """Be sure that what is held is what is held where all is read at once."""
    found, plain = live.reading(NOW), reader(*bodies).reading(NOW)
    assert found.snapshot.used == plain.snapshot.used
    assert found.snapshot.gangs == plain.snapshot.gangs
    assert found.problems == plain.problems


def test_a_label_has_no_spec_read_again(decoded: Counter[str]) -> None:
    """Tenants edit labels at will: what a bound pod asks for, and repels, is kept as it was."""
    there = bound("b", affinity=repelling(term(matchLabels={"app": "w"})))
    there["spec"]["initContainers"] = [{"name": "i"}]
    waits = pod("w", 1, labels={"app": "w"})
    live = reader(node(), node("n2"), there, waits)
    live.reading(NOW)
    assert decoded["amounts"]
    decoded.clear()
    for turn in range(3):
        tell(live, new := edited(there, turn=str(turn)))
        live.reading(NOW)
    assert not decoded
    both(live, node(), node("n2"), new, waits)


@pytest.mark.parametrize("key", ["matchLabelKeys", "mismatchLabelKeys"])
def test_terms_that_go_by_own_labels_are_read_again(key: str) -> None:
    """A bound pod that is labelled anew repels those of its new label."""
    other = term(matchLabels={"app": "w"}) | {key: ["version"]}
    there = bound("b", labels={"version": "1"}, affinity=repelling(other))
    waits = [pod(f"w{n}", 1, labels={"app": "w", "version": str(n)}) for n in (1, 2)]
    live = reader(node(), node("n2"), there, *waits)
    live.reading(NOW)
    tell(live, new := edited(there, version="2"))
    both(live, node(), node("n2"), new, *waits)


def test_what_containers_hold_is_read_again(decoded: Counter[str]) -> None:
    """A resize in place that the kubelet has not undone counts, though no spec has changed."""
    there = bound("b")
    there["spec"]["containers"][0]["resources"]["requests"] = {"cpu": "1"}
    live = reader(node(), there)
    live.reading(NOW)
    new = copy.deepcopy(there)
    held = {"name": there["spec"]["containers"][0]["name"], "resources": {"requests": {"cpu": "7"}}}
    new["status"]["containerStatuses"] = [held]
    tell(live, new)
    assert live.reading(NOW).snapshot.used["n1"].cpu == 7000
    both(live, node(), new)


def test_what_is_wrong_with_a_spec_is_told_after_each_edit() -> None:
    """A bound pod with an amount that is none is a problem also once its labels change."""
    there = bound("b")
    there["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "much"
    live = reader(node(), there)
    assert live.reading(NOW).problems
    for turn in range(2):
        tell(live, new := edited(there, turn=str(turn)))
        both(live, node(), new)
