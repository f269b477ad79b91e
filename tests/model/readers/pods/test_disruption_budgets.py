"""PodDisruptionBudgets: which pods they count, and how many of these may go now."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods import disruption_budgets as module
from fourleaf.model.readers.pods.disruption_budgets import BUDGET, budget_limits, read_budget
from fourleaf.model.reasons.text import WAIT_BESIDE
from fourleaf.model.running_gang import EvictionLimit, forbidden_by

Body = dict[str, Any]


def budget(name: str = "x", allowed: int = 1, space: str = "ml", **fields: Any) -> Manifest:
    """A budget over the pods of app a, as its controller has seen it last."""
    status = {"observedGeneration": 1, "disruptionsAllowed": allowed} | fields.pop("status", {})
    spec = {"selector": {"matchLabels": {"app": "a"}}} | fields
    body = {"metadata": {"generation": 1}, "spec": spec, "status": status}
    return Manifest(Report(), "test", *BUDGET, space, name, body)


def pod(app: str = "a", ready: str = "True", phase: str = "Running", **metadata: Any) -> Body:
    """A pod of that app."""
    conditions = [{"type": "Ready", "status": ready}]
    status = {"phase": phase, "conditions": conditions}
    return {"metadata": {"labels": {"app": app}} | metadata, "status": status}


def limits(*budgets: Manifest, **pods: Body) -> tuple[EvictionLimit, ...]:
    """What the budgets say of pods of the namespace ml."""
    return budget_limits(map(read_budget, budgets), ((("ml", at), one) for at, one in pods.items()))


def test_the_pods_that_a_budget_counts() -> None:
    """Of app a and of its namespace; it says how many more of them may go."""
    (found,) = limits(budget(), budget("other", space="web"), one=pod(), two=pod(), b=pod("b"))
    assert found.pods == {("ml", "one"), ("ml", "two")}
    assert str(found) == "disruption budget ml/x lets 1 go"


def test_a_status_older_than_the_spec_lets_no_pod_go() -> None:
    """The spec was changed since, or there is no status: healthy pods stay until it is known."""
    old = budget(status={"observedGeneration": 0, "disruptionsAllowed": 9})
    new = budget()
    del new.body["status"]
    assert [limits(one, p=pod())[0].most for one in (old, new)] == [0, 0]


NO_SCALE = "jobs.batch does not implement the scale subresource"


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        (
            {"maxUnavailable": 1},
            "state minAvailable of ml/x as a number of pods, not maxUnavailable: its controller "
            f"cannot count its pods ({NO_SCALE})",
        ),
        (
            {"minAvailable": "50%"},
            "state minAvailable of ml/x as a number of pods, not 50%: its controller cannot count "
            f"its pods ({NO_SCALE})",
        ),
        ({"minAvailable": 3}, f"mend ml/x: its controller cannot count its pods ({NO_SCALE})"),
    ],
)
def test_a_budget_that_its_controller_cannot_count(spec: dict[str, Any], advice: str) -> None:
    """It lets no pod of a Job go whatever number it is raised to: what counts them is advised."""
    condition = {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "SyncFailed",
        "message": NO_SCALE,
    }
    (found,) = limits(budget(allowed=0, status={"conditions": [condition]}, **spec), p=pod())
    assert (found.most, found.advice) == (0, advice)
    assert forbidden_by([found], must_go=True).unblock == (advice,)
    assert forbidden_by([found]).unblock == (advice, WAIT_BESIDE)
    enough = condition | {"reason": "InsufficientPods"}
    (found,) = limits(budget(allowed=0, status={"conditions": [enough]}, **spec), p=pod())
    assert (found.most, found.advice) == (0, "")


def test_two_budgets_for_one_pod() -> None:
    """The API evicts it never; the pods of one budget alone are counted by that."""
    wide = budget("wide", 5, selector={})
    found = {one.who: (one.pods, one.most) for one in limits(budget(), wide, p=pod(), q=pod("b"))}
    assert found == {
        "disruption budget ml/wide": ({("ml", "q")}, 5),
        "disruption budget ml/wide beside ml/x": ({("ml", "p")}, 0),
    }
    (advice,) = {one.advice for one in limits(budget(), wide, p=pod())}
    assert advice.startswith("have but one of ml/wide and ml/x pick the pod")


def test_pods_that_no_budget_holds() -> None:
    """The API evicts at once what has not started, has ended, or is being deleted."""
    ends = pod(deletionTimestamp="2026-01-01T00:00:00Z")
    phases = ("Pending", "Succeeded", "Failed")
    assert not limits(budget(), e=ends, **{one.lower(): pod(phase=one) for one in phases})


def test_pods_that_are_not_ready() -> None:
    """They go uncounted where the policy says so, or enough others are healthy; else they count."""
    sick = pod(ready="False")
    assert limits(budget(allowed=0), p=sick)[0].most == 0
    assert not limits(budget(allowed=0, unhealthyPodEvictionPolicy="AlwaysAllow"), p=sick)
    healthy = {"currentHealthy": 3, "desiredHealthy": 3}
    assert not limits(budget(allowed=0, status=healthy), p=sick)
    assert limits(budget(allowed=0, status=healthy), p=pod())[0].most == 0
    stale = healthy | {"observedGeneration": 0}
    assert limits(budget(allowed=0, status=stale), p=sick)[0].most == 0


def test_a_budget_without_a_selector_counts_none() -> None:
    """So has the API it."""
    assert not limits(budget(selector=None), p=pod())


def test_a_budget_of_a_very_long_selector_holds_all_pods_of_its_namespace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 101 values none is read, and it picks pods of other apps too; of 100 it picks its own."""

    def over(values: int, **labels: str) -> Manifest:
        expression = {"key": "app", "operator": "In", "values": [f"v{i}" for i in range(values)]}
        return budget(selector={"matchExpressions": [expression], "matchLabels": labels})

    pods = {"own": pod("v1"), "other": pod("b")}
    assert [one.pods for one in limits(over(99), **pods)] == [{("ml", "own")}]
    assert not limits(over(98, tier="x"), **pods)
    read = []
    monkeypatch.setattr(module, "read_selector", lambda *given: read.append(given))
    for long in (
        over(100),
        over(99, tier="x"),
        budget(selector={"matchLabels": dict.fromkeys(map(str, range(101)), "x")}),
    ):
        (found,) = limits(long, **pods)
        assert (found.pods, found.most, read) == ({("ml", "own"), ("ml", "other")}, 1, [])


def test_thousands_of_budgets_protect_and_cost_little() -> None:
    """Of more than are asked for one pod, none is: the pod stays, and others are not concerned."""
    asked: list[int] = []

    class Counting(module.LabelSelector):
        def picks(self, labels: Any) -> bool:
            asked.append(1)
            return super().picks(labels)

    many = [read_budget(budget(f"x{i}")) for i in range(2000)]
    selector = Counting((("app", "a"),))
    many = [module.DisruptionBudget(one.namespace, one.name, selector, 1, False) for one in many]
    pods = {("ml", f"p{i}"): pod() for i in range(50)}
    (found,) = budget_limits(many, pods.items())
    assert (len(found.pods), found.most, len(asked)) == (50, 0, 0)
