"""Answers as documents: printed as JSON or YAML, or as a table where people read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from fourleaf.cli.options import OutputFormat
from fourleaf.cli.output.console import show, write
from fourleaf.cli.output.text import json_text, yaml_text

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fourleaf.model.problems import Problem

Document = dict[str, Any]


def for_people(output: OutputFormat) -> bool:
    """Whether a table is wanted and not a document."""
    return output in (OutputFormat.TABLE, OutputFormat.WIDE)


def write_document(document: Mapping[str, Any], output: StrEnum) -> None:
    """Print `document` as JSON or YAML."""
    write(json_text(document) if output == OutputFormat.JSON else yaml_text(document))


def tell(
    document: Callable[[], Document],
    lines: Callable[[], Iterable[RenderableType]],
    output: OutputFormat,
) -> None:
    """Print `lines` for people, else `document`; only the one that is wanted is made."""
    if for_people(output):
        show(lines())
    else:
        write_document(document(), output)


def problem_document(problem: Problem) -> Document:
    """One problem, field by field."""
    return {
        "severity": problem.severity.value,
        "source": problem.source,
        "object": problem.object,
        "field": problem.field,
        "value": problem.value,
        "message": problem.message,
        "advice": problem.advice,
    }
