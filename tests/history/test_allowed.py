"""What looks like a breach and is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.history.check import Expectations, check
from tests.history.made import Story, entry, good, row
from tests.history.test_laws import goes_back, stand


def taken_over_after_its_end(story: Story) -> None:
    """A device and a node's GPUs are given again after their pod has ended."""
    story.change("g-0", "Succeeded")
    story.pod("x")
    story.page("page-0", ["n0", "n1"], [entry("c1", row("g-1", "n1")), entry("c2", row("x", "n0"))])
    story.bind("x", "n0", "c2", "0,1,2,3,4,5,6,7")


def foreign_pod_at_the_last_moment(story: Story) -> None:
    """Somebody binds a pod of 8 GPUs a second before we bind another one there."""
    story.node("n2")
    story.pod("x")
    story.page("page-2", ["n2"], [entry("c2", row("x", "n2"))])
    story.pod("f", scheduler="other")
    story.bind("f", "n2")
    story.bind("x", "n2", "c2")


def a_replacement_waits(story: Story) -> None:
    """One of a gang that was whole is deleted, and the pod in its place waits."""
    story.gone("pods", "g-0")
    story.page("page-0", ["n0", "n1"], [entry("c1", row("g-1", "n1"))])
    story.pod("g-2", "g", 2)


def one_ended_before_the_other_began(story: Story) -> None:
    """A member has run to its end before the last one is bound: the gang was whole."""
    story.node("n2")
    story.node("n3")
    for i in range(2):
        story.pod(f"h-{i}", "h", 2)
    held = [row("h-0", "n2"), row("h-1", "n3")]
    story.page("page-2", ["n2", "n3"], [entry("c2", *held)])
    story.bind("h-0", "n2", "c2")
    story.change("h-0", "Succeeded")
    story.bind("h-1", "n3", "c2")
    story.page("page-2", ["n2", "n3"], [entry("c2", held[1])])


def bound_by_the_heir(story: Story) -> None:
    """Epoch 2 takes a page over with its entry, and the member is bound after that."""
    story.node("n2")
    story.pod("x")
    for epoch in (1, 2):
        story.page("page-2", ["n2"], [entry("c2", row("x", "n2"))], epoch)
    story.bind("x", "n2", "c2")


def bound_for_a_gang_lease(story: Story) -> None:
    """The gang lease is committed and names the pod; then page and lease are settled."""
    story.node("n2")
    story.pod("x")
    rows = [row("x", "n2")]
    story.gang_lease("gang-w", "w", "Prepared", rows)
    story.page("page-2", ["n2"], [entry("w", *rows, lease="gang-w")])
    story.gang_lease("gang-w", "w", "Committed", rows)
    story.bind("x", "n2", "w")
    story.page("page-2", ["n2"], [entry("w", *rows)])
    story.gone("leases", "gang-w")


def evicted_within_the_budget(story: Story) -> None:
    """One of two ready pods is evicted, and one is to stay."""
    goes_back(story, least="50%")


def evicted_while_the_budget_was_closed(story: Story) -> None:
    """Both are to stay, by a budget that says so since the eviction was asked for."""
    goes_back(story, least=0, closes=0.25)


def a_leaf_with_a_cordoned_node(story: Story) -> None:
    """A gang of 7 takes two leaves, of which one node was cordoned before."""
    nodes = [f"m{i}" for i in range(8)]
    for i, name in enumerate(nodes):
        story.node(name, f"rack-{i // 4}", "row-0")
    story.cordon("m2")
    used = [name for name in nodes if name != "m2"]
    rows = [row(f"t-{i}", node) for i, node in enumerate(used)]
    for i in range(7):
        story.pod(f"t-{i}", "t", 7)
    story.page("page-t", nodes, [entry("ct", *rows)])
    for i, node in enumerate(used):
        story.bind(f"t-{i}", node, "ct")


def five_with_one_next_door(story: Story) -> None:
    """A gang of 5 takes a complete leaf and one node of the next, after leaf 9 comes leaf 10."""
    nodes = [f"m{i}" for i in range(44)]
    stand(story, nodes, nodes[36:41], per_spine=11)


def six_of_eight(story: Story) -> None:
    """A commit of 8 on two leaves; two members, one of each leaf, go away before they are bound."""
    nodes = [f"m{i}" for i in range(8)]
    for i, name in enumerate(nodes):
        story.node(name, f"rack-{i // 4}", "row-0")
    for i in range(8):
        story.pod(f"t-{i}", "t", 6)
    rows = [row(f"t-{i}", node) for i, node in enumerate(nodes)]
    story.page("page-t", nodes, [entry("ct", *rows)])
    for gone in ("t-0", "t-7"):
        story.gone("pods", gone)
    for i in range(1, 7):
        story.bind(f"t-{i}", nodes[i], "ct")
    story.page("page-t", nodes, [entry("ct", *rows[1:7])])


def twelve_failures_a_second(story: Story) -> None:
    """As many as are allowed: twelve in 0.99 s, the thirteenth at 1.08 s."""
    for i in range(24):
        story.ask("create", "pods", "g-0", "binding", 409, at=i * 0.09)


@pytest.mark.parametrize(
    "happens",
    [
        taken_over_after_its_end,
        foreign_pod_at_the_last_moment,
        a_replacement_waits,
        one_ended_before_the_other_began,
        bound_by_the_heir,
        bound_for_a_gang_lease,
        evicted_within_the_budget,
        evicted_while_the_budget_was_closed,
        a_leaf_with_a_cordoned_node,
        five_with_one_next_door,
        six_of_eight,
        twelve_failures_a_second,
    ],
)
def test_no_law_is_broken(happens: Callable[[Story], None]) -> None:
    """The good history with one thing more, as its docstring says."""
    story = good()
    happens(story)
    verdict = check(story.history, Expectations())
    assert verdict.ok, "\n".join(verdict.lines())
