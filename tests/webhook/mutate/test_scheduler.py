"""Which pods are given our scheduler where a namespace asks for it."""

from __future__ import annotations

from typing import Any

import pytest

from fourleaf.webhook.decide import Route
from tests.webhook.made import ORDERED, OURS, Body, patched, pod


def made(name: str | None, gpus: int = 1, **spec: Any) -> Body:
    """A pod as the door for such namespaces leaves it."""
    body = pod(gpus=gpus, **spec)
    del body["spec"]["containers"][0]["env"]
    if name is None:
        del body["spec"]["schedulerName"]
    else:
        body["spec"]["schedulerName"] = name
    return patched(body, Route.MUTATE_DEFAULT)


@pytest.mark.parametrize("name", [None, "", "default-scheduler"])
def test_a_pod_with_gpus_that_names_none(name: str | None) -> None:
    """It gets the first of our names, and its containers are told their devices at once."""
    spec = made(name)["spec"]
    assert spec["schedulerName"] == "topology-aware-scheduler"
    assert spec["containers"][0]["env"] == [OURS, ORDERED]


def test_a_choice_is_respected() -> None:
    """Another scheduler stays, and so does our other name."""
    assert made("volcano")["spec"]["schedulerName"] == "volcano"
    assert made("gpu-scheduler")["spec"]["schedulerName"] == "gpu-scheduler"


def test_pods_without_gpus_and_placed_pods_stay() -> None:
    """They are none of our business."""
    assert made("default-scheduler", gpus=0)["spec"]["schedulerName"] == "default-scheduler"
    placed = made("default-scheduler", nodeName="n1")
    assert placed["spec"]["schedulerName"] == "default-scheduler"
