"""Parts of a pod that were too many to be kept, told where the pod is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fourleaf.model.readers.objects.manifest import Manifest

CUT = "partsCut"
"""Stands in the spec of a pod, with the name of a field of which only some entries are kept."""


def refuse_cut(manifest: Manifest, spec: Mapping[str, Any]) -> None:
    """Report a pod that is not kept whole, so that it holds its gang back."""
    if CUT in spec:
        message = "has more entries than are read of one pod"
        manifest.error(str(spec[CUT]), None, message, "Leave most of them out.")
