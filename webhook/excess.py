"""Excess: too many containers, annotations or entries for any pod to run, looked for first of all.

Mutating webhooks are asked before the API server judges a pod, and any client that reaches the port
may ask. So what a review may cost is bounded by how much of each it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from fourleaf.model.readers.objects.manifest import Body
from fourleaf.webhook.containers import KINDS, spec_of

MOST_CONTAINERS = 500
"""Containers of a pod, of every kind together; for each there are additions and several checks."""
MOST_ENTRIES = 10_000
"""Entries of its lists and maps that are looked through, all together."""
MOST_ANNOTATION_CHARACTERS = 256 * 2**10
"""Characters of all annotations together; the API server takes as many bytes."""

_PARTS = ("resources", "env", "envFrom")
_CHOICES = ("limits", "requests")


def excess(pod: Body | None) -> tuple[str, str]:
    """The field of which a pod has too much, and what is said of it; "" for none."""
    if pod is None:
        return "", ""
    spec = spec_of(pod)
    lists = [value for kind in KINDS if isinstance(value := spec.get(kind), list)]
    if sum(map(len, lists)) > MOST_CONTAINERS:
        return "spec.containers", f"has more than {MOST_CONTAINERS} containers of all kinds"
    metadata = pod.get("metadata")
    texts = _values(metadata, ("annotations",))
    length = sum(len(text) for found in texts for text in found.values() if isinstance(text, str))
    if length > MOST_ANNOTATION_CHARACTERS:
        most = MOST_ANNOTATION_CHARACTERS // 2**10
        return "metadata.annotations", f"has more than {most} KiB of annotations"
    if sum(map(len, _walked(spec, metadata, lists))) > MOST_ENTRIES:
        return "spec", f"has more than {MOST_ENTRIES:,} entries in its lists and maps"
    return "", ""


def _walked(spec: Body, metadata: Any, containers: Iterable[list[Any]]) -> Iterator[Any]:
    """The lists and maps that a review looks through."""
    yield from _sized(metadata, ("annotations", "labels", "ownerReferences"))
    yield from _sized(spec, ("volumes", "resourceClaims", "tolerations", "schedulingGates"))
    for listed in containers:
        for one in listed:
            yield from _sized(one, _PARTS)
            for resources in _values(one, ("resources",)):
                yield from _sized(resources, _CHOICES)


def _sized(value: Any, keys: Iterable[str]) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from (found for key in keys if isinstance(found := value.get(key), list | dict))


def _values(value: Any, keys: Iterable[str]) -> list[Body]:
    return [found for found in _sized(value, keys) if isinstance(found, dict)]
