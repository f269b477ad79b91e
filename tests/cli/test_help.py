"""The help of every verb: words for what an option takes, and one name for what several take."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command

from docs.reference.cli import verbs
from fourleaf.cli.main import app
from fourleaf.k8s_bridge.runtime import logs
from tests.cli.conftest import Run
from tests.cli.made import EXAMPLES

WORDS = sorted(words for words, _ in verbs(get_command(app), ""))
TYPE = re.compile(r"<(?:int|float|str|list|path|bool|text)\b[^>]*>|\[\[|\.\.\.\}\.\.\.")
"""What stands in place of a word that was not given: types of Python, names of variables."""


@pytest.mark.parametrize("words", WORDS)
def test_what_an_option_takes_has_a_word(run: Run, words: str) -> None:
    """No type of Python, no name of a variable and no bracket twice in the help of a verb."""
    said = run(*words.split(), "--help").stdout
    assert TYPE.findall(said) == []
    assert "checkout" not in said
    assert re.findall(r"[\[{][a-z_]+[\]}]", said.splitlines()[0]) == []


@pytest.mark.parametrize(
    "words",
    [
        ("run",),
        ("webhook", "--self-signed"),
        ("agent",),
        ("dashboard", "--snapshot", str(EXAMPLES)),
        ("record", "."),
    ],
    ids=" ".join,
)
def test_who_writes_logs_takes_their_level(
    run: Run, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """By an option, which help shows, or by the variable that charts set."""
    levels: list[Any] = []

    def noted(level: str | None = None) -> None:
        levels.append(level)
        raise typer.Exit(9)

    monkeypatch.setattr(logs, "set_up_logs", noted)
    assert run(*words, "--log-level", "DEBUG").exit_code == 9
    assert run(*words, env={"LOG_LEVEL": "ERROR"}).exit_code == 9
    assert levels == ["DEBUG", "ERROR"]


@pytest.fixture(scope="module", name="two")
def _two(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node that two gangs share, in each namespace one, and another that is too large for it."""
    from fourleaf.k8s_bridge.cluster.memory import actors

    pods = []
    for space, name, size, gpus in (("a", "g", 1, 4), ("b", "h", 1, 4), ("b", "big", 2, 8)):
        for body in actors.gang(name, size, gpus):
            body["metadata"]["namespace"] = f"team-{space}"
            pods.append(body | {"apiVersion": "v1", "kind": "Pod"})
    nodes = [one | {"apiVersion": "v1", "kind": "Node"} for one in actors.nodes(1, 1, 1)]
    file = tmp_path_factory.mktemp("two") / "in.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*nodes, *pods]}))
    return file


@pytest.mark.parametrize(("space", "code"), [("team-a", 0), ("team-b", 3)])
def test_a_plan_of_one_namespace(run: Run, two: Path, space: str, code: int) -> None:
    """All gangs are planned, those of the namespace shown, and the exit code is about them."""
    told = run("plan", "-f", two, "-n", space, "-o", "json")
    assert told.exit_code == code, told.output
    whole = json.loads(run("plan", "-f", two, "-o", "json").stdout)["gangs"]
    assert len(whole) == 3
    mine = [one for one in whole if one["namespace"] == space]
    assert json.loads(told.stdout)["gangs"] == mine
    shown = run("plan", "-f", two, "-n", space).stdout
    assert [other in shown for other in ("team-a", "team-b")] == [space == "team-a", code == 3]


def test_a_plan_of_a_namespace_in_which_nothing_waits(run: Run, two: Path) -> None:
    """That no gang waits is said of the namespace, where others have some."""
    told = run("plan", "-f", two, "-n", "team-c")
    assert (told.exit_code, "no gang of team-c waits" in told.stdout) == (0, True)


def test_a_comparison_is_of_all_namespaces(run: Run, two: Path) -> None:
    """What another config changes for one gang shows in others."""
    told = run("plan", "-f", two, "-n", "team-a", "--what-if", "topologyAlignment=1")
    assert (told.exit_code, "goes not with --what-if" in told.stderr) == (2, True)
