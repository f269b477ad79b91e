"""Entry limit: how much of an object of a tenant is kept, whatever its schema lets it hold."""

from __future__ import annotations

from typing import Any

from fourleaf.k8s_bridge.cluster.protocol import Body

MOST_ENTRIES = 10_000
"""Entries of lists and objects that are kept of an object of a tenant, but for pods. Each takes up
to a hundred bytes, whatever it says: 1.4 MB of empty ones took 30 MB in every replica."""
TOO_LARGE = "more than is read of one object"
"""Stands for a list or an object that is not kept, and makes no sense to any reader of one."""


def has_too_many_entries(value: Any, most: int = MOST_ENTRIES) -> bool:
    """Whether a list or an object has more entries than `most`."""
    there: list[Any] = [value]
    count = 0
    while there:
        one = there.pop()
        count += len(one)
        if count > most:
            break
        inner = one.values() if isinstance(one, dict) else one
        there += [value for value in inner if isinstance(value, dict | list)]
    return count > most


def drop_most_entries(body: Body) -> None:
    """Keep `MOST_ENTRIES` of `body`, from the outside in: what is long goes before what is short.

    What is kept is copied, since equal parts of other objects may be the same one.
    """
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        # Labels, annotations and owners are read by all, who expect some or none.
        for key, value in metadata.items():
            if isinstance(value, dict | list) and has_too_many_entries(value, MOST_ENTRIES // 10):
                metadata[key] = None
    left = MOST_ENTRIES
    level: list[Any] = [body]
    while level:
        below = []
        for one in level:
            items = one.items() if isinstance(one, dict) else enumerate(one)
            for key, value in list(items):
                if not isinstance(value, dict | list):
                    continue
                if len(value) > left:
                    one[key] = TOO_LARGE
                    continue
                left -= len(value)
                one[key] = value.copy()
                below.append(one[key])
        level = below
