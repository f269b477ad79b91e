"""Where readers look up objects.

Names are as Kubernetes takes them: nothing else can be created, or stands in one line of a table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from fourleaf.model.readers.objects.manifest import Manifest


class Objects(Protocol):
    """Objects by what they are. The same object is one manifest, however often asked for."""

    def of(self, group: str, kind: str) -> Sequence[Manifest]:
        """All objects of one kind."""

    def get(self, group: str, kind: str, namespace: str, name: str) -> Manifest | None:
        """One object, None where it is not there."""

    def spaces(self, group: str, kind: str, name: str) -> Sequence[str]:
        """The namespaces that have an object of that name, sorted."""


NAME_ADVICE = "Use up to 253 of a-z, 0-9, - and ., with a letter or digit at both ends."
LABEL_ADVICE = "Use up to 63 letters, digits, -, _ and ., with a letter or digit at both ends."
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
_LABEL = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?")


def is_name(text: str) -> bool:
    """Whether an object may have this name (a DNS subdomain)."""
    return _NAME.fullmatch(text) is not None


def is_label(text: str) -> bool:
    """Whether a label may have this value, other than none at all."""
    return _LABEL.fullmatch(text) is not None
