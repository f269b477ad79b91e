"""Which build of the product this is."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version


def own_version() -> str:
    """The version that is installed, `source` in a tree that is not."""
    try:
        return version("fourleaf")
    except PackageNotFoundError:
        return "source"
