"""What is taken from a document as a command, worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.pages import Page, PageError, Step, read_page


def page(folder: Path, *lines: str) -> Page:
    """A document of these lines, read."""
    path = folder / "page.md"
    path.write_text("\n".join(lines) + "\n")
    return read_page(path)


def test_commands_stand_after_a_prompt(tmp_path: Path) -> None:
    """Output, other blocks and text are no commands."""
    read = page(
        tmp_path, "# Title", "```console", "$ one", "said", "$ two", "```", "```", "$ no", "```"
    )
    assert read.steps == (Step(3, "one", prints="said\n"), Step(5, "two"))
    assert not read.needs_cluster


def test_a_command_may_take_several_lines(tmp_path: Path) -> None:
    """A backslash and a here-document go on; what comes after them is output."""
    read = page(
        tmp_path, "```console", "$ a \\", "  b", "$ cat <<EOF", "x", "$ y", "EOF", "out", "```"
    )
    assert [step.command for step in read.steps] == ["a \\\n  b", "cat <<EOF\nx\n$ y\nEOF"]


@pytest.mark.parametrize(
    ("what", "step"),
    [
        ("exit 3", Step(3, "it", exit_code=3)),
        ('until "is up"', Step(3, "it", until="is up")),
        ("within 60", Step(3, "it", within=60)),
        ("not here, it takes an hour", Step(3, "it", skipped="it takes an hour")),
    ],
)
def test_a_comment_says_what_is_special(tmp_path: Path, what: str, step: Step) -> None:
    """It speaks of the next block alone."""
    lines = (f"<!-- try: {what} -->", "```console", "$ it", "```", "```console", "$ more", "```")
    read = page(tmp_path, *lines)
    assert read.steps == (step, Step(6, "more"))


def test_a_page_may_ask_for_a_cluster(tmp_path: Path) -> None:
    """One comment anywhere is enough."""
    assert page(tmp_path, "```console", "$ it", "```", "<!-- try on: cluster -->").needs_cluster


@pytest.mark.parametrize(
    "lines",
    [
        ("<!-- try: sometimes -->", "```console", "$ it", "```"),
        ("<!-- try: exit 3 -->", "text", "```console", "$ it", "```"),
        ("```console", "no prompt", "```"),
    ],
)
def test_what_means_nothing_is_refused(tmp_path: Path, lines: tuple[str, ...]) -> None:
    """A comment that is misspelt or strays, and a block without a command."""
    with pytest.raises(PageError, match=r"page\.md:"):
        page(tmp_path, *lines)
