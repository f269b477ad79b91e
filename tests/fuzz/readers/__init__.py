"""All readers, by name."""

from __future__ import annotations

from collections.abc import Mapping

from tests.fuzz.law import Reader
from tests.fuzz.readers import (
    answers,
    cluster,
    discovery,
    documents,
    objects,
    reviews,
    servers,
    values,
)

READERS: Mapping[str, Reader] = {
    one.name: one
    for module in (objects, cluster, reviews, answers, documents, discovery, values, servers)
    for one in module.READERS
}
"""Each reader of bytes that an ordinary tenant can write, or hand to who runs a command."""
