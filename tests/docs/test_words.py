"""No document names a verb or a flag that does not exist."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.test_guides import PAGES, ROOT
from tests.docs.words import calls, named_in, wrong

FEWEST = 100
"""Calls that the documents name, at the least: more than twice as many were found at first."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    """In blocks, in the midst of a sentence, and in indented lines."""
    assert [said for call in named_in(page) if (said := wrong(call))] == []


def test_the_documents_are_full_of_commands() -> None:
    """So whoever looks for them finds them."""
    assert sum(len(named_in(page)) for page in PAGES) >= FEWEST


def test_calls_are_found_wherever_they_stand() -> None:
    """Over the end of a line, behind a pipe, after kubectl; not in names of other things."""
    text = (
        "Say `fourleaf\nstatus` or `kubectl fourleaf why g`, not `helm install fourleaf x`.\n\n"
        "    fourleaf lint -f a\n\n"
        "```console\n$ cat a | fourleaf plan -f - \\\n  -o json > b\n```\n"
    )
    found = sorted(" ".join(call.split()) for call in calls(text))
    assert found == ["lint -f a", "plan -f - -o json", "status", "why g"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        ("", ""),
        ("topology import - --from csv", ""),
        ("VERB --help", ""),
        ("topology inport", "inport is no verb"),
        ("drian leaf-7", "drian is no verb"),
        ("drain leaf-7 --apply --undo", ""),
        ("drain leaf-7 --redo", "--redo is no flag"),
        ("plan -f=a -Z", "-Z is no flag"),
        ("--version", ""),
    ],
)
def test_what_does_not_exist_is_told(call: str, said: str) -> None:
    """The verb or the flag."""
    assert wrong(call).endswith(said)
    assert bool(wrong(call)) == bool(said)
