"""Who we are, and how that stays true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fourleaf.k8s_bridge.cluster.errors import Refused
from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.live import connect, credentials
from fourleaf.k8s_bridge.cluster.protocol import Target
from tests.k8s_bridge.cluster.live.server import answer, serving, status

POD = Target("ns", "p")


async def test_headers(tmp_path: Path) -> None:
    """Requests carry the token of the kubeconfig and our name."""
    async with serving(tmp_path, answer(200, {})) as (cluster, server):
        await cluster.get(PODS, POD)
    assert server.headers[0]["authorization"] == "Bearer secret"
    assert server.headers[0]["user-agent"] == "fourleaf"
    assert server.requests == ["GET /api/v1/namespaces/ns/pods/p"]


async def test_plugin(tmp_path: Path) -> None:
    """A token comes from an exec plugin where the kubeconfig names one."""
    said = {"status": {"token": "from-plugin"}}
    said |= {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
    command = ["-c", f"echo '{json.dumps(said)}'"]
    plugin = {"apiVersion": said["apiVersion"], "command": "sh", "args": command}
    plugin["interactiveMode"] = "Never"
    async with serving(tmp_path, answer(200, {}), user={"exec": plugin}) as (cluster, server):
        await cluster.get(PODS, POD)
    assert server.headers[0]["authorization"] == "Bearer from-plugin"


async def test_token_that_was_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a 401 the token is read again for the next request; nothing is sent twice."""
    monkeypatch.setattr(credentials, "REREAD_SECONDS", -1.0)
    token = tmp_path / "token"
    token.write_text("old")
    user = {"tokenFile": str(token)}
    answers = (status(401, "Unauthorized"), answer(200, {}))
    async with serving(tmp_path, *answers, user=user) as (cluster, server):
        token.write_text("new")
        with pytest.raises(Refused):
            await cluster.get(PODS, POD)
        await cluster.get(PODS, POD)
    assert [one["authorization"] for one in server.headers] == ["Bearer old", "Bearer new"]


async def test_in_a_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a kubeconfig the service account of the pod counts, and its token is read again."""
    token, root = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("first")
    root.write_text("certificates")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    inside = "kubernetes.aio.config.incluster_config"
    loader = pytest.importorskip(inside).InClusterConfigLoader

    def load(client_configuration: object) -> None:
        loader(str(token), str(root)).load_and_set(client_configuration)

    monkeypatch.setattr("kubernetes.aio.config.load_incluster_config", load)
    found = await credentials.Credentials.load(None, None)
    assert found.host == "https://10.0.0.1:443"
    assert (await found.authorization()).lower() == "bearer first"
    await found.close()


@pytest.mark.parametrize("content", [None, "", "clusters: []", "just text", "{"])
async def test_bad_kubeconfig(tmp_path: Path, content: str | None) -> None:
    """A kubeconfig that is absent or broken is named, with what to do."""
    path = tmp_path / "config"
    if content is not None:
        path.write_text(content)
    with pytest.raises(Refused) as caught:
        await connect(str(path))
    assert str(path) in str(caught.value)
    assert "Name a kubeconfig" in str(caught.value)


async def test_no_kubeconfig_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client says ends with a stop of its own; the advice stands after one."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(Refused, match=r"[a-z]\. Name a kubeconfig") as caught:
        await connect()
    assert ".." not in str(caught.value)


async def test_unknown_context(tmp_path: Path) -> None:
    """A context that the kubeconfig lacks is refused."""
    async with serving(tmp_path, answer(200, {})) as (_, _server):
        with pytest.raises(Refused, match="nowhere"):
            await connect(str(tmp_path / "kubeconfig"), "nowhere")
