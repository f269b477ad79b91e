"""All pages that are written from the code: file and text."""

from __future__ import annotations

from pathlib import Path

from docs.reference import cli, code_map, config, crds, findings, keys, metrics, reasons

FOLDER = Path(__file__).parent
_HEAD = "<!-- Written by `make reference` from the code; not to be edited. -->\n\n"
_MAKERS = (config, crds, keys, reasons, findings, metrics, cli, code_map)


def pages() -> dict[str, str]:
    """File name, relative to this folder -> text of each page."""
    return {one.FILE: f"{_HEAD}{one.page().rstrip()}\n" for one in _MAKERS}
