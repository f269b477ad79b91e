"""Every container of a pod of ours is told its devices, once."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourleaf.model.config.spec import Spec
from fourleaf.webhook.decide import Route
from fourleaf.webhook.settings import Settings
from tests.webhook.made import ORDERED, OURS, Body, applied, causes, decided, patched, pod, review

NAMES = ["main", "a", "b", "CUDA"]
ENTRIES = st.sampled_from(
    [
        OURS,
        {"name": "CUDA_VISIBLE_DEVICES", "value": "0"},
        {"name": "OTHER", "value": "1"},
        {"name": "REFERS", "value": "$(CUDA_VISIBLE_DEVICES)"},
    ]
)
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(NAMES)}, optional={"env": st.lists(ENTRIES, max_size=3)}
    ),
    max_size=3,
)


@given(
    st.sampled_from(["gpu-scheduler", "topology-aware-scheduler", "another"]),
    CONTAINERS,
    CONTAINERS,
)
def test_a_second_time_changes_nothing(scheduler: str, main: list[Body], init: list[Body]) -> None:
    """Each container of a pod of ours has the variable after one mutation, and keeps the rest."""
    spec = {"schedulerName": scheduler, "containers": main, "initContainers": init}
    body = {**pod(), "spec": spec}
    once = patched(body)
    assert "patch" not in decided(review(once), Route.MUTATE).answer["response"]
    if scheduler == "another":
        assert once == body
        return
    for kind in ("containers", "initContainers"):
        for before, after in zip(body["spec"][kind], once["spec"][kind], strict=True):
            old, new = before.get("env", []), after["env"]
            assert new[len(new) - len(old) :] == old
            assert [one for one in new if one not in old] == [
                told for told in (OURS, ORDERED) if told["name"] not in {o["name"] for o in old}
            ]
            assert {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"} <= {one["name"] for one in new}


def test_the_variable_stands_first_and_the_rest_stays() -> None:
    """Other variables may refer to it, so it comes before them."""
    body = pod()
    refers = {"name": "REFERS", "value": "$(CUDA_VISIBLE_DEVICES)"}
    body["spec"]["containers"] = [{"name": "main", "env": [refers]}, {"name": "side"}]
    made = patched(body)
    assert made["spec"]["containers"] == [
        {"name": "main", "env": [OURS, ORDERED, refers]},
        {"name": "side", "env": [OURS, ORDERED]},
    ]


def test_what_is_right_gets_no_patch() -> None:
    """Also in the short form that a person would write."""
    body = pod()
    body["spec"]["containers"][0]["env"] = [
        {
            "name": "CUDA_VISIBLE_DEVICES",
            "valueFrom": {"fieldRef": {"fieldPath": OURS["valueFrom"]["fieldRef"]["fieldPath"]}},
        },
        ORDERED,
    ]
    assert decided(review(body), Route.MUTATE).result == "allowed"
    assert causes(body) == {}


def test_a_pod_without_gpus_is_told_that_it_has_none() -> None:
    """Without the annotation the variable is empty, which hides all devices of the node."""
    body = pod(gpus=0)
    del body["spec"]["containers"][0]["env"]
    assert patched(body)["spec"]["containers"][0]["env"] == [OURS, ORDERED]


@pytest.mark.parametrize("mode", ["count", "dra"])
def test_where_somebody_else_numbers_the_devices_nothing_is_added(mode: str) -> None:
    """A device plugin or driver gives a container numbers of its own."""
    body = pod()
    del body["spec"]["containers"][0]["env"]
    settings = Settings(Spec.model_validate({"devices": {"mode": mode}}))
    assert patched(body, settings=settings) == body
    assert causes(body, settings=settings) == {}


def test_pods_of_other_schedulers_are_left_alone() -> None:
    """Neither changed nor asked for the variable."""
    body = pod(schedulerName="default-scheduler")
    del body["spec"]["containers"][0]["env"]
    assert patched(body) == body
    assert causes(body) == {}


def test_only_new_ephemeral_containers_are_touched() -> None:
    """One that runs cannot be changed, so a patch to it would refuse all that come after it."""
    before = pod()
    before["spec"]["ephemeralContainers"] = [{"name": "first"}]
    after = copy.deepcopy(before)
    after["spec"]["ephemeralContainers"].append({"name": "second"})
    decision = decided(review(after, before, sub="ephemeralcontainers"), Route.MUTATE)
    made: Any = applied(after, decision)["spec"]["ephemeralContainers"]
    assert made == [{"name": "first"}, {"name": "second", "env": [OURS, ORDERED]}]
    assert causes(after, before, sub="ephemeralcontainers").keys() == {
        "spec.ephemeralContainers[1].env"
    }


def test_updates_of_pods_are_not_patched() -> None:
    """The environment of a pod that exists cannot change."""
    body = pod()
    del body["spec"]["containers"][0]["env"]
    assert decided(review(body, body), Route.MUTATE).result == "allowed"
