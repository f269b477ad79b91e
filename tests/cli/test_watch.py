"""`--watch`: what is printed when, and how it ends."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
import yaml
from rich.console import Console

from fourleaf.cli.options import OutputFormat
from fourleaf.cli.output import console, watch
from fourleaf.cli.output.watch import WatchedAnswer, present
from fourleaf.k8s_bridge.cluster.memory import actors
from fourleaf.model.problems import BadInput, Problem, Severity
from tests.cli.conftest import Run

Write = Callable[[str, str], Path]
ROOT = Path(__file__).parents[2]


class Looks:
    """Answers one after the other; the one after the last is Ctrl-C."""

    def __init__(self, *answers: str | BadInput) -> None:
        self._answers = list(answers)

    def __call__(self) -> str:
        """Give the next answer."""
        if not self._answers:
            raise KeyboardInterrupt
        answer = self._answers.pop(0)
        if isinstance(answer, BadInput):
            raise answer
        return answer


def trouble(text: str) -> BadInput:
    """A look that fails."""
    return BadInput([Problem(Severity.ERROR, "cluster", "", "", "", text, "Wait.")])


def watched(
    monkeypatch: pytest.MonkeyPatch, looks: Looks, output: OutputFormat = OutputFormat.TABLE
) -> int:
    """Watch these looks without waiting between them; what counts is the text in upper case."""
    monkeypatch.setattr(watch.time, "sleep", lambda seconds: None)
    view = WatchedAnswer(looks, console.write, lambda text: 3, str.upper)
    with pytest.raises(typer.Exit) as end:
        present(view, output, True, 1.0)
    return end.value.exit_code


@pytest.mark.parametrize(
    ("output", "printed"),
    [
        (OutputFormat.TABLE, "a\n\nb\n\na\n"),
        (OutputFormat.JSON, "a\n\nb\n\na\n"),
        (OutputFormat.YAML, "a\n---\nb\n---\na\n"),
    ],
)
def test_a_block_for_each_change(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    output: OutputFormat,
    printed: str,
) -> None:
    """In a file only what matters is compared; Ctrl-C ends it well whatever the answer is."""
    assert watched(monkeypatch, Looks("a", "A", "b", "b", "a"), output) == 0
    assert capsys.readouterr().out == printed


def test_a_terminal_is_drawn_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look clears the screen, so that ages go on."""
    buffer = io.StringIO()
    made = Console(file=buffer, force_terminal=True, width=80)
    monkeypatch.setattr(watch, "out", lambda: made)
    assert watched(monkeypatch, Looks("a", "a", "a")) == 0
    assert buffer.getvalue().count("\x1b[2J") == 3


def test_trouble_on_the_way_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cluster that is away for a while ends nothing; the first look must be answered."""
    away = [trouble("is away"), trouble("is away")]
    assert watched(monkeypatch, Looks("a", *away, "a", "b")) == 0
    said = capsys.readouterr()
    assert said.out == "a\n\nb\n"
    assert said.err.count("is away") == 1
    with pytest.raises(BadInput):
        watched(monkeypatch, Looks(trouble("is away")))


def test_once_ends_with_the_code_of_the_answer() -> None:
    """Without --watch nothing is repeated."""
    view = WatchedAnswer(Looks("a"), lambda text: None, lambda text: 3, str.upper)
    with pytest.raises(typer.Exit) as end:
        present(view, OutputFormat.TABLE, False, 1.0)
    assert end.value.exit_code == 3


@pytest.mark.parametrize("verb", [("plan",), ("queue",), ("why", "g")])
def test_standard_input_is_not_watched(run: Run, verb: tuple[str, ...]) -> None:
    """It can be read only once."""
    assert run(*verb, "-f", "-", "--watch").exit_code == 2


def test_a_file_that_changes_until_ctrl_c(write: Write) -> None:
    """A real process prints the queue as files change, and ends with 0 and no word more."""
    nodes = [one | {"apiVersion": "v1", "kind": "Node"} for one in actors.nodes(1, 1, 2)]
    pods = [one | {"apiVersion": "v1", "kind": "Pod"} for one in actors.gang("pair", 2)]
    for one in pods:
        one["metadata"]["namespace"] = "ml"
    path = write("now.yaml", yaml.safe_dump_all(nodes))
    words = ["queue", "-f", str(path), "--watch", "--interval", "0.2"]
    # Where the tests run in the background, a shell may have had all processes ignore Ctrl-C.
    hear = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    run = "from fourleaf.cli.main import main; main()"
    command = [sys.executable, "-c", f"{hear}; {run}", *words]
    with subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "no gang waits\n"
        changed = path.with_suffix(".new")
        changed.write_text(yaml.safe_dump_all([*nodes, *pods]))
        changed.replace(path)
        lines = [process.stdout.readline() for _ in range(3)]
        rest, errors = _interrupted(process)
    assert lines[0] == "\n"
    assert lines[2].startswith("ml/pair ")
    assert process.returncode == 0, errors
    assert "Traceback" not in errors
    assert rest.count("ml/pair") == 0


def _interrupted(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Press Ctrl-C as often as it takes: Python loses one that falls into a callback of its own."""
    for _ in range(6):
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.communicate(timeout=10)
    process.kill()
    raise AssertionError("it does not end on SIGINT")
