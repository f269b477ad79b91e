"""What we keep of secrets is encrypted at rest, where kube-apiserver has the config that ships."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.controlplane.plane import ControlPlane
from tests.e2e.hook import Scene
from tests.e2e.replica import ROOT

CONFIG = ROOT / "deploy" / "encryption" / "secrets.yaml"
SECRETS = "/api/v1/secrets"


@pytest.fixture(name="plane")
def _plane(control_plane_programs: object, tmp_path: Path) -> Iterator[ControlPlane]:
    """A control plane that encrypts by the config that ships, under a key of its own."""
    key = base64.b64encode(secrets.token_bytes(32)).decode()
    config = tmp_path / "encryption.yaml"
    config.write_text(CONFIG.read_text().replace("secret: KEY", f"secret: {key}"))
    flags = [f"--encryption-provider-config={config}"]
    with ControlPlane(tmp_path / "plane", apiserver_flags=flags) as made:
        yield made


def stored(plane: ControlPlane, content: bytes) -> bool:
    """Whether `content` stands as it is in any file of etcd."""
    files = [path for path in (plane.folder / "etcd").rglob("*") if path.is_file()]
    return any(content in path.read_bytes() for path in files)


def test_the_key_of_the_webhook_is_on_no_disk(plane: ControlPlane, tmp_path: Path) -> None:
    """The webhook makes its key; etcd has it in no file, but what is no secret, as ever."""
    scene = Scene(plane, tmp_path)
    plain = secrets.token_hex(32)
    with scene.api as api, scene.hook():
        scene.wait()
        body = {"metadata": {"name": "plain"}, "data": {"plain": plain}}
        api.create("/api/v1/namespaces/kube-system/configmaps", body)
        held = [one for body in api.get(SECRETS)["items"] for one in body.get("data", {}).values()]
        keys = [one for one in map(base64.b64decode, held) if b"PRIVATE KEY" in one]
        assert keys, "the webhook has made none"
        assert stored(plane, plain.encode()), "what etcd holds is looked for in the wrong place"
        assert not any(stored(plane, one) for one in keys)
        assert not stored(plane, b"PRIVATE KEY")
