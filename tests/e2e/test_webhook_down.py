"""Who has to wait while the webhook is down, and how its certificate comes back by itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controlplane.fixtures import Plane
from tests.controlplane.waiting import eventually
from tests.e2e.hook import PATHS, Scene, pod, refusal

KEPT = "/api/v1/namespaces/kube-system/secrets/fourleaf-webhook-tls"


@pytest.fixture
def scene(control_plane: Plane, tmp_path: Path) -> Iterator[Scene]:
    """The webhook is installed and does not run."""
    made = Scene(control_plane, tmp_path)
    with made.api:
        yield made


def test_without_an_answer_only_those_who_opted_in_wait(scene: Scene) -> None:
    """Other pods, other namespaces, kube-system and the webhook's own pods go on."""
    api = scene.api
    with scene.hook():
        scene.wait()
    assert "failed calling webhook" in refusal(api, scene.enforced, pod())
    assert not refusal(api, scene.enforced, pod(schedulerName="default-scheduler"))
    assert not refusal(api, "default", pod())
    label = {"metadata": {"labels": {"topology.scheduler/enforce": "true"}}}
    api.patch("/api/v1/namespaces/kube-system", label)
    assert not refusal(api, "kube-system", pod("fourleaf-webhook-0"))
    with scene.hook():
        scene.wait()


def test_a_lost_secret_is_filled_again(scene: Scene) -> None:
    """Once it is installed again, a new authority takes the old one's place and is trusted."""
    api = scene.api
    with scene.hook():
        scene.wait()
        before = _trusted(scene)
        assert before == {api.get(KEPT)["data"]["ca.crt"]}
    api.delete(KEPT)
    empty = {"metadata": {"name": KEPT.rpartition("/")[2]}, "type": "Opaque"}
    api.create(KEPT.rpartition("/")[0], empty)
    with scene.hook():
        eventually(lambda: not before & _trusted(scene), "another authority is trusted")
        scene.wait()
        assert _trusted(scene) == {api.get(KEPT)["data"]["ca.crt"]}


def _trusted(scene: Scene) -> set[str]:
    """The caBundle of every webhook."""
    return {
        hook["clientConfig"].get("caBundle", "")
        for path in PATHS.values()
        for body in scene.api.get(path)["items"]
        for hook in body["webhooks"]
    }
