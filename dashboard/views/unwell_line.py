"""One thing that is unwell, as the first page has it."""

from __future__ import annotations

from fourleaf.dashboard.view import View

MOST_NAMED = 8
"""Names that a line has at most; it says how many more there are."""


class UnwellLine(View):
    """One thing. `nodes` are names with a page each; `more` counts those left out.

    `grave`: it needs someone. Else it may be meant, as a cordon is.
    """

    text: str
    advice: str = ""
    nodes: tuple[str, ...] = ()
    more: int = 0
    grave: bool = True
