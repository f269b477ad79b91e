"""The ConfigMap of the config: what is refused before it is stored."""

from __future__ import annotations

from typing import Any

import pytest

from tests.webhook.made import Body, decided, review

HEAD = "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\nspec:\n"
DEFAULTS = f"{HEAD}  batch: {{size: 7}}\n"
OVER = f"{HEAD}  batch: {{size: 9}}\n"
BAD = f"{HEAD}  batch: {{size: none}}\n"


def response(
    data: dict[str, str],
    before: dict[str, str] | None = None,
    manager: str = "kubectl-edit",
    name: str = "topology-scheduler-config",
) -> Body:
    """What is answered to a ConfigMap of that name, or to its update."""

    def config_map(held: dict[str, str]) -> Body:
        metadata = {"name": name, "namespace": "own"}
        return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": held}

    old = None if before is None else config_map(before)
    document = review(config_map(data), old, resource="configmaps")
    document["request"]["options"]["fieldManager"] = manager
    found: Body = decided(document).answer["response"]
    return found


def fields(found: Body) -> Any:
    """The fields for which it is refused."""
    return [one["field"] for one in found["status"]["details"]["causes"]]


def test_a_wrong_config_is_refused_by_field() -> None:
    """Over the defaults of the chart too; a ConfigMap of another name is not looked at."""
    assert fields(response({"config.yaml": BAD})) == ["spec.batch.size"]
    both = {"defaults.yaml": DEFAULTS, "config.yaml": BAD}
    assert fields(response(both)) == ["spec.batch.size"]
    assert response({"config.yaml": BAD}, name="of-another-program")["allowed"]
    # What was wrong before can be labelled and annotated.
    assert response({"config.yaml": BAD}, {"config.yaml": BAD})["allowed"]


@pytest.mark.parametrize(
    ("manager", "allowed"), [("kubectl-edit", False), ("kubectl-patch", False), ("helm", True)]
)
def test_the_defaults_are_for_the_chart_to_change(manager: str, allowed: bool) -> None:
    """By hand, what differs goes under another key, and the advice says so."""
    before = {"defaults.yaml": DEFAULTS}
    found = response({"defaults.yaml": DEFAULTS.replace("7", "8")}, before, manager)
    assert found["allowed"] is allowed
    if not allowed:
        assert fields(found) == ["data[defaults.yaml]"]
        assert "Put what differs under config.yaml" in found["status"]["message"]
    assert response({**before, "config.yaml": OVER}, before, manager)["allowed"]
