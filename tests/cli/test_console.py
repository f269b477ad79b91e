"""What goes to which stream, and when."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from fourleaf.cli.output import console, progress
from fourleaf.model.plan import Stage
from fourleaf.model.problems import PRINTED, Problem, Severity


def terminal(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> io.StringIO:
    """Replace both consoles by one that writes into the buffer returned."""
    buffer = io.StringIO()
    made = Console(file=buffer, force_terminal=is_terminal, width=80, highlight=False)
    for module, name in ((console, "out"), (console, "err"), (progress, "err")):
        monkeypatch.setattr(module, name, lambda: made)
    return buffer


def test_progress_speaks_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal a long solve shows its stage, and nothing is left of it afterwards."""
    buffer = terminal(monkeypatch, is_terminal=True)
    monkeypatch.setattr(progress, "DELAY_SECONDS", 0.0)
    with progress.Progress("solving") as shown:
        for _ in range(200):
            time.sleep(0.01)
            if "solving" in buffer.getvalue():
                break
        shown.stage(Stage("who 100", True, 1, 1, 0.25))
        for _ in range(200):
            time.sleep(0.01)
            if "who 100 proven after 0.2 s" in buffer.getvalue():
                break
    assert "who 100 proven after 0.2 s" in buffer.getvalue()
    assert buffer.getvalue().endswith("\x1b[2K")


@pytest.mark.parametrize(("is_terminal", "delay"), [(True, 60.0), (False, 0.0)])
def test_quick_solves_and_files_see_no_progress(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, delay: float
) -> None:
    """Before the delay, or where nobody watches, nothing is written."""
    buffer = terminal(monkeypatch, is_terminal)
    monkeypatch.setattr(progress, "DELAY_SECONDS", delay)
    with progress.Progress("solving") as shown:
        shown.stage(Stage("where", False, 1, 2, 0.25))
        time.sleep(0.05)
    assert buffer.getvalue() == ""


def test_colours_on_a_terminal_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A terminal gets styles, a file plain text without blanks at the ends of lines."""
    line = Text("placed   ", style="bold red")
    buffer = terminal(monkeypatch, is_terminal=True)
    console.show([line])
    assert buffer.getvalue() == "\x1b[1;31mplaced   \x1b[0m\n"
    terminal(monkeypatch, is_terminal=False)
    console.show([line, Text()])
    assert capsys.readouterr().out == "placed\n\n"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_what_a_file_says_moves_no_cursor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], is_terminal: bool
) -> None:
    """The keys of a selector and texts in a problem, in a table too; lines stay lines."""
    buffer = terminal(monkeypatch, is_terminal)
    table = Table(box=None, show_header=False, padding=0)
    table.add_row("a\x1b[2Jb", "c\u202ed")
    problem = Problem(Severity.WARNING, "f", "Pod a/b", "x", "1", "is \x9bodd", "Mend\x1b[2J it.")
    console.print_problems([problem])
    console.show([Text("one\x1b[2J\ntwo"), table])
    said = buffer.getvalue() + capsys.readouterr().out
    assert "\x1b[2J" not in said
    assert {"\x9b", "\u202e"}.isdisjoint(said)
    for line in ("is ?odd", "Mend?[2J it.", "one?[2J\ntwo\n", "a?[2Jbc?d"):
        assert line in said.replace("\x1b[1;33m", "").replace("\x1b[0m", "")


def test_flood_of_problems_is_cut(capsys: pytest.CaptureFixture[str]) -> None:
    """At most a screenful of problems is printed, and the rest counted."""
    problem = Problem(Severity.WARNING, "f.yaml", "Pod a/b", "spec", "1", "is odd", "Mend it.")
    console.print_problems([problem] * (PRINTED + 7))
    said = capsys.readouterr()
    assert said.out == ""
    lines = said.err.splitlines()
    assert lines[:2] == ["warning: f.yaml: Pod a/b: spec = 1: is odd", "  Mend it."]
    assert lines[-1] == "and 7 more problems"
    assert len(lines) == 2 * PRINTED + 1
