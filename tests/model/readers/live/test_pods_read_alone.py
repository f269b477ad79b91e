"""Pods of large gangs that are bound and go: each is read alone at once, and its gang later."""

from __future__ import annotations

from collections import Counter

import pytest

from fourleaf.model.gang import GangKey
from fourleaf.model.readers.live import (
    LiveReader,
    LiveReading,
    gang_reads,
    pod_cache,
    read_allowance,
)
from fourleaf.model.readers.live.pod_cache import FEW_PODS
from fourleaf.model.readers.live.read_allowance import (
    MOST_VALUES,
    cost_of_annotations,
    cost_of_spec,
)
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE
from tests.model.readers.live.test_live import NOW, names, reader, repelling, tell
from tests.model.readers.made import Body, node, pod

LARGE = FEW_PODS + 4


def of(gang: str, number: int, gpus: int = 1, **fields: object) -> Body:
    """Make a member of a gang that misses most of its pods."""
    said = {GANG: gang, GANG_SIZE: "1000"}
    return pod(f"{gang}-{number}", gpus, annotations=said, **fields)  # type: ignore[arg-type]


def bound(gang: str, number: int, gpus: int = 1, host: str = "n1") -> Body:
    """Make a member that another has bound."""
    return of(gang, number, gpus, phase="Running", nodeName=host)


@pytest.fixture
def spent(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Let a namespace have a gang of this size read once, and no more for 200 s; count the reads.

    By the name of the gang, where more than one pod of it is read.
    """
    monkeypatch.setattr(read_allowance, "READS_A_SECOND", 0.1)
    monkeypatch.setattr(read_allowance, "MOST_READS", 1.0)
    read, counts = gang_reads.read_gang, Counter[str]()

    def counting(identity: tuple[str, str, str], pods: list[object], *more: object) -> object:
        counts.update([identity[2]] if len(pods) > 1 else [])
        return read(identity, pods, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(gang_reads, "read_gang", counting)
    return counts


def large(*more: Body) -> LiveReader:
    """A reader of two nodes, and of a gang and more that have been read: all that may be is."""
    made = reader(node("n1"), node("n2"), *(of("g", number) for number in range(LARGE - 1)))
    made.reading(NOW - 300)
    for body in (of("g", LARGE - 1), *more):
        tell(made, body)
    made.reading(NOW)
    return made


def gpus_held(reading: LiveReading) -> dict[str, int]:
    """Node -> the GPUs that pods hold there."""
    return {name: held.gpus for name, held in reading.snapshot.used.items()}


def test_its_room_is_taken_at_once_and_its_gang_is_read_later(spent: Counter[str]) -> None:
    """Twenty times a pod of the gang is bound and goes: all readings have its room, none its gang.

    It is one of its members, with its UID, so that no gang is evicted but for one.
    """
    made = large()
    spent.clear()
    for turn in range(20):
        body = bound("g", LARGE, 4)
        body["metadata"]["uid"] = f"turn-{turn}"
        tell(made, body)
        there = made.reading(NOW + turn)
        assert gpus_held(there) == {"n1": 4}
        assert [(str(one), str(one.gang)) for one in there.snapshot.running] == [
            ("ml/g-20", "ml/g")
        ]
        assert dict(there.uids) == {("ml", "g-20"): f"turn-{turn}"}
        assert made.is_behind_in("ml")
        made.remove("", "Pod", "ml", f"g-{LARGE}")
        assert gpus_held(made.reading(NOW + turn)) == {}
    assert spent["g"] == 0
    tell(made, bound("g", LARGE, 4))
    (later,) = made.reading(NOW + 300).snapshot.running
    assert str(later) == "ml/g-20"
    assert spent["g"] == 1
    assert not made.is_behind


@pytest.mark.parametrize("how", ["deleted", "ended"])
def test_room_is_free_at_once(spent: Counter[str], how: str) -> None:
    """Pods that were read with their gang end, one and then all: their room is free each time."""
    made = large(*(bound("g", LARGE + number, 1) for number in range(3)))
    spent.clear()
    for left in (2, 1, 0):
        if how == "deleted":
            made.remove("", "Pod", "ml", f"g-{LARGE + left}")
        else:
            tell(made, of("g", LARGE + left, phase="Succeeded", nodeName="n1"))
        assert gpus_held(made.reading(NOW + 1)) == ({"n1": left} if left else {})
    assert made.is_behind_in("ml")
    assert spent["g"] == 0


def test_who_is_made_anew_counts_once(spent: Counter[str]) -> None:
    """Under its name on the same node, with fewer devices and as many, and on another one."""
    made = large(bound("g", LARGE, 4))
    spent.clear()
    for host, gpus in (("n1", 2), ("n1", 4), ("n2", 4)):
        body = bound("g", LARGE, gpus, host)
        body["metadata"]["uid"] = f"{host}-{gpus}"
        tell(made, body)
        reading = made.reading(NOW + 2)
        assert gpus_held(reading) == {host: gpus}
        assert dict(reading.uids) == {("ml", "g-20"): f"{host}-{gpus}"}
    assert spent["g"] == 0
    assert gpus_held(made.reading(NOW + 300)) == {"n2": 4}


def test_a_gang_whose_name_another_takes_is_not_read_for_it(spent: Counter[str]) -> None:
    """A bound pod of the large gang's name comes and goes: it counts, and the gang waits its turn.

    Once it has gone for good, and the gang was read, that has its name again.
    """
    made = large()
    spent.clear()
    for turn in range(5):
        tell(made, pod("g", 2, phase="Running", nodeName="n2"))
        assert gpus_held(made.reading(NOW + turn)) == {"n2": 2}
        made.remove("", "Pod", "ml", "g")
        assert gpus_held(made.reading(NOW + turn)) == {}
    assert spent["g"] == 0
    assert set(names(made.reading(NOW + 300))) == {"ml/g"}
    assert spent["g"] == 1


def test_a_name_is_free_once_its_gang_is_gone(spent: Counter[str]) -> None:
    """Two waiting gangs of one name: the first goes where no more may be read, the other is bound.

    Then one of two dialects comes back: no two gangs of a reading have one name.
    """
    first = pod("h-0", 0, annotations={GANG: "h", GANG_SIZE: "1"})
    labels = {"kueue.x-k8s.io/pod-group-name": "h"}
    said = {"kueue.x-k8s.io/pod-group-total-count": "2"}
    second = [pod(f"h-{n}", 0, labels=labels, annotations=said) for n in (1, 2)]
    made = large(first, *second)
    spent.clear()
    made.remove("", "Pod", "ml", "h-0")
    tell(made, pod("h-1", 0, labels=labels, annotations=said, phase="Running", nodeName="n1"))
    for now in (1, 2, 300):
        found = names(made.reading(NOW + now))
        assert sum(name.startswith("ml/h") for name in found) == 1
    tell(made, first)
    assert sum(name.startswith("ml/h") for name in names(made.reading(NOW + 900))) == 2


def test_room_that_another_scheduler_has_made_is_taken_at_once(spent: Counter[str]) -> None:
    """Pods were evicted for a member of another scheduler: its room is no one else's."""
    made = large()
    spent.clear()
    body = of("g", LARGE, 4, schedulerName="another")
    tell(made, body)
    assert gpus_held(made.reading(NOW + 1)) == {}
    tell(made, body | {"status": {"nominatedNodeName": "n1"}})
    assert gpus_held(made.reading(NOW + 2)) == {"n1": 4}
    assert spent["g"] == 0


def test_a_small_gang_is_read_at_once(spent: Counter[str]) -> None:
    """A pod of a gang of two is bound, and goes: it is in no reading longer than in the cluster."""
    made = reader(node(), *(of("g", number) for number in range(2)))
    made.reading(NOW)
    spent.clear()
    tell(made, bound("g", 2))
    (there,) = made.reading(NOW + 1).snapshot.running
    assert str(there.gang) == "ml/g"
    made.remove("", "Pod", "ml", "g-2")
    assert made.reading(NOW + 2).snapshot.running == ()
    assert spent["g"] == 2


def test_what_is_on_its_way_is_read_at_once(spent: Counter[str]) -> None:
    """Members that we have bound are members of their gang in the next reading, and no draft's."""
    made = large()
    spent.clear()
    made.assume("uid-g-3", "n1")
    (there,) = made.reading(NOW + 1).snapshot.running
    assert str(there.gang) == "ml/g"
    tell(made, bound("g", 3))
    assert [str(one.gang) for one in made.reading(NOW + 1).snapshot.running] == ["ml/g"]
    made.release("uid-g-3")
    assert spent["g"] == 1


def test_others_keep_off_at_once(spent: Counter[str]) -> None:
    """Another namespace's pod has to keep off a label that a pod of the gang has by now.

    It is one that runs, and one that is bound; neither gang is read meanwhile.
    """
    made = large(bound("g", LARGE))
    apart = repelling("w")
    terms = apart["spec"]["affinity"]["podAntiAffinity"]
    terms["requiredDuringSchedulingIgnoredDuringExecution"][0]["namespaces"] = ["ml"]
    apart["metadata"]["namespace"] = "other"
    tell(made, apart)
    spent.clear()
    key = GangKey("other", "w")

    def nodes(now: float) -> set[str]:
        snapshot = made.reading(now).snapshot
        (role,) = snapshot.gangs_by_key[key].roles
        every = snapshot.fabric.nodes.items()
        return {name for name, one in every if role.constraint.selects(one)}

    assert nodes(NOW + 1) == {"n1", "n2"}
    labelled = bound("g", LARGE)
    labelled["metadata"]["labels"] = {"app": "web"}
    tell(made, labelled)
    assert nodes(NOW + 2) == {"n2"}
    other = bound("g", LARGE + 1, host="n2")
    other["metadata"]["labels"] = {"app": "web"}
    tell(made, other)
    assert nodes(NOW + 3) == set()
    assert spent["g"] == 0
    made.remove("", "Pod", "ml", f"g-{LARGE + 1}")
    assert nodes(NOW + 4) == {"n2"}


def test_who_is_read_later_stands_with_its_gang_meanwhile(spent: Counter[str]) -> None:
    """One of the members that run says something new, and one more is bound: all of them stand."""
    said = {GANG: "s", GANG_SIZE: str(LARGE)}
    some = [
        pod(f"s-{number}", 0, annotations=said, phase="Running", nodeName="n1")
        for number in range(LARGE)
    ]
    made = large(*some)
    spent.clear()
    newer = pod("s-3", 0, annotations=said | {"note": "new"}, phase="Running", nodeName="n1")
    tell(made, newer)
    moved = pod("s-4", 0, annotations=said, phase="Running", nodeName="n2")
    moved["metadata"]["uid"] = "another"
    tell(made, moved)
    (there,) = made.standing(NOW + 1, {"n2"}, True)
    held = [member for role in there.gang.roles for member in role.bound]
    assert len(held) == LARGE - 1
    assert sum(len(role.pods) for role in there.gang.roles) == 1
    assert spent["s"] == 0


def test_a_pod_that_says_much_costs_more() -> None:
    """One container or three cost one pod; 100 containers of 5 values, 4; to count has an end."""
    assert cost_of_spec(pod()) == 1
    body = pod()
    body["spec"]["containers"] = [{"name": f"c{n}", "env": [{"name": "a"}]} for n in range(140)]
    assert cost_of_spec(body) == 1 + (140 * 5 + 3 - 300) // 100
    endless = pod()
    endless["spec"]["tolerations"] = [{"key": "a"}] * 100_000
    assert cost_of_spec(endless) == 1 + (MOST_VALUES - 300) // 100
    assert cost_of_spec({"metadata": {}, "spec": None}) == 1
    assert cost_of_annotations(pod(annotations={"example.com/map": "x" * 100_000})) == 0
    assert (
        cost_of_annotations(pod(annotations={"gpu-scheduling-map": "0=n1:0," * 1000}))
        == 7_000 // 500
    )


def test_pods_that_say_much_take_more_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight pods that cost five each, two are read where there is room for ten.

    Once to know their gang, and once with it.
    """
    some = [pod(f"w-{number}") for number in range(8)]
    for one in some:
        one["spec"]["tolerations"] = [{"key": f"k{n}", "operator": "Exists"} for n in range(240)]
    assert {cost_of_spec(one) for one in some} == {5}
    made = reader(node(), *some)
    read, count = pod_cache.read_pod, Counter[str]()
    monkeypatch.setattr(
        pod_cache, "read_pod", lambda *given: count.update([given[1]]) or read(*given)
    )
    assert len(names(made.reading(NOW, room=10))) == 2
    assert count == {"w-0": 2, "w-1": 2}
