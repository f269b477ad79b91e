"""The law about evictions sees those that served no gang, and tells what excuses the others."""

from __future__ import annotations

import copy
from collections.abc import Callable

import pytest

from tests.history.excuses import CONFIG
from tests.history.laws.served import evictions
from tests.history.made import Story, entry, evicting, good, row
from tests.history.test_laws import broken

LAW = "an eviction serves a gang"
ALL = "0,1,2,3,4,5,6,7"


def making_way() -> Story:
    """`g` of two pods is to leave n0 and n1 for `h` of one, which is to have n0."""
    story = good()
    story.pod("h-0", "h", 1)
    story.relocation("h", "preemption", [["h-0", "n0"]], [["g-0", "n0"], ["g-1", "n1"]])
    return story


def over(story: Story, gang: str = "h") -> None:
    """The relocation ends."""
    story.gone("leases", f"relocation-{gang}")


def seat(story: Story, pod: str = "h-0", node: str = "n0", gang: str = "h") -> None:
    """A pod is committed to a seat, the relocation ends, and the pod is bound."""
    story.page("page-0", ["n0", "n1", "n2"], [entry("c2", row(pod, node))])
    over(story, gang)
    story.bind(pod, node, "c2", ALL)


def outcome(story: Story) -> tuple[int, int, int, int]:
    """How many evictions served, are excused, and were for commits that went back; breaches."""
    found = evictions(story.history)
    return found.served, found.not_served, found.went_back, len(found.breaches)


def test_a_gang_that_comes_to_its_seat_was_worth_it() -> None:
    """Both pods of `g` go, `h` is bound to its seat; no other law is broken, and it is told."""
    story = making_way()
    story.evict("g-0", "g-1")
    seat(story)
    assert broken(story) == []
    assert outcome(story) == (2, 0, 0, 0)
    assert evictions(story.history).lines() == [
        "2 evictions served, 0 excused, 0 for commits that went back"
    ]


def never(story: Story) -> None:
    """Both go, and the relocation ends."""
    story.evict("g-0", "g-1")
    over(story)


def still_there(story: Story) -> None:
    """Both go, and nothing more comes to be."""
    story.evict("g-0", "g-1")


def not_bound(story: Story) -> None:
    """`h` is committed to its seat, and is never bound."""
    story.evict("g-0", "g-1")
    story.page("page-0", ["n0", "n1"], [entry("c2", row("h-0", "n0"))])
    over(story)


def elsewhere(story: Story) -> None:
    """`h` is bound to n1, which was not its seat."""
    story.evict("g-0", "g-1")
    seat(story, node="n1")


def undone(story: Story) -> None:
    """`h` is bound to its seat, and its commit goes back."""
    story.evict("g-0", "g-1")
    seat(story)
    held = entry("c2", row("h-0", "n0"), phase="RollingBack")
    story.page("page-0", ["n0", "n1"], [held])


def another(story: Story) -> None:
    """`k`, of which nothing was said, is bound to the seat of `h`."""
    story.evict("g-0", "g-1")
    story.pod("k-0", "k", 1)
    seat(story, "k-0")


def told_before(story: Story) -> None:
    """The binding of `h` is refused, as the dry run had said."""
    story.ask("create", "pods", "h-0", "binding", 403, dry_run=True)
    story.evict("g-0", "g-1")
    story.ask("create", "pods", "h-0", "binding", 403)
    over(story)


def afterwards(story: Story) -> None:
    """The relocation is over, and then `h` is deleted, and the config is changed."""
    never(story)
    story.gone("pods", "h-0")
    story.ask("update", "configmaps", CONFIG, user="admin")


def elsewhere_changed(story: Story) -> None:
    """n1, no seat, is cordoned; others write another ConfigMap, try one out, tell of the owner."""
    story.evict("g-0", "g-1")
    story.cordon("n1")
    story.ask("update", "configmaps", CONFIG)
    story.ask("update", "configmaps", "another", user="admin")
    story.ask("update", "configmaps", CONFIG, user="admin", dry_run=True)
    story.ask("update", "jobs", "h", "status", user="controller")
    over(story)


def dies_before_its_time(story: Story) -> None:
    """The relocation ends while who was evicted is still ending, long before it may."""
    story.evict("g-0", "g-1", slowly=True)
    over(story)


@pytest.mark.parametrize(
    "happens",
    [
        never,
        still_there,
        not_bound,
        elsewhere,
        undone,
        another,
        told_before,
        afterwards,
        elsewhere_changed,
        dies_before_its_time,
    ],
)
def test_who_made_way_for_no_gang(happens: Callable[[Story], None]) -> None:
    """Two pods have gone for `h`, as the docstring says; one relocation is to blame."""
    story = making_way()
    happens(story)
    assert outcome(story) == (0, 0, 0, 1)
    assert LAW in broken(story)


def altered(story: Story, kind: str, name: str, **changes: object) -> None:
    """Parts of an object's metadata, spec and status are put in."""
    body = copy.deepcopy(story.live[kind, name])
    for part, change in changes.items():
        body[part] |= change
    story.put(kind, body)


def stranger(story: Story) -> None:
    """A pod of another scheduler is bound to the seat."""
    story.pod("s", scheduler="other")
    story.bind("s", "n0")


NOT_READY = {"conditions": [{"type": "Ready", "status": "False"}]}
FORBIDDEN = {"details": {"causes": [{"reason": "DisruptionBudget"}]}}


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (lambda story: story.gone("pods", "h-0"), "others deleted ml/h-0"),
        (lambda story: story.change("h-0", "Failed"), "ml/h-0 ended"),
        (
            lambda story: altered(story, "pods", "h-0", metadata={"labels": {"a": "b"}}),
            "others changed ml/h-0",
        ),
        (lambda story: story.bind("h-0", "n1"), "others put ml/h-0 onto n1"),
        (stranger, "others put ml/s onto n0"),
        (lambda story: story.cordon("n0"), "node n0 changed"),
        (lambda story: story.gone("nodes", "n0"), "node n0 was deleted"),
        (lambda story: altered(story, "nodes", "n0", status=NOT_READY), "node n0 went not ready"),
        (lambda story: story.budget("b", 1, app="x"), "budget ml/b changed"),
        (lambda story: story.ask("patch", "configmaps", CONFIG, user="admin"), "config: admin"),
        (lambda story: story.ask("delete", "jobs", "h", user="admin"), "owner: admin: delete jobs"),
        (lambda story: story.ask("delete", "namespaces", "ml", user="admin"), "owner: admin"),
        (lambda story: story.ask("create", "pods", "h-0", "binding", 403), "refused with 403"),
        (
            lambda story: story.ask(
                "create", "pods", "g-1", "eviction", 429, evicting("g-1"), got=FORBIDDEN
            ),
            "refused with 429",
        ),
    ],
)
def test_what_no_scheduler_decides_is_an_excuse(event: Callable[[Story], None], words: str) -> None:
    """Something of the sort happens once both have gone, and the relocation ends."""
    story = making_way()
    story.evict("g-0", "g-1")
    event(story)
    over(story)
    assert outcome(story) == (0, 2, 0, 0)
    told = evictions(story.history).lines()
    assert told[0] == "0 evictions served, 2 excused, 0 for commits that went back"
    assert words in told[1]


def test_a_pod_that_ends_more_slowly_than_its_place_is_kept_is_an_excuse() -> None:
    """Places are kept until second 12, and g-0 has not gone when the relocation ends after that."""
    story = good()
    story.pod("h-0", "h", 1)
    rows = [["g-0", "n0"], ["g-1", "n1"]]
    story.relocation("h", "preemption", [["h-0", "n0"]], rows, until=12.0)
    story.evict("g-0", "g-1", slowly=True)
    story.revision = 12
    over(story)
    assert outcome(story) == (0, 2, 0, 0)


@pytest.mark.parametrize("known", ["prepared", "tried out", "not"])
def test_a_commit_that_was_under_way_is_an_excuse(known: str) -> None:
    """`k` is committed to the seat of `h`; its commit was to be seen before the relocation."""
    story = good()
    story.pod("k-0", "k", 1)
    rows = [row("k-0", "n0")]
    if known == "prepared":
        story.gang_lease("gang-k", "w", "Prepared", rows)
    elif known == "tried out":
        story.ask("create", "pods", "k-0", "binding", 201, dry_run=True, at=1.0)
    story.pod("h-0", "h", 1)
    story.relocation("h", "preemption", [["h-0", "n0"]], [["g-0", "n0"], ["g-1", "n1"]])
    story.evict("g-0", "g-1")
    story.gang_lease("gang-k", "w", "Committed", rows)
    over(story)
    assert outcome(story) == ((0, 0, 0, 1) if known == "not" else (0, 2, 0, 0))


def test_what_its_owner_makes_in_its_place_may_come() -> None:
    """A replica moves from n2 to n1, where another one of its owner is bound."""
    story = Story()
    for name in ("n1", "n2"):
        story.node(name)
    story.pod("w-1", owner="w")
    story.page("page-0", ["n1", "n2"], [entry("c1", row("w-1", "n2"))])
    story.bind("w-1", "n2", "c1", ALL)
    story.relocation("w-1", "defragmentation", [["w-1", "n1"]], [["w-1", "n2"]], owner="uid-w")
    story.evict("w-1")
    story.pod("w-2", owner="w")
    seat(story, "w-2", "n1", "w-1")
    assert outcome(story) == (1, 0, 0, 0)
    assert broken(story) == []


@pytest.mark.parametrize(("goes", "found"), [(2, (2, 0, 0, 0)), (1, (0, 0, 0, 1))])
def test_of_a_restart_every_member_goes(goes: int, found: tuple[int, int, int, int]) -> None:
    """Of two that were to go one has stayed, when the relocation ends, or none."""
    story = good()
    story.relocation("g", "restart", [], [["g-0", "n0"], ["g-1", "n1"]])
    story.evict(*["g-0", "g-1"][:goes])
    over(story, "g")
    assert outcome(story) == found


def test_a_victim_whose_room_is_not_asked_for() -> None:
    """`h` has come to n0, and `k` made way for it on n2."""
    story = good()
    story.node("n2")
    for name in ("h", "k"):
        story.pod(f"{name}-0", name, 1)
    story.page("page-2", ["n2"], [entry("c3", row("k-0", "n2"))])
    story.bind("k-0", "n2", "c3", ALL)
    rows = [["g-0", "n0"], ["g-1", "n1"], ["k-0", "n2"]]
    story.relocation("h", "preemption", [["h-0", "n0"]], rows)
    story.evict("g-0", "g-1", "k-0")
    seat(story)
    (breach,) = evictions(story.history).breaches
    assert "ml/k made way on n2, and no seat is there" in breach


@pytest.mark.parametrize(("bound", "breaches"), [("g-1", 1), ("x", 0)])
def test_a_commit_goes_back_where_it_is_short_of_a_member(bound: str, breaches: int) -> None:
    """A commit goes back that holds g-0 and g-1, which both stand, or `x`, which waits."""
    story = good()
    story.pod("x", "g", 2)
    held = [row("g-0", "n0"), row(bound, "n1")]
    story.page("page-0", ["n0", "n1"], [entry("c9", *held, phase="RollingBack")])
    story.evict("g-0")
    assert outcome(story) == (0, 0, 1, breaches)


def test_an_eviction_that_nothing_names() -> None:
    """g-0 is evicted, which no record asks for, or not any more."""
    story = making_way()
    over(story)
    story.evict("g-0")
    (breach,) = evictions(story.history).breaches
    assert "ml/g-0 was evicted, and no relocation and no commit that goes back names" in breach


def test_who_did_not_live_needs_no_service() -> None:
    """g-0 is lost with its node, and nothing comes; others have deleted g-1 before we evict it."""
    story = good()
    story.relocation("g", "repair", [["g-0", "n1"]], [["g-0", "n0"]], lost=True)
    story.evict("g-0")
    over(story, "g")
    altered(story, "pods", "g-1", metadata={"deletionTimestamp": "x"})
    story.revision += 1
    story.evict("g-1")
    assert outcome(story) == (0, 0, 0, 0)


def test_a_relocation_that_cannot_be_read_is_told() -> None:
    """Its content is none, and so it names no one."""
    story = good()
    label = {"alloc.gpu.scheduling/record": "relocation"}
    story.put("leases", {"metadata": {"name": "relocation-x", "labels": label}, "spec": {}})
    (breach,) = evictions(story.history).breaches
    assert "relocation relocation-x cannot be read" in breach
