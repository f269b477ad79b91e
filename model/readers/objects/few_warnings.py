"""Warnings about gangs side by side, of which a few are told: a tenant may have thousands."""

from __future__ import annotations

from collections import Counter

from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report

MOST_WARNED = 100
"""Objects of one namespace that are told of one thing: to tell thousands takes long each time."""


class FewWarnings:
    """One thing that is probably not meant, told of a few objects of each namespace."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._told: Counter[str] = Counter()

    def warn(
        self, manifest: Manifest, field: str, value: object, message: str, advice: str
    ) -> None:
        """Warn of an object, or say once that more of its namespace are not told."""
        self._told[manifest.namespace] += 1
        told = self._told[manifest.namespace]
        if told > MOST_WARNED + 1:
            return
        if told > MOST_WARNED:
            message += f"; the same holds for more than {MOST_WARNED} objects of its namespace, "
            message += "and the others are not told"
        manifest.on(self._report).warn(field, value, message, advice)
