"""The first page: what it says of a cluster made by hand."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.dashboard.cycles import CyclesView
from fourleaf.dashboard.past.recent_changes import RecentChanges
from fourleaf.dashboard.sources.source import ClusterMoment
from fourleaf.dashboard.views.overview import OTHERS, OverviewView, overview_view, team_lines
from fourleaf.dashboard.views.queue import queue_view
from fourleaf.k8s_bridge.reporting.namespace_use import NamespaceUse
from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.fabric import Leaf
from fourleaf.model.gang import Gang, GangKey, Hold, Role
from fourleaf.model.problems import Problem, Severity
from fourleaf.model.resources import Resources
from tests.dashboard.made import moment, node, runs

LEAVES = [Leaf("l0", "s0", (node("a"), node("b", ready=False), node("c", cordoned=True)))]


def gang(name: str, created: float, hold: Hold | None = None) -> Gang:
    """A gang of one pod of 8 GPUs."""
    return Gang(
        GangKey("ml", name), (Role((f"{name}-0",), Resources(gpus=8)),), created=created, hold=hold
    )


def looked(
    look: ClusterMoment, live: bool = True, cycles: CyclesView | None = None
) -> OverviewView:
    """The first page of `look`."""
    return overview_view(look, live, queue_view(look, {}, 0), RecentChanges(), cycles)


def test_the_longest_wait_comes_first_and_what_waits_for_itself_last() -> None:
    """At 1000 s: old waits for 900 s, young for 100; held is oldest, by its own fault."""
    held = gang("held", 0.0, Hold("Gated", "is gated"))
    view = looked(moment(LEAVES, gangs=[gang("young", 900.0), held, gang("old", 100.0)]))
    told = [(one.name, one.waited_seconds) for one in view.waits]
    assert told == [("old", 900), ("young", 100), ("held", 1000)]


def test_teams_with_their_quota() -> None:
    """Ml uses 8 of 16 GPUs and waits for 8; a team with a quota and nothing else is told too."""
    spec = {"namespaces": {"ml": {"gpuQuota": 16}, "vision": {"gpuQuota": 4}, "*": {}}}
    config = SchedulerConfig.model_validate({"spec": spec})
    look = moment(LEAVES, [runs("p", "a", 8, "g")], [gang("w", 400.0)])
    look = replace(look, snapshot=replace(look.snapshot, config=config))
    lines = [
        (one.namespace, one.used, one.quota, one.waiting_gpus, one.longest_wait_seconds)
        for one in looked(look).teams
    ]
    assert lines == [("ml", 8, 16, 8, 600), ("vision", 0, 4, 0, 0)]


def test_many_teams_are_bounded() -> None:
    """Of 250 namespaces 200 have a line, and one sums up the others."""
    lines = team_lines({f"n{i:03}": NamespaceUse(used_gpus=1000 - i) for i in range(250)})
    assert len(lines) == 201
    assert (lines[-1].namespace, lines[-1].used) == (OTHERS, sum(1000 - i for i in range(200, 250)))


def test_what_is_unwell() -> None:
    """A node that is lost, a scheduler that is silent for 900 s, a leaf in doubt; a cordon last."""
    doubt = Problem(Severity.ERROR, "config in force", "", "spec.topology", "x", "is odd", "Do it.")
    look = replace(moment(LEAVES, gangs=[gang("old", 100.0)]), problems=(doubt,))
    lines = looked(look).unwell
    assert [(one.text, one.nodes, one.grave) for one in lines] == [
        (
            "The scheduler is late: it has said nothing yet of 1 gang, "
            "the oldest of which waits for 900 s",
            (),
            True,
        ),
        ("1 node is not ready", ("b",), True),
        ("config in force spec.topology x: is odd", (), True),
        ("1 node is cordoned", ("c",), False),
    ]
    assert not [one for one in looked(look, live=False).unwell if "late" in one.text]
    hit = moment(LEAVES, [runs("p", "b", 8, "g"), runs("q", "a", 8, "h")])
    (lost, _) = looked(hit).unwell
    assert lost.advice == "Pods there are of ml/g: see `fourleaf why GANG`."


def test_a_scheduler_that_does_not_answer_or_lead_is_unwell() -> None:
    """Where it is asked at all."""
    look = moment([Leaf("l0", "s0", (node("a"),))])
    silent = CyclesView(source="", leader=False, cycles=(), unknown=("http://x does not answer",))
    (line,) = looked(look, cycles=silent).unwell
    assert line.text == "The scheduler does not tell of its cycles: http://x does not answer"
    follower = CyclesView(source="r-1", leader=False, cycles=(), unknown=())
    (line,) = looked(look, cycles=follower).unwell
    assert line.text == "No replica of the scheduler that was asked leads."
    assert (
        looked(look, cycles=CyclesView(source="r", leader=True, cycles=(), unknown=())).unwell == ()
    )
