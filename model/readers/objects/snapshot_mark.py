"""The mark of a snapshot: the file holds what a cluster held, not what people have written.

A tenant's broken object is refused where it is written; in a cluster, it must not keep others from
an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fourleaf.model.readers.objects.annotations import PREFIX
from fourleaf.model.readers.objects.manifest import Body, part_of

SNAPSHOT = f"{PREFIX}snapshot"
"""The annotation of a List that `fourleaf snapshot` has written."""
MARKED = "true"


def marked(items: Sequence[Body]) -> Body:
    """A List of `items`, all that a cluster held."""
    metadata = {"annotations": {SNAPSHOT: MARKED}}
    return {"apiVersion": "v1", "kind": "List", "metadata": metadata, "items": list(items)}


def is_snapshot(documents: Sequence[Any]) -> bool:
    """Whether a file of these documents is a snapshot: one List with the mark, and nothing else."""
    if len(documents) != 1 or not isinstance(documents[0], dict):
        return False
    (only,) = documents
    said = part_of(only, "metadata", "annotations")
    return only.get("kind") == "List" and said.get(SNAPSHOT) == MARKED
