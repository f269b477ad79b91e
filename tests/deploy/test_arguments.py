"""What the chart tells each program, read by the program itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer.main
from typer.testing import CliRunner

from fourleaf.cli.main import app
from fourleaf.dashboard.serve import DashboardOptions
from fourleaf.dashboard.web.access import SHORTEST_TOKEN, Proxied, Token
from tests.deploy.shipped import SWITCHED_ON
from tests.deploy.test_chart import made, templates
from tests.deploy.tools import run

PROXY = "dashboard.auth.header=X-Forwarded-User"
PROXIED = f"--set=dashboard.enabled=true,{PROXY}"
REMOTE = f"{PROXIED},dashboard.auth.trustedProxies={{10.0.0.0/8,fd00::/8}}"
BESIDE = f"{PROXIED},dashboard.auth.hosts={{gpus.example.com}}"
ANSWERED = "--set=dashboard.enabled=true,dashboard.tokenSecret=token"


@pytest.fixture(scope="module", autouse=True)
def _helm() -> None:
    run("helm", "version")


def arguments(spec: dict[str, Any], folder: Path) -> list[str]:
    """The arguments of a pod's only container; what it mounts is below `folder`."""
    (container,) = spec["containers"]
    found = list(container["args"])
    for mount in container.get("volumeMounts", ()):
        for index, one in enumerate(found):
            name, _, path = one.partition("=")
            if path.startswith(mount["mountPath"]):
                place = folder / Path(path).relative_to("/")
                _made(place, is_file=path != mount["mountPath"])
                found[index] = f"{name}={place}"
    return found


def _made(place: Path, is_file: bool) -> None:
    if is_file:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("x" * SHORTEST_TOKEN)
    else:
        place.mkdir(parents=True, exist_ok=True)


@pytest.mark.parametrize(
    "values",
    [(), SWITCHED_ON, (REMOTE, "--set=webhook.certificates=certManager"), (BESIDE,)],
    ids=["default", "everything", "proxy", "proxy beside it"],
)
def test_programs_read_their_arguments_and_listen_at_their_ports(
    values: tuple[str, ...], tmp_path: Path
) -> None:
    """The real verbs take them, each file is on a volume, and probes go where they listen."""
    commands = typer.main.get_group(app).commands
    for name, spec in templates(made(*values)).items():
        verb, *options = arguments(spec, tmp_path)
        read = commands[verb].make_context(verb, list(options)).params
        listens = {int(str(at).rpartition(":")[2]) for key, at in read.items() if "listen" in key}
        (container,) = spec["containers"]
        ports = {one["name"]: one["containerPort"] for one in container.get("ports", ())}
        assert set(ports.values()) == listens, name


def started(values: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> DashboardOptions:
    """What the dashboard would serve with, started as the chart starts it, but for the cluster."""
    seen: list[DashboardOptions] = []

    async def instead(*given: Any) -> None:
        seen.append(given[-1])

    monkeypatch.setattr("fourleaf.cli.verbs.dashboard._live", instead)
    monkeypatch.setattr("fourleaf.k8s_bridge.runtime.logs.set_up_logs", lambda _: None)
    spec = templates(made(values))["fourleaf-dashboard"]
    done = CliRunner().invoke(app, arguments(spec, folder))
    assert done.exit_code == 0, done.output
    (options,) = seen
    return options


def test_a_proxy_vouches_for_who_looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its header is believed from its networks alone; no token is asked for or mounted."""
    access = started(REMOTE, tmp_path, monkeypatch).access
    assert isinstance(access, Proxied)
    named = {"x-forwarded-user": "ada"}
    for peer, user in (("10.1.2.3", "ada"), ("fd00::1", "ada"), ("192.0.2.1", None)):
        assert access.user(peer, named, "", 0) == user
    spec = templates(made(REMOTE))["fourleaf-dashboard"]
    assert [one["name"] for one in spec["volumes"]] == ["scratch"]


def test_a_proxy_in_the_pod_passes_on_the_name_of_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Browsers ask for that name, and kubelets, who know only the pod's address, for localhost."""
    options = started(BESIDE, tmp_path, monkeypatch)
    assert isinstance(options.access, Proxied)
    assert options.access.user("127.0.0.1", {"x-forwarded-user": "ada"}, "", 0) == "ada"
    assert options.answers_to is not None
    assert "gpus.example.com" in options.answers_to


def test_without_a_proxy_it_asks_for_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the Secret."""
    options = started(ANSWERED, tmp_path, monkeypatch)
    assert isinstance(options.access, Token)
    assert (
        options.access.user("192.0.2.1", {"authorization": "Bearer " + "x" * SHORTEST_TOKEN}, "", 0)
        == ""
    )
