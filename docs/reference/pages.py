"""All reference pages: file name and text."""

from __future__ import annotations

from pathlib import Path

from docs.reference import cli, config, crds, findings, keys, metrics, reasons

FOLDER = Path(__file__).parent
_HEAD = "<!-- Written by `make reference` from the code; not to be edited. -->\n\n"
_MAKERS = (config, crds, keys, reasons, findings, metrics, cli)


def pages() -> dict[str, str]:
    """File name -> text of each page."""
    return {one.FILE: f"{_HEAD}{one.page().rstrip()}\n" for one in _MAKERS}
