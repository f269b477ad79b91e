"""Required affinity to pods and topology spread: the nodes that pods that run leave a gang."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.made import only
from tests.model.readers.gangs.test_wishes import in_zones, repelling, usable
from tests.model.readers.made import Body, node, pod, reading

ZONES = in_zones(a="z1", b="z1", c="z2", d="z3")
GANG = {"topology.scheduler/gang": "g", "topology.scheduler/gang-size": "2"}


def near(name: str, app: str, key: str = "zone", own: str = "a", **fields: Any) -> Body:
    """Make a pod of app `own` that wants a pod of `app` near."""
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    term |= fields.pop("term", {})
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    return pod(name, labels={"app": own}, affinity={"podAffinity": required}, **fields)


def spread(name: str, skew: int = 1, **fields: Any) -> Body:
    """Make a pod of app a whose like are spread over zones."""
    constraint = {
        "maxSkew": skew,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "a"}},
    }
    constraint |= fields.pop("term", {})
    return pod(name, labels={"app": "a"}, topologySpreadConstraints=[constraint], **fields)


def runs(name: str, where: str, app: str = "a", **fields: Any) -> Body:
    """Make a small running pod."""
    return pod(name, 0, labels={"app": app}, nodeName=where, phase="Running", **fields)


def test_a_pod_goes_where_one_that_it_wants_near_runs() -> None:
    """A pod of app cache runs on b in zone z1: a and b are left, of all members of a gang."""
    assert usable(*ZONES, runs("cache", "b", "cache"), near("p", "cache")) == ["a", "b"]
    both = [near(name, "cache", annotations=GANG) for name in "pq"]
    assert usable(*ZONES, runs("cache", "b", "cache"), *both) == ["a", "b"]


def test_a_pod_off_the_fabric_counts_as_near() -> None:
    """The cache runs on a node of zone z2 that has no GPUs, so no node of the fabric is it."""
    off = node("cpu", leaf=None, status={"allocatable": {"cpu": "8", "pods": "10"}})
    off["metadata"]["labels"]["zone"] = "z2"
    assert usable(*ZONES, off, runs("cache", "cpu", "cache"), near("p", "cache")) == ["c"]


def test_a_pod_off_the_fabric_repels_too() -> None:
    """The same for one that it must not be near: zone z2 is taken."""
    off = node("cpu", leaf=None, status={"allocatable": {"cpu": "8", "pods": "10"}})
    off["metadata"]["labels"]["zone"] = "z2"
    there = runs("x", "cpu", "x")
    assert usable(*ZONES, off, there, repelling("p", of="x", key="zone")) == ["a", "b", "d"]


def test_a_pod_waits_for_one_that_it_wants_near() -> None:
    """None runs: the message names the term, and what helps."""
    gang = only(*ZONES, near("p", "cache"))
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.GATED
    assert "no pod runs that spec.affinity.podAffinity" in gang.hold.detail
    assert gang.hold.unblock == ("Start such a pod first, or correct the selector.",)


def test_a_pod_counts_as_near_where_all_terms_pick_it() -> None:
    """One of app cache in z1 and one of tier fast in z2: neither is picked by both terms."""
    terms = [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {key: value}}}
        for key, value in (("app", "cache"), ("tier", "fast"))
    ]
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    one = runs("one", "a", "cache")
    other = pod("other", 0, labels={"tier": "fast"}, nodeName="c", phase="Running")
    assert only(*ZONES, one, other, pod("p", affinity=affinity)).hold is not None
    whole = pod("w", 0, labels={"app": "cache", "tier": "fast"}, nodeName="c", phase="Running")
    assert usable(*ZONES, one, other, whole, pod("p", affinity=affinity)) == ["c"]


def test_the_first_of_its_kind_may_go_anywhere_and_the_second_follows() -> None:
    """Two replicas that want each other near: one is free to go where there is a zone."""
    nodes = [*ZONES, node("e")]
    found = reading(*nodes, near("p-0", "a"), near("p-1", "a"))
    first, second = found.snapshot.gangs
    assert first.hold is None
    every = [one for leaf in found.snapshot.fabric.leaves for one in leaf.nodes]
    constraint = first.roles[0].constraint
    assert [one.name for one in every if constraint.selects(one)] == ["a", "b", "c", "d"]
    assert second.hold is not None
    assert second.hold.kind is ReasonKind.WAITS_FOR_GANG
    assert usable(*nodes, runs("p-0", "c"), near("p-1", "a")) == ["c"]


def test_what_counts_the_first_of_its_kind_waits_for_it() -> None:
    """The first may go anywhere while none of its kind stands; the second is of it, and counts it.

    If they went to two racks of zone z1, whichever is bound second would be refused: z1 has one of
    app a already, or the other rack has none.
    """
    nodes = in_zones(a="z1", b="z1", c="z2")
    for one in nodes:
        one["metadata"]["labels"]["rack"] = one["metadata"]["name"]
    found = reading(*nodes, near("p-0", "a", "rack"), spread("p-1"))
    holds = {one.key.name: one.hold for one in found.snapshot.gangs}
    assert holds["p-0"] is None
    assert holds["p-1"] is not None
    assert holds["p-1"].kind is ReasonKind.WAITS_FOR_GANG


def test_what_counts_a_pod_that_is_not_the_first_does_not_wait() -> None:
    """Where one of the kind runs, the other goes near it wherever the one that counts it goes."""
    first, second = near("p-0", "b"), spread("p-1")
    found = reading(*ZONES, runs("old", "a", "b"), first, second)
    assert [one.hold for one in found.snapshot.gangs] == [None, None]


def test_the_first_gang_of_its_kind_is_refused_by_name() -> None:
    """Which zone all members go to is not known before; with one that runs, it is."""
    both = [near(name, "a", annotations=GANG) for name in "pq"]
    gang = only(*ZONES, *both)
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED
    assert "on one zone, which cannot be honoured" in gang.hold.detail
    assert usable(*ZONES, runs("old", "d"), *both) == ["d"]


@pytest.mark.parametrize(
    ("term", "left"),
    [
        ({}, []),
        ({"namespaces": ["ops"]}, ["c"]),
        ({"namespaceSelector": {}}, ["c"]),
        ({"namespaces": ["ml", "ops"]}, ["c"]),
    ],
)
def test_pods_of_other_namespaces(term: Body, left: list[str]) -> None:
    """The cache runs in namespace ops, where a term has to look for it."""
    cache = runs("cache", "c", "cache", namespace="ops")
    bodies = [*ZONES, cache, near("p", "cache", term=term)]
    if left:
        assert usable(*bodies) == left
    else:
        assert only(*bodies).hold is not None


@pytest.mark.parametrize("term", [{"namespaces": ["ml"]}, {"namespaceSelector": {}}])
def test_a_running_pod_repels_other_namespaces(term: Body) -> None:
    """It runs in ops on c and minds app b of ml in its zone."""
    minds = repelling("r", of="b", key="zone", nodeName="c", namespace="ops")
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    minds["spec"]["affinity"]["podAntiAffinity"][required][0] |= term
    assert usable(*ZONES, minds, pod("p", labels={"app": "b"})) == ["a", "b", "d"]


def test_labels_of_the_pod_stand_for_keys_that_match() -> None:
    """Only pods of its own revision count: of r1 in z1 and r2 in z2, those of r2."""
    terms = {"matchLabelKeys": ["revision"]}
    one = near("p", "cache", term=terms)
    one["metadata"]["labels"]["revision"] = "r2"
    olds = [runs("old", "a", "cache"), runs("new", "c", "cache")]
    olds[0]["metadata"]["labels"]["revision"] = "r1"
    olds[1]["metadata"]["labels"]["revision"] = "r2"
    assert usable(*ZONES, *olds, one) == ["c"]
    one["spec"]["affinity"]["podAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0] = {
        "topologyKey": "zone",
        "labelSelector": {"matchLabels": {"app": "cache"}},
        "mismatchLabelKeys": ["revision"],
    }
    assert usable(*ZONES, *olds, one) == ["a", "b"]


def test_what_a_pod_that_is_labelled_anew_minds_stays() -> None:
    """Pod r on a minds pods of its revision 1, as the API server wrote it; now it is of another."""
    minds = repelling("r", of="b", nodeName="a")
    minds["metadata"]["labels"]["revision"] = "2"
    (term,) = minds["spec"]["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    expressions = [{"key": "revision", "operator": "In", "values": ["1"]}]
    term["matchLabelKeys"] = ["revision"]
    term["labelSelector"]["matchExpressions"] = expressions
    labels = {"app": "b", "revision": "1"}
    assert usable(*ZONES, minds, pod("p", labels=labels)) == ["b", "c", "d"]


@pytest.mark.parametrize(
    ("where", "skew", "term", "left"),
    [
        # By hand: where one more pod is at most `skew` above the emptiest of z1, z2 and z3.
        ("", 1, {}, "abcd"),
        ("a", 1, {}, "cd"),
        ("ac", 1, {}, "d"),
        ("acd", 1, {}, "abcd"),
        ("abc", 1, {}, "d"),
        ("abc", 2, {}, "cd"),
        ("ac", 1, {"minDomains": 3}, "d"),
        ("acd", 1, {"minDomains": 4}, ""),
        ("acd", 2, {"minDomains": 4}, "abcd"),
    ],
)
def test_pods_are_spread(where: str, skew: int, term: Body, left: str) -> None:
    """Pods of app a run where it says, one a node."""
    there = [runs(f"r{i}", name) for i, name in enumerate(where)]
    if left:
        assert usable(*ZONES, *there, spread("p", skew, term=term)) == list(left)
        return
    gang = only(*ZONES, *there, spread("p", skew, term=term))
    assert gang.hold is not None
    assert "spec.topologySpreadConstraints[0] leaves it no zone" in gang.hold.detail


def test_a_label_that_no_node_has_is_named() -> None:
    """Spread over it, or affinity of a pod to its like by it: the label and the field are told."""
    for body in (spread("p"), near("p", "a")):
        gang = only(node("n"), body)
        assert gang.hold is not None
        assert gang.hold.kind is ReasonKind.GATED
        assert "zone" in gang.hold.detail
        assert gang.hold.unblock[0].startswith("Label the nodes with zone")


def test_pods_that_do_not_count_for_a_spread() -> None:
    """Of another namespace, of other labels, that end, and on nodes that are not for the pod."""
    ends = runs("ends", "d")
    ends["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    others = [runs("x", "a", namespace="ops"), runs("y", "c", "b"), ends]
    assert usable(*ZONES, *others, spread("p")) == ["a", "b", "c", "d"]
    only_two = {"nodeSelector": {"zone": "z1"}}
    assert usable(*ZONES, runs("r", "a"), spread("p", **only_two)) == ["a", "b"]
    ignored = {"nodeAffinityPolicy": "Ignore"}
    assert usable(*ZONES, runs("r", "a"), spread("p", term=ignored, **only_two)) == []


def test_a_tainted_zone_counts_unless_taints_are_honoured() -> None:
    """Zone z2 is tainted and empty: as the emptiest it makes z1 with one pod full, or is none."""
    nodes = in_zones(a="z1", b="z1", c="z2")
    nodes[2]["spec"] = {"taints": [{"key": "k", "effect": "NoSchedule"}]}
    assert usable(*nodes, runs("r", "a"), spread("p")) == ["c"]
    honoured = {"nodeTaintsPolicy": "Honor"}
    assert usable(*nodes, runs("r", "a"), spread("p", term=honoured)) == ["a", "b"]


def test_a_pod_that_its_own_spread_does_not_pick() -> None:
    """It adds nothing to a zone: of 1, 0, 0, all zones will do; of 2, 0, 0, all but z1."""
    term = {"labelSelector": {"matchLabels": {"app": "b"}}}
    assert usable(*ZONES, runs("r", "a", "b"), spread("p", term=term)) == ["a", "b", "c", "d"]
    two = [runs("r", "a", "b"), runs("s", "b", "b")]
    assert usable(*ZONES, *two, spread("p", term=term)) == ["c", "d"]


def test_replicas_that_are_spread_take_turns() -> None:
    """Where the first goes is not known, so the second waits; a third of other labels does not."""
    found = reading(*ZONES, spread("p-0"), spread("p-1"), pod("x", labels={"app": "b"}))
    holds = {one.key.name: one.hold for one in found.snapshot.gangs}
    assert holds["p-0"] is None
    assert holds["x"] is None
    assert holds["p-1"] is not None
    assert holds["p-1"].kind is ReasonKind.WAITS_FOR_GANG


def test_a_gang_that_is_spread_over_itself_is_refused_by_name() -> None:
    """Members that count for their own spread; where it picks other pods, they may start."""
    gang = only(*ZONES, *(spread(name, annotations=GANG) for name in "pq"))
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED
    assert "spreads members of one gang over zone" in gang.hold.detail
    term = {"labelSelector": {"matchLabels": {"app": "b"}}}
    both = [spread(name, term=term, annotations=GANG) for name in "pq"]
    assert usable(*ZONES, runs("r", "a", "b"), runs("s", "b", "b"), *both) == ["c", "d"]


def test_a_spread_that_is_a_wish_changes_nothing() -> None:
    """ScheduleAnyway leaves every node."""
    wish = {"whenUnsatisfiable": "ScheduleAnyway"}
    assert usable(*ZONES, runs("r", "a"), spread("p", term=wish)) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"maxSkew": 0}, "maxSkew"),
        ({"topologyKey": None}, "topologyKey"),
        ({"whenUnsatisfiable": "Never"}, "whenUnsatisfiable"),
        ({"nodeTaintsPolicy": "Maybe"}, "nodeTaintsPolicy"),
        ({"minDomains": "x"}, "minDomains"),
    ],
)
def test_a_spread_that_makes_no_sense_holds_its_gang(change: Body, field: str) -> None:
    """The field is named."""
    found = reading(*ZONES, spread("p", term=change), strict=False)
    (gang,) = found.snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.INVALID
    assert found.problems[0].field == f"spec.topologySpreadConstraints[0].{field}"


def test_members_of_other_amounts_keep_to_the_same_zones() -> None:
    """Two members alike in labels and terms, of 8 GPUs and of 4: both are tied to the cache."""
    big, small = (near(n, "cache", annotations=GANG, gpus=g) for n, g in (("p", 8), ("q", 4)))
    found = reading(*ZONES, runs("cache", "c", "cache"), big, small)
    (gang,) = found.snapshot.gangs
    nodes = [one for leaf in found.snapshot.fabric.leaves for one in leaf.nodes]
    for role in gang.roles:
        assert [one.name for one in nodes if role.constraint.selects(one)] == ["c"]


def test_members_of_two_kinds_that_repel_each_other_are_refused_by_name() -> None:
    """A launcher keeps off the hosts of its workers, which may share one: not both at once."""
    launcher = repelling("launcher", app="launcher", of="worker", annotations=GANG, gpus=1)
    worker = pod("worker", 1, labels={"app": "worker"}, annotations=GANG)
    gang = only(*ZONES, launcher, worker)
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED
    assert "keeps members of one gang on different kubernetes.io/hostname" in gang.hold.detail


def test_a_member_that_wants_another_of_its_gang_near_is_refused_by_name() -> None:
    """Its worker is not running, and never does before it."""
    launcher = near("launcher", "worker", own="launcher", annotations=GANG)
    worker = pod("worker", 1, labels={"app": "worker"}, annotations=GANG)
    gang = only(*ZONES, launcher, worker)
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED


def test_a_pod_with_more_terms_than_are_compared_is_refused_by_name() -> None:
    """33 terms about other pods: one too many."""
    terms = [
        {"topologyKey": "zone", "labelSelector": {"matchLabels": {f"k{i}": "v"}}} for i in range(33)
    ]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    gang = only(*ZONES, pod("p", affinity={"podAntiAffinity": required}))
    assert gang.hold is not None
    assert gang.hold.kind is ReasonKind.UNSUPPORTED
    assert "more than 32 terms" in gang.hold.detail
    del terms[32]
    assert only(*ZONES, pod("p", affinity={"podAntiAffinity": required})).hold is None


def test_what_one_member_repels_is_taken_from_its_role_alone() -> None:
    """The launcher keeps off zone z1, where noisy runs; its worker may still go there."""
    launcher = repelling("launcher", app="l", of="noisy", key="zone", annotations=GANG, gpus=1)
    worker = pod("worker", 8, labels={"app": "w"}, annotations=GANG)
    found = reading(*ZONES, runs("noisy", "a", "noisy"), launcher, worker)
    (gang,) = found.snapshot.gangs
    nodes = [one for leaf in found.snapshot.fabric.leaves for one in leaf.nodes]
    left = {
        role.pods[0]: [one.name for one in nodes if role.constraint.selects(one)]
        for role in gang.roles
    }
    assert left == {"launcher": ["c", "d"], "worker": ["a", "b", "c", "d"]}
