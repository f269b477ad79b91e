"""Kubeconfigs that are read without the `kubernetes` package, and those that are left to it."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from fourleaf.k8s_bridge.cluster.live.kubeconfig import PlainAccess, plain_access
from tests.controlplane.pki import serving


def read(
    folder: Path, user: dict[str, Any], context: str | None = None, **cluster: Any
) -> PlainAccess | None:
    """What a kubeconfig with that user and cluster comes to."""
    content = {
        "clusters": [{"name": "c", "cluster": {"server": "https://c.example:6443/", **cluster}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = folder / "kubeconfig"
    path.write_text(json.dumps(content))
    return plain_access(str(path), context)


async def test_a_token_in_a_file_beside_it(tmp_path: Path) -> None:
    """Paths are relative to the kubeconfig; the names of server and proxy are as they stand."""
    (tmp_path / "token").write_text("secret")
    names = {"tls-server-name": "inner", "proxy-url": "http://proxy:3128"}
    found = read(tmp_path, {"tokenFile": "token"}, **names)
    assert found is not None
    assert await found.authorization() == "Bearer secret"
    assert (found.host, found.server_name) == ("https://c.example:6443", "inner")
    assert found.proxy == "http://proxy:3128"


def test_a_client_certificate(tmp_path: Path) -> None:
    """The one authority of the file is trusted, the key is taken, and no file of it stays."""
    made = serving(tmp_path, "c", "c.example")
    data = {
        name: b64encode(path.read_bytes()).decode()
        for name, path in (("certificate", made.certificate), ("key", made.key))
    }
    user = {f"client-{name}-data": text for name, text in data.items()}
    found = read(tmp_path, user, **{"certificate-authority-data": data["certificate"]})
    assert found is not None
    assert found.secure is not None
    assert len(found.secure.get_ca_certs()) == 1
    # Another's key is none of this certificate: what is wrong is for the package to say.
    other = serving(tmp_path, "d", "d.example")
    user["client-key-data"] = b64encode(other.key.read_bytes()).decode()
    assert read(tmp_path, user) is None


@pytest.mark.parametrize(
    ("user", "context", "cluster"),
    [
        ({"exec": {"command": "login"}}, None, {}),
        ({"auth-provider": {"name": "oidc"}}, None, {}),
        ({"username": "u", "password": "p"}, None, {}),
        ({"tokenFile": "absent"}, None, {}),
        ({"token": "t"}, "another", {}),
        ({"token": "t"}, None, {"certificate-authority": "absent"}),
        ({"token": "t"}, None, {"certificate-authority-data": "bm8="}),
    ],
)
def test_what_is_left_to_the_package(
    tmp_path: Path, user: dict[str, Any], context: str | None, cluster: dict[str, Any]
) -> None:
    """Plugins, providers, passwords, and whatever is wrong."""
    assert read(tmp_path, user, context, **cluster) is None
