"""Names of other tenants stay out of what one tenant reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fourleaf.k8s_bridge.reporting.after_cycle import after_cycle
from fourleaf.k8s_bridge.reporting.cycle_facts import Reported
from fourleaf.k8s_bridge.reporting.other_namespaces import without_others
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import RunningPod
from tests import small
from tests.k8s_bridge.reporting.made import events, facts, pod, statuses

SPACES = frozenset({"ml", "ops", "leaf-1"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n1 held by ops/web-0", "n1 held by a gang of another namespace"),
        ("it starts when ml/own and ops/web end", "it starts when ml/own and a gang of another "
         "namespace end"),
        ("when ops/a, ops/b and 1 more end", "when 2 gangs of other namespaces and 1 more end"),
        ("held by ops/a, ops/b and ops/c", "held by 3 gangs of other namespaces"),
        ("where gang ops/web stands", "where a gang of another namespace stands"),
        ("asks for nvidia.com/gpu, taint ops.io/x=1", "asks for nvidia.com/gpu, taint ops.io/x=1"),
        ("nothing/here is a namespace", "nothing/here is a namespace"),
        ("1/ops/web", "1/ops/web"),
        ("ops/web.", "a gang of another namespace."),
        ("(n1 held by ops/Acme_Deal:2@gang).", "(n1 held by a gang of another namespace)."),
        ("when ops/Ünter-nehmen, ops/a/b end", "when 2 gangs of other namespaces end"),
    ],
)  # fmt: skip
def test_gangs_and_pods_of_other_namespaces_are_not_named(text: str, said: str) -> None:
    """Resources, taints and names of one's own stay."""
    assert without_others(text, "ml", SPACES) == said


REASON = Reason(
    ReasonKind.NO_FREE_CAPACITY,
    near=(NearMiss("a", 1, 2, holders=(("a0", "ops/web-0"),)),),
    unblock=("it starts when ops/web ends",),
)


@pytest.mark.parametrize(("setting", "named"), [("hidden", False), ("named", True)])
def test_a_condition_names_others_where_the_config_lets_it(setting: str, named: bool) -> None:
    """Condition and event say who holds the node, or that another namespace does."""
    now = facts([small.gang("g", 1)], [pod("g-0-0")], reasons=[REASON])
    running = (RunningPod("ops", "web-0", "a0", Resources(gpus=8)),)
    config = small.config(messages={"otherNamespaces": setting})
    snapshot = replace(now.snapshot, running=running, config=config)
    news = after_cycle(Reported(), replace(now, snapshot=snapshot)).outgoing
    (condition,) = (one.status["conditions"][-1] for one in statuses(news))
    (event,) = events(news)
    for text in (condition["message"], event.note):
        assert ("ops/web" in text) is named
        assert ("another namespace" in text) is not named


def test_a_condition_follows_what_it_may_name() -> None:
    """One answer: told while nothing runs in the other namespace, then with it, then `named`."""
    now = facts([small.gang("g", 1)], [pod("g-0-0")], reasons=[REASON])
    running = (RunningPod("ops", "web-0", "a0", Resources(gpus=8)),)
    hidden = replace(now.snapshot, running=running)
    named = replace(hidden, config=small.config(messages={"otherNamespaces": "named"}))
    reported, said = Reported(), []
    for number, snapshot in enumerate((now.snapshot, hidden, named)):
        moment = now.now + number * 61
        told = after_cycle(reported, replace(now, snapshot=snapshot, now=moment))
        reported = told.reported
        (condition,) = (one.status["conditions"][-1] for one in statuses(told.outgoing))
        said.append("ops/web" in condition["message"])
    assert said == [True, False, True]
