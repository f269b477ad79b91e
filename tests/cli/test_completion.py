"""What shells and kubectl are offered."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from fourleaf.cli.main import app, kubectl_complete, make_app
from fourleaf.model.config.spec import BUILT_IN_TERMS
from tests.cli.made import EXAMPLES

Write = Callable[[str, str], Path]
COMPLETION = ("_FOURLEAF_COMPLETE", "COMP_WORDS", "COMP_CWORD")


@pytest.fixture(autouse=True)
def _same_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The variables of the protocol are set and taken away again."""
    for name in COMPLETION:
        monkeypatch.setenv(name, "")


def offered(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str
) -> tuple[list[str], str]:
    """What kubectl is offered after these words, of which the last is begun, and the directive."""
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-fourleaf", *words])
    kubectl_complete()
    said = capsys.readouterr()
    assert said.err == ""
    *found, directive = said.out.splitlines()
    return found, directive


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("sc",), ["score"]),
        (("why", "-f", str(EXAMPLES), "ml/c"), ["ml/clip-vit"]),
        (("score", "-f", str(EXAMPLES), "-n", "bio", ""), ["fold"]),
        (("score", "-f", str(EXAMPLES), "-n", "b"), ["bio"]),
        (("drain", "-f", str(EXAMPLES), "spine"), ["spine-0", "spine-1"]),
        (("drain", "-f", str(EXAMPLES), "leaf-03"), ["leaf-03"]),
        (("plan", "-o", ""), ["table", "wide", "json", "yaml"]),
        (("plan", "--what-if", "domain"), ["domainUtilization="]),
    ],
)
def test_names(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    found: list[str],
) -> None:
    """Verbs, gangs, namespaces, places, formats and terms; then files are not offered."""
    assert offered(monkeypatch, capsys, *words) == (found, ":4")


def test_all_terms(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every term can be weighed."""
    found, _ = offered(monkeypatch, capsys, "plan", "--what-if", "")
    assert {f"{name}=" for name in BUILT_IN_TERMS} <= set(found)


def test_contexts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], write: Write
) -> None:
    """Those of the kubeconfig that was named."""
    path = write("config", yaml.safe_dump({"contexts": [{"name": "lab"}, {"name": "prod"}]}))
    words = ("queue", "--kubeconfig", str(path), "--context", "")
    assert offered(monkeypatch, capsys, *words) == (["lab", "prod"], ":4")


@pytest.mark.parametrize(
    "words",
    [
        ("why", "--kubeconfig", "/nowhere", ""),
        ("queue", "--kubeconfig", "/nowhere", "--context", ""),
        ("score", "-f", "/nowhere", ""),
        ("plan", "-f", ""),
    ],
)
def test_nothing_where_nothing_is_known(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    """No error and no word on standard error; files may be offered instead."""
    assert offered(monkeypatch, capsys, *words) == ([], ":0")


def test_shells_get_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--show-completion bash` prints one that asks the command itself, whoever runs the tests."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    said = CliRunner().invoke(app, ["--show-completion", "bash"])
    assert said.exit_code == 0
    assert "_COMPLETE=complete_bash" in said.stdout


def test_kubectl_installs_nothing() -> None:
    """As a plugin the command has no options for shells: kubectl asks by another program."""
    said = CliRunner().invoke(make_app(completion=False), ["--help"], prog_name="kubectl fourleaf")
    assert said.stdout.startswith("Usage: kubectl fourleaf ")
    assert "--install-completion" not in said.stdout
    assert "--install-completion" in CliRunner().invoke(app, ["--help"]).stdout
