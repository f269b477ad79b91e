"""Each law holds in a good history and is broken by the smallest history that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.history.check import Expectations, check
from tests.history.made import Story, entry, evicting, good, row


def broken(story: Story, expected: Expectations | None = None) -> list[str]:
    """The laws that a history breaks."""
    verdict = check(story.history, expected or Expectations(bindings=0, commits=0))
    return [law for law, breaches in verdict.breaches.items() if breaches]


def test_a_good_history_keeps_every_law() -> None:
    """Two bound pods of one commit: nothing to say, and every law was asked."""
    verdict = check(good().history, Expectations(2, 1, 2, requests_per_pod=1))
    assert verdict.ok
    assert len(verdict.breaches) == 13
    assert (verdict.done.bindings, verdict.done.commits, verdict.done.holding) == (2, 1, 2)


def too_little(story: Story) -> None:
    """Nothing happens: see the expectations of the test that uses it."""


def device_twice(story: Story) -> None:
    """Two pods of 1 GPU on n2, both with device 0."""
    story.node("n2")
    for name in ("x", "y"):
        story.pod(name, gpus=1)
    story.page("page-2", ["n2"], [entry("c2", row("x", "n2"), row("y", "n2"))])
    for name in ("x", "y"):
        story.bind(name, "n2", "c2", "0")


def node_overfull(story: Story) -> None:
    """A pod of 8 GPUs on n0, where one of 8 runs; it names no devices."""
    story.pod("x")
    held = entry("c1", row("g-0", "n0"), row("g-1", "n1"))
    story.page("page-0", ["n0", "n1"], [held, entry("c2", row("x", "n0"))])
    story.bind("x", "n0", "c2")


def node_overfull_by_grants(story: Story) -> None:
    """A pod that asks for nothing has all 8 devices of n2, and one of 4 GPUs is bound there."""
    story.node("n2")
    story.pod("x", gpus=0)
    story.pod("y", gpus=4)
    story.page("page-2", ["n2"], [entry("c2", row("x", "n2"), row("y", "n2"))])
    story.bind("x", "n2", "c2", "0,1,2,3,4,5,6,7")
    story.bind("y", "n2", "c2")


def half_a_gang(story: Story) -> None:
    """A gang of two of which one is bound, for good."""
    story.node("n2")
    for i in range(2):
        story.pod(f"h-{i}", "h", 2)
    story.page("page-2", ["n2"], [entry("c2", row("h-0", "n2"))])
    story.bind("h-0", "n2", "c2")


def lower_epoch(story: Story) -> None:
    """A leader of epoch 2 writes a page, then one of epoch 1 does."""
    story.page("page-9", ["n9"], epoch=2)
    story.page("page-9", ["n9"], epoch=1)


def late_commit(story: Story) -> None:
    """A gang lease of epoch 1 is committed after its page was taken over by epoch 2."""
    held = entry("c1", row("g-0", "n0"), row("g-1", "n1"))
    story.gang_lease("gang-w", "w", "Prepared", [])
    story.page("page-0", ["n0", "n1"], [held], epoch=2)
    story.gang_lease("gang-w", "w", "Committed", [])
    story.gone("leases", "gang-w")


def given_up(story: Story) -> None:
    """Epoch 2 drops the entry of a pod, which is then bound for it, and written down after."""
    story.node("n2")
    story.pod("x")
    story.page("page-2", ["n2"], [entry("c2", row("x", "n2"))])
    story.page("page-2", ["n2"], epoch=2)
    story.bind("x", "n2", "c2")
    story.page("page-2", ["n2"], [entry("c3", row("x", "n2"))], epoch=2)


def no_record(story: Story) -> None:
    """A pod is bound and written down only after that."""
    story.node("n2")
    story.pod("x")
    story.bind("x", "n2", "c2")
    story.page("page-2", ["n2"], [entry("c2", row("x", "n2"))])


def only_prepared(story: Story) -> None:
    """A pod is bound while its gang lease is only prepared."""
    story.node("n2")
    story.pod("x")
    rows = [row("x", "n2")]
    story.gang_lease("gang-w", "w", "Prepared", rows)
    story.page("page-2", ["n2"], [entry("w", *rows, lease="gang-w")])
    story.bind("x", "n2", "w")
    story.gang_lease("gang-w", "w", "Committed", rows)
    story.page("page-2", ["n2"], [entry("w", *rows)])
    story.gone("leases", "gang-w")


def other_node(story: Story) -> None:
    """A pod is bound to another node than its entry says."""
    for name in ("n2", "n3"):
        story.node(name)
    story.pod("x")
    story.page("page-2", ["n2", "n3"], [entry("c2", row("x", "n2"))])
    story.bind("x", "n3", "c2")
    story.page("page-2", ["n2", "n3"], [entry("c3", row("x", "n3"))])


def fenced(story: Story) -> None:
    """A pod is bound for the commit that it has been fenced against."""
    story.node("n2")
    story.pod("x")
    story.page("page-2", ["n2"], [entry("c2", row("x", "n2"), phase="RollingBack")])
    story.change("x", fence="c2")
    story.bind("x", "n2", "c2")
    story.page("page-2", ["n2"], [entry("c3", row("x", "n2"))])


def deleted(story: Story) -> None:
    """We delete a pod, which is refused."""
    story.ask("delete", "pods", "g-0", code=403)


def evicted_by_name(story: Story) -> None:
    """We evict a pod without saying which of that name."""
    story.ask("create", "pods", "g-0", "eviction", 429, {"deleteOptions": {}})


def budget_broken(story: Story) -> None:
    """One of two ready pods is evicted though both are to stay."""
    goes_back(story, least=2)


def budget_closed_before(story: Story) -> None:
    """Both are to stay, by a budget that says so since before the eviction was asked for."""
    goes_back(story, least=0, closes=-0.25)


def budget_that_was_closed_already(story: Story) -> None:
    """Both are to stay, and did before others wrote the budget while the eviction was judged."""
    goes_back(story, least=2, closes=0.25)


def goes_back(story: Story, least: int | str, closes: float | None = None) -> None:
    """Of two ready pods, of which `least` are to stay, one is evicted: its commit goes back.

    The budget `closes` for both so many seconds after that is asked for, which takes half a second.
    """
    for name in ("x", "y"):
        story.pod(name, scheduler="other", app="x")
        story.change(name, ready=True)
    story.budget("both", least, app="x")
    story.page("page-2", ["n2"], [entry("c2", row("x", "n2"), phase="RollingBack")])
    story.ask("create", "pods", "x", "eviction", 201, evicting("x"))
    asked = story.requests[-1]
    if closes is not None:
        story.requests[-1] = replace(asked, answered=asked.received + 0.5)
        at = asked.received + closes
        story.ask("patch", "poddisruptionbudgets", "both", at=at, user="admin")
        story.budget("both", 2, app="x")
    story.gone("pods", "x")
    story.page("page-2", ["n2"])


def gap_between(story: Story) -> None:
    """A gang of 8 stands on leaves 0 and 2 of three leaves of four nodes."""
    nodes = [f"m{i}" for i in range(12)]
    stand(story, nodes, [*nodes[:4], *nodes[8:]])


def two_leaves_for_four(story: Story) -> None:
    """A gang of 4 stands on halves of two adjacent leaves."""
    nodes = [f"m{i}" for i in range(8)]
    stand(story, nodes, nodes[2:6])


def two_leaves_for_two(story: Story) -> None:
    """A gang of 2 stands on two leaves."""
    nodes = [f"m{i}" for i in range(8)]
    stand(story, nodes, nodes[3:5])


def five_in_the_middle(story: Story) -> None:
    """A gang of 5 leaves parts of both its leaves free."""
    nodes = [f"m{i}" for i in range(8)]
    stand(story, nodes, nodes[1:6])


def two_spines(story: Story) -> None:
    """A gang of 8 stands on adjacent leaves of two spines that each could hold it."""
    nodes = [f"m{i}" for i in range(16)]
    stand(story, nodes, nodes[4:12], per_spine=2)


def lease_left(story: Story) -> None:
    """A gang lease is there at rest."""
    story.gang_lease("gang-w", "w", "Prepared", [])


def entry_left(story: Story) -> None:
    """A pod ends, and its entry stays."""
    story.change("g-0", "Succeeded")


def unwritten(story: Story) -> None:
    """A pod of ours runs that no page knows of."""
    story.node("n2")
    story.pod("x")
    story.bind("x", "n2")


def unreadable(story: Story) -> None:
    """A Lease of ours makes no sense."""
    label = {"alloc.gpu.scheduling/record": "page"}
    story.put("leases", {"metadata": {"name": "page-x", "labels": label}, "spec": {}})


def hot_loop(story: Story) -> None:
    """The same binding fails 13 times within a second."""
    for i in range(13):
        story.ask("create", "pods", "g-0", "binding", 409, at=i / 13)


def endless_loop(story: Story) -> None:
    """The same binding fails 301 times, slowly."""
    for i in range(301):
        story.ask("create", "pods", "g-0", "binding", 409, at=float(i))


def stand(story: Story, nodes: list[str], used: list[str], per_spine: int = 8) -> None:
    """A gang of whole nodes on `used` of `nodes`, on leaves of four and spines of so many."""
    for i, name in enumerate(nodes):
        story.node(name, f"rack-{i // 4}", f"row-{i // 4 // per_spine}")
    rows = [row(f"t-{i}", node) for i, node in enumerate(used)]
    for i in range(len(used)):
        story.pod(f"t-{i}", "t", len(used))
    story.page("page-t", nodes, [entry("ct", *rows)])
    for i, node in enumerate(used):
        story.bind(f"t-{i}", node, "ct")


@pytest.mark.parametrize(
    ("happens", "law"),
    [
        (device_twice, "one device, one pod"),
        (node_overfull, "no more GPUs than a node has"),
        (node_overfull_by_grants, "no more GPUs than a node has"),
        (half_a_gang, "a whole gang or none of it"),
        (lower_epoch, "nothing by a fenced epoch"),
        (late_commit, "nothing by a fenced epoch"),
        (no_record, "a binding has its record"),
        (only_prepared, "a binding has its record"),
        (other_node, "a binding has its record"),
        (fenced, "a binding has its record"),
        (deleted, "no deletes, and evictions by UID"),
        (evicted_by_name, "no deletes, and evictions by UID"),
        (budget_broken, "disruption budgets are kept"),
        (budget_closed_before, "disruption budgets are kept"),
        (budget_that_was_closed_already, "disruption budgets are kept"),
        (gap_between, "the right leaves"),
        (two_leaves_for_four, "the right leaves"),
        (two_leaves_for_two, "the right leaves"),
        (five_in_the_middle, "the right leaves"),
        (two_spines, "the right leaves"),
        (lease_left, "nothing leaks"),
        (entry_left, "nothing leaks"),
        (unwritten, "nothing leaks"),
        (unreadable, "nothing leaks"),
        (hot_loop, "no hot loops"),
        (endless_loop, "no hot loops"),
    ],
)
def test_what_breaks_a_law_breaks_that_one_alone(
    happens: Callable[[Story], None], law: str
) -> None:
    """The good history with one thing more, as its docstring says."""
    story = good()
    happens(story)
    assert broken(story) == [law]


def test_a_binding_for_what_a_later_epoch_gave_up_breaks_two_laws() -> None:
    """No record named it any more, and a higher epoch had seen to that."""
    story = good()
    given_up(story)
    assert broken(story) == ["nothing by a fenced epoch", "a binding has its record"]


def test_a_relocation_beside_does_not_change_what_epochs_say() -> None:
    """One stands while a gang lease is given up, and while a pod is bound that no page names."""
    story = good()
    story.relocation("h", "preemption", [["h-0", "n0"]], [["v", "n0"]])
    story.gang_lease("gang-late", "late", "Prepared", [])
    story.gone("leases", "gang-late")
    given_up(story)
    story.gone("leases", "relocation-h")
    assert broken(story) == ["nothing by a fenced epoch", "a binding has its record"]


@pytest.mark.parametrize(
    "expected",
    [Expectations(bindings=3), Expectations(commits=2), Expectations(holding=3)],
    ids=["bindings", "commits", "holding"],
)
def test_too_little_work_is_a_breach(expected: Expectations) -> None:
    """Two bindings of one commit, two pods that hold: one more of each is not there."""
    assert broken(good(), expected) == ["enough work"]


def test_bindings_that_the_audit_log_does_not_show_are_a_breach() -> None:
    """Pods got bound, and nobody is known to have asked: the log is of another run."""
    story = good()
    story.requests.clear()
    assert broken(story) == ["enough work"]


def test_too_many_requests_a_pod_are_a_breach() -> None:
    """Five gets more than the two bindings make 3.5 requests a pod; lists are not counted."""
    story = good()
    for _ in range(5):
        story.ask("get", "pods", "g-0")
        story.ask("list", "pods", "")
    least = Expectations(0, 0, requests_per_pod=3.5)
    assert broken(story, least) == []
    assert broken(story, Expectations(0, 0, requests_per_pod=3.4)) == ["few requests a pod"]
