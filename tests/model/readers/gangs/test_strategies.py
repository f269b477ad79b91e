"""Which strategy a gang has: the one that it names, else by how its pods start."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.model.problems import BadInput
from fourleaf.model.readers import InputReading
from tests.model.readers.made import Body, config, job, node, owned, owner, pod, reading

STATED = "topology.scheduler/placement-strategy"


def strategies(found: InputReading) -> dict[str, str]:
    """Name of the gang -> its strategy."""
    return {gang.key.name: str(gang.strategy) for gang in found.snapshot.gangs}


def workloads() -> list[Body]:
    """Two pods of a Job that start together, two of a ReplicaSet, one of a Job, one alone."""
    one = job("single", parallelism=1, completions=1)
    return [
        job("train", parallelism=2, completions=2, completionMode="Indexed"),
        *(owned(pod(f"train-{i}"), "Job", "train") for i in (0, 1)),
        *(owned(pod(f"web-{i}"), "ReplicaSet", "web") for i in (0, 1)),
        one,
        owned(pod("single-x"), "Job", "single"),
        pod("alone"),
    ]


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ("consolidated", "distributed", "balanced")),
        (
            {"defaultStrategies": dict.fromkeys(("gangs", "replicas", "others"), "balanced")},
            ("balanced", "balanced", "balanced"),
        ),
        (
            {"strategies": {"thirds": {}}, "defaultStrategies": {"others": "thirds"}},
            ("consolidated", "distributed", "thirds"),
        ),
    ],
)
def test_how_pods_start_chooses(spec: dict[str, Any], expected: tuple[str, ...]) -> None:
    """Gangs, replicas and others have what the config says of each; that can be turned off."""
    found = strategies(reading(node(), config(**spec), *workloads()))
    gangs, replicas, others = expected
    assert found == {
        "train": gangs,
        "web-0": replicas,
        "web-1": replicas,
        "single-x": others,
        "alone": others,
    }


def test_replicas_know_their_owner() -> None:
    """Pods of a ReplicaSet have it, running ones too; members of a gang and others do not."""
    runs = owned(pod("web-9", nodeName="n"), "ReplicaSet", "web")
    found = reading(node(), runs, *workloads()).snapshot
    assert {gang.key.name: gang.owner for gang in found.gangs if gang.owner} == {
        "web-0": "ReplicaSet/web",
        "web-1": "ReplicaSet/web",
    }
    assert [one.owner for one in found.running] == ["ReplicaSet/web"]


def test_a_strategy_of_the_config_can_be_named() -> None:
    """What the config describes is a strategy; what it does not is refused, with those known."""
    mine = config(strategies={"thirds": {"mostPerNode": 0.34, "spread": 1}})
    named = pod("p", annotations={STATED: "thirds"})
    assert strategies(reading(node(), mine, named)) == {"p": "thirds"}
    with pytest.raises(BadInput) as raised:
        reading(node(), named)
    (problem,) = raised.value.problems
    assert problem.value == '"thirds"'
    assert "balanced" in str(problem.advice)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"strategies": {"x": {"factors": {"taste": 2}}}}, "taste"),
        ({"strategies": {"Big One": {}}}, "Big One"),
        (
            {
                "strategies": {
                    "x": {
                        "factors": dict.fromkeys(
                            (
                                "resourceAvailability",
                                "topologyAlignment",
                                "domainUtilization",
                                "historicalPerformance",
                            ),
                            0,
                        )
                    }
                }
            },
            "x",
        ),
        ({"strategies": {"x": {"mostPerNode": 2}}}, "mostPerNode"),
        ({"strategies": {"x": {"mostPerNode": "1e-99999999"}}}, "has more than 30 decimals"),
        ({"strategies": {"x": {"spread": "1e-31"}}}, "has more than 30 decimals"),
        ({"scoringWeights": {"topologyAlignment": "1e-31"}}, "has more than 30 decimals"),
        ({"strategies": 3}, "strategies"),
        ({"defaultStrategies": {"gangs": "taste"}}, "taste"),
    ],
)
def test_a_strategy_that_makes_no_sense_is_refused(spec: dict[str, Any], said: str) -> None:
    """With the field or the name that is wrong."""
    with pytest.raises(BadInput) as raised:
        reading(node(), config(**spec), owner("Deployment", "apps/v1", "d"))
    assert said in " ".join(f"{one.field} {one.value} {one}" for one in raised.value.problems)
