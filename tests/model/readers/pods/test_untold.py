"""Pods whose containers were not told which devices are theirs are not started."""

from __future__ import annotations

import pytest

from fourleaf.model.devices.visibility import CUDA, ENTRY
from tests.model.readers.made import Body, config, node, pod, reading

MAP = "gpu-scheduling-map"


def _admitted(name: str, gpus: int | None, *containers: Body, **spec: object) -> Body:
    """A pod that an API server has taken, with more containers."""
    body = pod(name, gpus, **spec)
    body["metadata"]["uid"] = f"uid-{name}"
    body["spec"]["containers"] += containers
    return body


def _untold(name: str = "p", gpus: int | None = 8, **spec: object) -> Body:
    """One that came while the webhook was away."""
    body = _admitted(name, gpus, **spec)
    del body["spec"]["containers"][0]["env"]
    return body


HOLD = config(devices={"untold": "hold"})


def _held(*bodies: Body, how: Body = HOLD) -> dict[str, str]:
    """Gang -> why it is held, "" where it is not."""
    gangs = reading(node(), *bodies, how, strict=False).snapshot.gangs
    return {one.key.name: str(one.hold.kind) if one.hold else "" for one in gangs}


def test_a_pod_that_was_not_told_is_held() -> None:
    """The reason names the container, the variable and where its value is to come from."""
    (gang,) = reading(node(), _untold(), HOLD).snapshot.gangs
    assert gang.hold is not None
    assert gang.hold.kind == "NotTold"
    assert gang.hold.detail == (
        "Pod ml/p: container main does not take CUDA_VISIBLE_DEVICES from "
        "metadata.annotations['alloc.gpu.scheduling/devices']"
    )
    assert gang.hold.unblock[0].startswith("Create it again while the webhook answers")


def test_each_container_is_to_be_told() -> None:
    """One that sees all devices is enough, of whatever kind; a list of its own is no better."""
    side, own = {"name": "side"}, {"name": "side", "env": [ENTRY, {"name": CUDA, "value": "7"}]}
    assert _held(_admitted("p", 8)) == {"p": ""}
    for body in (
        _admitted("p", 8, side),
        _admitted("p", 8, own),
        _admitted("p", 8, initContainers=[side]),
    ):
        assert _held(body) == {"p": "NotTold"}


def test_one_member_holds_its_gang() -> None:
    """A gang starts as a whole, and its members are created again as a whole."""
    bodies = [_admitted("a-0", 8), _untold("a-1")]
    for body in bodies:
        said = {"topology.scheduler/gang": "a", "topology.scheduler/gang-size": "2"}
        body["metadata"]["annotations"] = said
    assert _held(*bodies) == {"a": "NotTold"}


def test_devices_count_whoever_asks_for_them() -> None:
    """A device map gives GPUs to a pod whose containers ask for none; without any, all is well."""
    body = _untold("p-0", None)
    assert _held(body) == {"p-0": ""}
    body["metadata"]["annotations"] = {MAP: "0=n1:3"}
    assert _held(body) == {"p-0": "NotTold"}


@pytest.mark.parametrize(
    "devices", [{"mode": "count", "untold": "hold"}, {"mode": "dra", "untold": "hold"}, {}]
)
def test_where_nobody_is_told_by_the_variable(devices: Body) -> None:
    """The kubelet or a driver gives the devices, or the config takes it upon itself."""
    assert "NotTold" not in _held(_untold(), how=config(devices=devices)).values()


def test_what_the_webhook_has_yet_to_see() -> None:
    """A manifest of a file is planned as it will be; a pod that runs is not asked any more."""
    manifest = _untold()
    del manifest["metadata"]["uid"]
    assert _held(manifest) == {"p": ""}
    snapshot = reading(node(), _untold("q", nodeName="n1"), HOLD).snapshot
    assert ([one.name for one in snapshot.running], snapshot.gangs) == (["q"], ())
