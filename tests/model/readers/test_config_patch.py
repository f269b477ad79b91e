"""A config and what a change makes of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from fourleaf.model.config.spec import SchedulerConfig
from fourleaf.model.problems import BadInput
from fourleaf.model.readers import Source
from fourleaf.model.readers.config_patch import differences, patched

BASE = SchedulerConfig.model_validate(
    {"spec": {"scoringWeights": {"topologyAlignment": 2}, "batch": {"size": 7}}}
)
HALF = Decimal("0.5")


def changed(document: Any) -> SchedulerConfig:
    """`BASE` after the change."""
    return patched(BASE, Source("change.yaml", objects=[document]))


@pytest.mark.parametrize(
    ("document", "weights", "size"),
    [
        ({"domainUtilization": 1}, {"topologyAlignment": 2, "domainUtilization": 1}, 7),
        (
            {"scoringWeights": {"topologyAlignment": "0.5"}},
            {"topologyAlignment": Decimal("0.5")},
            7,
        ),
        ({"spec": {"batch": {"size": 9}}}, {"topologyAlignment": 2}, 9),
        ({"batch": {"size": None}}, {"topologyAlignment": 2}, 500),
        ({"topologyAlignment": None, "x": 1}, {"x": 1}, 7),
        (
            {
                "apiVersion": "topology.scheduler/v1alpha1",
                "kind": "SchedulerConfig",
                "spec": {"scoringWeights": {"x": 1}},
            },
            {"x": 1},
            500,
        ),
        (
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": "topology-scheduler-config"},
                "data": {
                    "config": "apiVersion: topology.scheduler/v1alpha1\n"
                    "kind: SchedulerConfig\nspec: {batch: {size: 3}}\n"
                },
            },
            dict(SchedulerConfig().spec.scoring_weights),
            3,
        ),
    ],
    ids=["weights", "section", "spec", "null", "weight-null", "manifest", "config-map"],
)
def test_what_a_change_means(document: Any, weights: dict[str, Any], size: int) -> None:
    """Parts are merged, null gives the default back, a manifest stands in place of all."""
    spec = changed(document).spec
    assert dict(spec.scoring_weights) == weights
    assert spec.batch.size == size


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"kind": "Pod"}, 'kind = "Pod": is no SchedulerConfig'),
        ({"kind": "ConfigMap", "metadata": {"name": "other"}}, "is no SchedulerConfig"),
        ({"domainUtilization": -1}, "spec.scoringWeights.domainUtilization = -1"),
        ({"batch": {"sise": 1}}, "spec.batch.sise"),
        ({"topologyAlignment": None}, "scoringWeights needs at least one weight above zero"),
        ([1], "is no mapping"),
        ({}, "is no mapping"),
    ],
)
def test_what_is_no_change(document: Any, said: str) -> None:
    """It is refused with the file, the field, the value and advice."""
    with pytest.raises(BadInput) as bad:
        changed(document)
    assert str(bad.value).startswith("error: change.yaml")
    assert said in str(bad.value)
    assert all(problem.advice for problem in bad.value.problems)


def test_several_documents_are_refused() -> None:
    """One change at a time."""
    with pytest.raises(BadInput, match="holds 2 documents"):
        patched(BASE, Source("change.yaml", b"a: 1\n---\nb: 2\n"))


def test_differences_are_named_by_field() -> None:
    """Only what differs, also what only one side states."""
    assert list(differences(BASE, BASE)) == []
    after = changed({"scoringWeights": {"x": 1}, "batch": {"size": 9}})
    assert list(differences(BASE, after)) == [
        ("spec.scoringWeights.x", None, "1"),
        ("spec.batch.size", 7, 9),
    ]
