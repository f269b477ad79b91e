"""The page about findings of `fourleaf topology check`."""

from __future__ import annotations

from docs.reference.markdown import code, table
from fourleaf.model.readers.topology.findings import NOTES, Finding, FindingKind
from fourleaf.model.readers.topology.findings_text import advice, meaning
from fourleaf.model.topology_import.check import SMALL_GANG

FILE = "findings.md"


def page() -> str:
    """The page."""
    intro = (
        "# Findings about a fabric\n\nWhat `fourleaf topology check` tells. Notes do not count for "
        f"its exit code. The gang meant here has {SMALL_GANG} nodes.\n\n"
    )
    rows = (
        (code(one.value), "note" if one in NOTES else "", meaning(one), advice(Finding(one, 0)))
        for one in FindingKind
    )
    return intro + table(("finding", "", "meaning", "what to do"), rows)
