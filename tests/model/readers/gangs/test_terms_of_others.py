"""Terms of running pods about pods of other namespaces: what is compared of them, and what not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from fourleaf.model.gang import Gang
from fourleaf.model.readers.gangs import kept_apart
from fourleaf.model.readers.live import LiveReader
from fourleaf.model.readers.pods.label_selector import LabelSelector
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.reasons.kinds import ReasonKind
from tests.model.readers.gangs.test_many_alike import REQUIRED
from tests.model.readers.gangs.test_wishes import usable
from tests.model.readers.made import Body, node, pod, reading

NODES = [node(name) for name in "abcd"]
HOST = "kubernetes.io/hostname"


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often selectors were compared with labels, by the `app` that these say."""
    found: Counter[str] = Counter()
    was = LabelSelector.picks

    def picks(one: LabelSelector, labels: Mapping[str, str]) -> bool:
        found[labels.get("app", "")] += 1
        return was(one, labels)

    monkeypatch.setattr(LabelSelector, "picks", picks)
    return found


def off(key: str, values: Sequence[str] = (), operator: str = "NotIn") -> Body:
    """An expression about label `key`."""
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def repels(name: str, *expressions: Body, key: str = HOST, on: str = "a", **fields: Any) -> Body:
    """Make a pod that runs on node `on`, of one term about all namespaces for each expression."""
    terms = [
        {
            "topologyKey": key,
            "namespaceSelector": {},
            "labelSelector": {"matchExpressions": [one]},
        }
        for one in expressions
    ]
    affinity = {"podAntiAffinity": {REQUIRED: terms}}
    return pod(
        name,
        0,
        namespace="other",
        nodeName=on,
        phase="Running",
        affinity=affinity,
        **fields,
    )


def harmless(count: int) -> list[Body]:
    """So many expressions of no label that pods of app `honest` do not meet."""
    return [off("app", ("honest", f"none-{n}")) for n in range(count)]


def honest(name: str = "h", **labels: str) -> Body:
    """Make a pod of another namespace that waits."""
    return pod(name, 0, labels={"app": "honest", **labels})


def nodes_of(gang: Gang) -> list[str]:
    """The nodes that the gang's first role may use."""
    fabric = reading(*NODES).snapshot.fabric
    return [n.name for n in fabric.nodes.values() if gang.roles[0].constraint.selects(n)]


def test_a_label_that_no_node_has_keeps_none_apart_until_one_has_it(
    compared: Counter[str],
) -> None:
    """Two hundred terms by a label that is nowhere are not compared, and repel once it is there."""
    evil = [
        repels(f"r{m}", *(off("zz", (f"{m}-{n}",)) for n in range(50)), key="example.com/none")
        for m in range(4)
    ]
    live = LiveReader()
    for body in (*NODES, *evil, honest()):
        live.put("", body["kind"], body)
    gang = live.reading(0.0).snapshot.gangs[0]
    assert nodes_of(gang) == ["a", "b", "c", "d"]
    assert list(compared.elements()) == []
    labelled = node("a")
    labelled["metadata"]["labels"]["example.com/none"] = "x"
    live.put("", "Node", labelled)
    found = live.reading(0.0).snapshot
    selects = found.gangs[0].roles[0].constraint.selects
    assert compared["honest"] == 200
    assert [one.name for one in found.fabric.nodes.values() if selects(one)] == ["b", "c", "d"]


@pytest.mark.parametrize(("count", "left"), [(3, "abcd"), (4, "bcd")])
def test_too_many_terms_of_one_label_are_not_compared(
    monkeypatch: pytest.MonkeyPatch, compared: Counter[str], count: int, left: str
) -> None:
    """Of three that may be, each is; of four none, and who has them repels all with the label."""
    monkeypatch.setattr(kept_apart, "MOST_FOREIGN_TERMS", 3)
    assert usable(*NODES, repels("r", *harmless(count)), honest()) == list(left)
    assert compared["honest"] == (count if count == 3 else 0)


def test_terms_that_ask_for_a_label_are_nothing_to_who_has_it_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Jobs that take a node each, more than may be compared: who is of no Job may use it."""
    monkeypatch.setattr(kept_apart, "MOST_FOREIGN_TERMS", 3)
    jobs = repels("r", *(off("job", (f"j-{n}",), "In") for n in range(9)))
    assert usable(*NODES, jobs, honest()) == ["a", "b", "c", "d"]
    assert usable(*NODES, jobs, honest(job="mine")) == ["b", "c", "d"]


def test_terms_that_were_too_many_are_compared_once_fewer_are_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two pods of two terms each are too many. One ends, and its node and the other's are free."""
    monkeypatch.setattr(kept_apart, "MOST_FOREIGN_TERMS", 3)
    first, second = repels("r", *harmless(2)), repels("s", *harmless(4)[2:], on="b")
    live = LiveReader()
    for body in (*NODES, first, second, honest()):
        live.put("", body["kind"], body)
    assert nodes_of(live.reading(0.0).snapshot.gangs[0]) == ["c", "d"]
    live.put("", "Pod", second | {"status": {"phase": "Succeeded"}})
    assert nodes_of(live.reading(0.0).snapshot.gangs[0]) == ["a", "b", "c", "d"]


def test_who_repels_others_by_too_many_comparisons_repels_them_all(
    monkeypatch: pytest.MonkeyPatch, compared: Counter[str]
) -> None:
    """Forty terms and 50 comparisons: what is beyond is not compared, and has its node to itself.

    None is held for it.
    """
    monkeypatch.setattr(kept_apart, "MOST_FOREIGN_COMPARISONS", 50)
    some = [honest(f"h-{n}", **{f"own-{n}": ""}) for n in range(3)]
    gangs = reading(*NODES, repels("r", *harmless(40)), *some).snapshot.gangs
    assert [nodes_of(one) for one in gangs] == [list("abcd"), list("bcd"), list("bcd")]
    assert not [one for one in gangs if one.hold is not None]
    assert compared["honest"] == 40


def test_a_term_of_many_values_counts_as_many(
    monkeypatch: pytest.MonkeyPatch, compared: Counter[str]
) -> None:
    """Two terms of 1,000 values take as long as 64 comparisons, of which 50 may be."""
    monkeypatch.setattr(kept_apart, "MOST_FOREIGN_COMPARISONS", 50)
    values = [f"v-{n}" for n in range(1000)]
    evil = repels("r", *(off("app", ("honest", f"none-{n}", *values)) for n in range(2)))
    assert usable(*NODES, evil, honest()) == ["b", "c", "d"]
    assert not compared["honest"]


def test_where_many_of_one_term_stand_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty pods of one term take as long as ten comparisons: beside two kinds, not twenty."""
    charged: list[int] = []
    was = Neighbours.charge

    def charge(one: Neighbours, owner: str, pod: Any, comparisons: int) -> None:
        charged.append(comparisons)
        was(one, owner, pod, comparisons)

    monkeypatch.setattr(Neighbours, "charge", charge)
    evil = [repels(f"r-{n}", off("zz", ("x",)), on="ab"[n % 2]) for n in range(40)]
    gangs = reading(*NODES, *evil, honest("p"), honest("q", own="")).snapshot.gangs
    assert [nodes_of(one) for one in gangs] == [["c", "d"]] * 2
    assert sorted(charged) == [1, 1, 10]


def test_a_gang_of_bound_members_compares_no_more_of_them(
    monkeypatch: pytest.MonkeyPatch, compared: Counter[str]
) -> None:
    """Nine terms of others are too many and keep `a` for it, the stranger keeps `c`.

    The member on `b` takes nothing from its own gang here.
    """
    monkeypatch.setattr(kept_apart, "MOST_FOREIGN_TERMS", 3)
    said = "topology.scheduler/"
    notes = {f"{said}gang": "g", f"{said}gang-size": "2"}
    selector = {"matchLabels": {"app": "honest"}}
    affinity = {"podAntiAffinity": {REQUIRED: [{"topologyKey": HOST, "labelSelector": selector}]}}
    fields: dict[str, Any] = {
        "labels": {"app": "honest"},
        "annotations": notes,
        "affinity": affinity,
    }
    bound = pod("g-0", 0, nodeName="b", phase="Running", **fields)
    stranger = pod("x", 0, nodeName="c", phase="Running", labels={"app": "honest"})
    evil = repels("r", *harmless(9))
    found = usable(*NODES, evil, bound, stranger, pod("g-1", 0, **fields))
    assert found == ["b", "d"]
    assert compared["honest"] < 9


def test_members_that_are_looked_for_among_neighbours_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A gang that has many bound members of many terms pays for what it takes to set them aside."""
    counted: list[int] = []
    was = Neighbours.count

    def count(one: Neighbours, comparisons: int) -> int:
        counted.append(comparisons)
        return was(one, comparisons)

    monkeypatch.setattr(Neighbours, "count", count)
    said = "topology.scheduler/"
    fields: dict[str, Any] = {
        "labels": {"app": "w"},
        "annotations": {f"{said}gang": "g", f"{said}gang-size": "41"},
        "affinity": {
            "podAntiAffinity": {
                REQUIRED: [{"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "w"}}}]
            }
        },
    }
    bound = [
        pod(f"g-{n:02}", 0, nodeName="abcd"[n % 4], phase="Running", **fields) for n in range(40)
    ]
    gang = reading(*NODES, *bound, pod("g-40", 0, **fields)).snapshot.gangs[0]
    assert gang.hold is None or gang.hold.kind is not ReasonKind.NAMESPACE_LIMIT
    assert 2 * 40 // kept_apart.PODS_A_COMPARISON in counted


def test_waiting_terms_of_many_values_count_as_many() -> None:
    """40 pods that go first, each with a term of 300 values: 25 of them may, ten a term."""
    values = tuple(f"v{i}" for i in range(300))
    pods = []
    for number in range(40):
        one = repels(f"w{number}", off("app", (f"own-{number}", *values), "In"))
        del one["spec"]["nodeName"], one["status"]
        pods.append(one)
    kinds = [one.hold.kind for one in reading(*NODES, *pods).snapshot.gangs if one.hold]
    assert kinds == [ReasonKind.NAMESPACE_LIMIT] * 15


@pytest.mark.parametrize(
    ("names", "terms", "holds"), [(64, 1, False), (65, 1, True), (40, 2, True)]
)
def test_a_pod_that_lists_too_many_namespaces_waits(names: int, terms: int, holds: bool) -> None:
    """One that runs with such a term repels those of all namespaces, which it could have said."""
    listed = [f"team-{i}" for i in range(names)]
    some = [
        {"topologyKey": HOST, "namespaces": listed, "labelSelector": {"matchLabels": {"a": str(i)}}}
        for i in range(terms)
    ]
    affinity = {"podAntiAffinity": {REQUIRED: some}}
    (gang,) = reading(*NODES, pod("w", 1, affinity=affinity)).snapshot.gangs
    assert (gang.hold is not None) is holds
    if gang.hold is not None:
        assert gang.hold.kind is ReasonKind.UNSUPPORTED
        assert "namespaces" in gang.hold.detail
    runs = pod("r", 0, namespace="other", affinity=affinity, nodeName="a", phase="Running")
    honest = pod("h", 1, labels={"a": str(terms - 1)})
    (gang,) = reading(*NODES, runs, honest).snapshot.gangs
    assert ("a" not in nodes_of(gang)) is holds
