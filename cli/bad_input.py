"""Bad input with one problem, which is what most verbs find."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fourleaf.model.problems import BadInput


def bad_input(
    source: str, message: str, advice: str, *, about: str = "", field: str = "", value: str = ""
) -> BadInput:
    """What to raise; `about` is the object, and the rest as in `Problem`."""
    from fourleaf.model.problems import BadInput, Problem, Severity

    return BadInput([Problem(Severity.ERROR, source, about, field, value, message, advice)])


def unwritable(source: str, error: OSError, place: str = "file", *, value: str = "") -> BadInput:
    """What to raise where nothing can be written to a file or folder."""
    message = f"cannot be written: {error.strerror}"
    return bad_input(source, message, f"Name a {place} that can be written.", value=value)
