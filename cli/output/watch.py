"""`--watch`: an answer shown again as it changes, until Ctrl-C."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import typer

from fourleaf.cli.options import OutputFormat
from fourleaf.cli.output.console import EXIT_OK, out, print_problems, write

T = TypeVar("T")


@dataclass(frozen=True)
class WatchedAnswer(Generic[T]):
    """A verb's answer: how to `look`, how to `tell` it, the exit `code`, and what `matters` of it.

    What `matters` is compared to find changes; ages and the like do not.
    """

    look: Callable[[], T]
    tell: Callable[[T], None]
    code: Callable[[T], int]
    matters: Callable[[T], object]


def need_anew(files: Sequence[str] | None, watch: bool) -> None:
    """A usage error where `watch` would have to read standard input twice."""
    if watch and "-" in (files or ()):
        raise typer.BadParameter("standard input is read once", param_hint="--watch")


def present(view: WatchedAnswer[T], output: OutputFormat, watch: bool, interval: float) -> None:
    """Tell the answer and end with its code; with `watch`, again and again, and end with 0.

    A terminal is drawn anew at every look, so that ages go on; elsewhere a block is printed
    at every change. Raises `BadInput` where the first look fails; later failures are told, and
    it goes on.
    """
    if not watch:
        # One answer and out: looking for garbage among all that was loaded only takes time.
        gc.disable()
        answer = view.look()
        view.tell(answer)
        raise typer.Exit(view.code(answer))
    try:
        _watch(view, output, interval)
    except KeyboardInterrupt:
        if out().is_terminal:
            write("")
        raise typer.Exit(EXIT_OK) from None


def _watch(view: WatchedAnswer[T], output: OutputFormat, interval: float) -> None:
    from fourleaf.model.problems import BadInput

    seen: list[object] = []
    trouble = ""
    _draw(view, view.look(), output, seen)
    while True:
        time.sleep(interval)
        try:
            answer = view.look()
        except BadInput as bad:
            if str(bad) != trouble:
                print_problems(bad.problems)
            trouble = str(bad)
        else:
            trouble = ""
            _draw(view, answer, output, seen)


def _draw(view: WatchedAnswer[T], answer: T, output: OutputFormat, seen: list[object]) -> None:
    """Tell `answer` where it has to be; `seen` is what mattered last, empty at first."""
    console, now = out(), view.matters(answer)
    if console.is_terminal:
        console.clear()
    elif seen == [now]:
        return
    elif seen:
        write("---\n" if output is OutputFormat.YAML else "\n")
    view.tell(answer)
    sys.stdout.flush()
    seen[:] = [now]
