"""Thousands of pods that mind each other: one answer for all that are alike, and an end to it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fourleaf.model.readers.gangs import kept_apart, mind_others
from fourleaf.model.readers.live import LiveReader
from fourleaf.model.readers.pods.constraint_text import MOST_CONSTRAINT_BYTES
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import only
from tests.model.readers.gangs.test_wishes import usable
from tests.model.readers.made import Body, node, pod, reading

NODES = [node(name) for name in "abcd"]
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
LIMIT = "MOST_COMPARISONS"
KIND = "KIND_COMPARISONS"
TERM = "TERM_COMPARISONS"
SPREAD = "SPREAD_COMPARISONS"
NEW_TERM = "NEW_TERM_COMPARISONS"


@pytest.fixture(autouse=True)
def _terms_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons of terms alone are counted, but where a test says otherwise."""
    monkeypatch.setattr(mind_others, KIND, 0)
    monkeypatch.setattr(mind_others, TERM, 0)
    monkeypatch.setattr(mind_others, SPREAD, 0)
    monkeypatch.setattr(kept_apart, NEW_TERM, 0)


def repelling(name: str, app: str, selector: Body, **fields: Any) -> Body:
    """Make a pod of `app` that stands on no node with a pod that `selector` picks."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": selector}
    affinity = {"podAntiAffinity": {REQUIRED: [term]}}
    return pod(name, 0, labels={"app": app, app: "x"}, affinity=affinity, **fields)


def replica(name: str, **fields: Any) -> Body:
    """Make one of many of which no two share a node."""
    return repelling(name, "web", {"matchLabels": {"app": "web"}}, **fields)


def odd(number: int, **fields: Any) -> Body:
    """Make a pod that repels all but those of some apps, which all are of: each another term."""
    values = [*(f"odd-{i}" for i in range(60)), f"none-{number}"]
    selector = {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": values}]}
    return repelling(f"odd-{number}", f"odd-{number}", selector, **fields)


def held(*bodies: Body) -> dict[str, ReasonKind]:
    """Gang -> why it is held, of those that are."""
    gangs = reading(*NODES, *bodies).snapshot.gangs
    return {gang.key.name: ReasonKind(gang.hold.kind) for gang in gangs if gang.hold is not None}


def test_replicas_are_compared_once_and_not_each_with_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside 200 that run, 200 wait for the first of them; 500 comparisons are enough, not 40,000.

    What they may use is what is left of four nodes by those that run on two of them.
    """
    monkeypatch.setattr(mind_others, LIMIT, 500)
    run = [replica(f"r-{i}", nodeName="ab"[i % 2], phase="Running") for i in range(200)]
    found = held(*run, *[replica(f"w-{i}") for i in range(200)])
    assert set(found.values()) == {ReasonKind.WAITS_FOR_GANG}
    assert len(found) == 199
    assert usable(*NODES, *run, replica("w-0")) == ["c", "d"]


def test_what_is_done_to_those_alike_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another pod comes to run on `c`: one replica goes ahead, and 199 wait for it as they did.

    Where they may go is worked out for one of them, and said to all; the reading after that, in
    which nothing of it is new, changes no gang at all.
    """
    live = LiveReader()
    for body in (*NODES, replica("r", nodeName="a", phase="Running")):
        live.put("", body["kind"], body)
    for i in range(200):
        live.put("", "Pod", replica(f"w-{i:03}"))
    live.reading(0.0)
    asked: Counter[str] = Counter()

    def count(said: str) -> None:
        was = getattr(mind_others, said)
        monkeypatch.setattr(mind_others, said, lambda *given: asked.update([said]) or was(*given))

    count("_change")
    count("_in_the_way")
    live.put("", "Pod", replica("s", nodeName="c", phase="Running"))
    before = live.reading(0.0).snapshot
    assert asked == {"_change": 200, "_in_the_way": 2}
    live.put("", "Pod", pod("t", nodeName="d", phase="Running"))
    after = live.reading(0.0).snapshot
    assert asked == {"_change": 200, "_in_the_way": 4}
    assert all(one is other for one, other in zip(before.gangs, after.gangs, strict=True))
    selects = after.gangs[0].roles[0].constraint.selects
    assert [name for name, one in after.fabric.nodes.items() if selects(one)] == ["b", "d"]


def test_who_causes_too_many_comparisons_is_held_and_no_one_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of sixty pods with terms of their own, those beyond the budget wait; another tenant's not."""
    monkeypatch.setattr(mind_others, LIMIT, 500)
    found = held(*[odd(i) for i in range(60)], odd(0, namespace="team"))
    assert set(found.values()) == {ReasonKind.NAMESPACE_LIMIT}
    assert 0 < len(found) < 60
    assert "odd-0" not in found


def of_own_key(number: int, keys: int = 1000, **fields: Any) -> Body:
    """Make a pod that stands on no node with one that has the same label key."""
    key = f"z-{number % keys}"
    there = {"matchExpressions": [{"key": key, "operator": "Exists"}]}
    one = repelling(f"k-{number}", f"k-{number}", there, **fields)
    one["metadata"]["labels"][key] = "x"
    return one


def test_who_has_pods_looked_through_for_one_key_after_the_other_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Pods ahead are indexed by 16 keys at once: each of sixty has them indexed by another one.

    The seventeenth is the first that has all ahead of it looked through anew, 16 pods; those after
    it 17, 18 and so on. 16 + 17 + ... + 36 is the first sum over 500: 37 are looked at, 23 held.
    Sixty that share 16 keys cause none of that.
    """
    monkeypatch.setattr(mind_others, LIMIT, 500)
    found = held(*[of_own_key(i) for i in range(60)], of_own_key(0, namespace="team"))
    assert set(found.values()) == {ReasonKind.NAMESPACE_LIMIT}
    assert len(found) == 23
    shared = held(*[of_own_key(i, keys=16) for i in range(60)])
    assert ReasonKind.NAMESPACE_LIMIT not in shared.values()


def test_who_has_too_many_pods_looked_at_that_are_like_no_others_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A look costs 100: of sixty that differ, 1000 allow eleven. All that are alike cost one."""
    monkeypatch.setattr(mind_others, KIND, 100)
    monkeypatch.setattr(mind_others, LIMIT, 1000)
    found = held(*[of_own_key(i, keys=16) for i in range(60)], of_own_key(0, namespace="team"))
    limited = {name for name, kind in found.items() if kind is ReasonKind.NAMESPACE_LIMIT}
    assert len(limited) == 49
    alike = held(*[replica(f"w-{i}") for i in range(60)])
    assert ReasonKind.NAMESPACE_LIMIT not in alike.values()


def test_each_term_of_a_pod_that_is_like_no_other_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At 25 for a new term, 1000 allow 40: of sixty pods with two of their own, 20 and the next.

    The reading after that, in which nothing of them is new, changes none of those that are held.
    """
    monkeypatch.setattr(kept_apart, NEW_TERM, 25)
    monkeypatch.setattr(mind_others, LIMIT, 1000)

    def of_two_terms(number: int) -> Body:
        terms = [
            {
                "topologyKey": "kubernetes.io/hostname",
                "labelSelector": {"matchLabels": {"app": f"gone-{number}-{one}"}},
            }
            for one in range(2)
        ]
        return pod(f"p-{number:02}", 0, affinity={"podAntiAffinity": {REQUIRED: terms}})

    live = LiveReader()
    for body in (*NODES, *map(of_two_terms, range(60))):
        live.put("", body["kind"], body)
    before = live.reading(0.0).snapshot.gangs
    limited = [gang for gang in before if gang.hold is not None]
    assert {gang.hold.kind for gang in limited if gang.hold} == {ReasonKind.NAMESPACE_LIMIT}
    assert len(limited) == 39
    live.put("", "Pod", pod("other", nodeName="d", phase="Running"))
    after = live.reading(0.0).snapshot.gangs
    assert all(one is other for one, other in zip(before, after, strict=True))


def test_each_term_of_a_pod_counts_though_others_have_it_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At 10 for a term, 100 allow ten pods of one term that differ in a label, and the next one."""
    monkeypatch.setattr(mind_others, TERM, 10)
    monkeypatch.setattr(mind_others, LIMIT, 100)
    bodies = [repelling(f"p-{n:02}", f"app-{n}", {"matchLabels": {"no": "one"}}) for n in range(30)]
    limited = [name for name, kind in held(*bodies).items() if kind is ReasonKind.NAMESPACE_LIMIT]
    assert len(limited) == 19


def test_who_is_held_anyway_has_no_terms_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gang that lacks a member costs nothing: beside sixty of a term each, none is limited."""
    monkeypatch.setattr(kept_apart, NEW_TERM, 25)
    monkeypatch.setattr(mind_others, LIMIT, 100)
    short = []
    for number in range(60):
        one = repelling(f"s-{number}", "w", {"matchLabels": {"app": f"gone-{number}"}})
        name = f"short-{number}"
        one["metadata"]["annotations"] = in_gang(0, 2)["metadata"]["annotations"]
        one["metadata"]["annotations"]["topology.scheduler/gang"] = name
        short.append(one)
    assert set(held(*short).values()) == {ReasonKind.MEMBERS_MISSING}
    assert len(held(*short)) == 60
    # In the order of names, it is looked at last.
    assert "that-may" not in held(*short, repelling("that-may", "w", {"matchLabels": {"app": "x"}}))


def spread(number: int, **fields: Any) -> Body:
    """Make a pod that is spread over nodes of its own."""
    selector = {"matchLabels": {"app": f"s-{number}"}}
    one = {"maxSkew": 1, "topologyKey": "zone", "labelSelector": selector}
    return pod(f"s-{number}", 0, topologySpreadConstraints=[one], **fields)


def test_who_has_nodes_looked_at_too_often_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of sixty is spread over other nodes: half a comparison of each of four, and a condition.

    Sixty that differ in what they count on the same nodes cost no more than one of them.
    """
    monkeypatch.setattr(mind_others, LIMIT, 120)
    found = held(
        *[spread(i, nodeSelector={f"k-{i}": ""}) for i in range(60)],
        spread(0, namespace="team"),
    )
    limited = {name for name, kind in found.items() if kind is ReasonKind.NAMESPACE_LIMIT}
    assert 10 < len(limited) < 30
    assert "s-0" not in limited
    assert ReasonKind.NAMESPACE_LIMIT not in held(*[spread(i) for i in range(60)]).values()


def repels_others(number: int, terms: int = 20, **fields: Any) -> Body:
    """Make a pod with terms that pick no pod of any other namespace, but for all that is known."""
    keys = [f"k-{number}-{i}" for i in range(terms)]
    away = {"key": "app", "operator": "NotIn", "values": ["honest"]}
    listed = [
        {
            "topologyKey": "kubernetes.io/hostname",
            "namespaceSelector": {},
            "labelSelector": {"matchExpressions": [away, {"key": key, "operator": "DoesNotExist"}]},
        }
        for key in keys
    ]
    affinity = {"podAntiAffinity": {REQUIRED: listed}}
    return pod(f"r-{number}", 0, namespace="evil", affinity=affinity, **fields)


@pytest.mark.parametrize("state", ["runs", "waits"])
def test_terms_of_others_are_none_of_a_namespaces_comparisons(
    monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    """Pods of another tenant have 200 terms about ours, of which each is compared with thirty."""
    monkeypatch.setattr(mind_others, LIMIT, 1000)
    runs = {"nodeName": "a", "phase": "Running"} if state == "runs" else {}
    evil = [repels_others(number, **runs) for number in range(10)]
    honest = [pod(f"h-{i}", 0, labels={"app": "honest", f"own-{i}": ""}) for i in range(30)]
    found = held(*evil, *honest)
    assert not [name for name in found if name.startswith("h-")]
    assert bool(found) is (state == "waits")


def test_a_term_about_a_label_is_compared_with_those_that_have_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Jobs that take a domain each: forty of them beside a hundred pods that are of no Job."""
    monkeypatch.setattr(mind_others, LIMIT, 1000)
    others = [pod(f"o-{i}", 0, namespace="team", nodeName="a", phase="Running") for i in range(100)]
    jobs = []
    for number in range(40):
        own = {"key": "job-key", "operator": "NotIn", "values": [f"{number}"]}
        selector = {"matchExpressions": [{"key": "job-key", "operator": "Exists"}, own]}
        term = {"topologyKey": "zone", "labelSelector": selector, "namespaceSelector": {}}
        affinity = {"podAntiAffinity": {REQUIRED: [term]}}
        jobs.append(pod(f"j-{number}", 0, labels={"job-key": f"{number}"}, affinity=affinity))
    assert set(held(*others, *jobs).values()) <= {ReasonKind.WAITS_FOR_GANG}


def test_a_bound_member_takes_no_node_from_its_own_gang() -> None:
    """Two members repel each other in name only by pods of others; the bound one counts not."""
    gang = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}
    one = replica("g-0", nodeName="a", phase="Running", annotations=gang)
    other = replica("x", nodeName="b", phase="Running")
    assert "b" not in usable(*NODES, one, other, replica("g-1", annotations=gang))


def test_constraints_that_are_too_long_are_held() -> None:
    """Where a pod spends more than 64 KiB on where it may go, it waits and is told so."""
    wanted = {"key": "zone", "operator": "In", "values": ["z" * MOST_CONSTRAINT_BYTES]}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [wanted]}]}
    hold = only(*NODES, pod(affinity={"nodeAffinity": {REQUIRED: terms}})).hold
    assert hold is not None
    assert hold.kind is ReasonKind.UNSUPPORTED
    assert "more than 64 KiB" in hold.detail
    assert hold.unblock == ("Ask for fewer of them.",)


@pytest.mark.parametrize(
    "spec",
    [
        {"tolerations": [{"key": f"k{n}", "operator": "Exists"} for n in range(101)]},
        {"nodeSelector": {f"k{n}": "x" for n in range(101)}},
        {
            "affinity": {
                "nodeAffinity": {
                    REQUIRED: {
                        "nodeSelectorTerms": [
                            {"matchExpressions": [{"key": f"k{n}", "operator": "Exists"}]}
                            for n in range(101)
                        ]
                    }
                }
            }
        },
    ],
    ids=["tolerations", "selector", "terms"],
)
def test_conditions_beyond_a_hundred_are_held(spec: dict[str, Any]) -> None:
    """Each is held against every node in every cycle: 101 of them in 10 KiB are too many."""
    hold = only(*NODES, pod(**spec)).hold
    assert hold is not None
    assert hold.kind is ReasonKind.UNSUPPORTED
    assert "more than 100 conditions on nodes and tolerations" in hold.detail
    assert hold.unblock == ("Ask for fewer of them.",)


def in_gang(number: int, size: int, **fields: Any) -> Body:
    """Make a member of gang "g"."""
    said = "topology.scheduler/"
    return pod(
        f"g-{number}", 0, annotations={f"{said}gang": "g", f"{said}gang-size": str(size)}, **fields
    )


@pytest.mark.parametrize("each", [79, 80, 81])
def test_a_gang_of_more_than_four_hundred_conditions_is_held(each: int) -> None:
    """Of five members with tolerations of their own, 400 in all do and 405 do not."""
    members = [
        in_gang(n, 5, tolerations=[{"key": f"k{n}-{i}", "operator": "Exists"} for i in range(each)])
        for n in range(5)
    ]
    hold = only(*NODES, *members).hold
    assert (hold is not None) == (each > 80)
    if hold is not None:
        assert hold.kind is ReasonKind.UNSUPPORTED
        assert "405 different conditions" in hold.detail
        assert "above the 400 of one gang" in hold.detail


def test_members_that_ask_for_the_same_ask_once() -> None:
    """Ten members of one set of 100 tolerations have 100 conditions, of which 400 would do."""
    same = [{"key": f"k{i}", "operator": "Exists"} for i in range(100)]
    assert only(*NODES, *[in_gang(n, 10, tolerations=same) for n in range(10)]).hold is None


def test_a_gang_of_too_many_terms_about_others_is_held() -> None:
    """300 members of one term have 300 comparisons; with a term each they would have 90,000."""

    def gang(term: str) -> list[Body]:
        found = []
        for n in range(300):
            apart = repelling("", "w", {"matchLabels": {"app": term.format(n)}})
            found.append(in_gang(n, 300, affinity=apart["spec"]["affinity"]))
        return found

    assert only(*NODES, *gang("other")).hold is None
    hold = only(*NODES, *gang("other-{}")).hold
    assert hold is not None
    assert hold.kind is ReasonKind.UNSUPPORTED
    assert "300 different terms of anti-affinity among 300 members" in hold.detail
    assert hold.unblock == ("Let members have the same terms.",)
