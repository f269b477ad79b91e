"""Which parts of a config decide whether a gang can start: an edit of all else asks no gang again.

Ten thousand gangs may stand aside. What only says which place is better, how much time a solve has,
or which pods it may evict, leaves every proof that there is none as it is. An answer that was
not proven is no such proof: where there is one, every edit asks again (`SetAside`).
"""

from __future__ import annotations

from typing import Any

from fourleaf.model.config.spec import Spec

WITHOUT_VERDICT = frozenset(
    {
        "batch",
        "defragmentation",
        "failures",
        "fragmentation",
        "ledger",
        "messages",
        "penalties",
        "preemption",
        "repair",
        "scoring_weights",
        "solver",
    }
)
"""Sections that decide about no place: what is new in a config decides until it is listed here.

Nodes that are judged by `failures`, and places that `repair` keeps, change what there is, which
asks again by itself.
"""

WITHOUT_VERDICT_IN_PART = {
    "namespaces": frozenset({"max_gangs", "max_members", "max_solve_seconds", "max_evictions"}),
    "strategies": frozenset(
        {"factors", "leaves", "most_per_node", "most_per_leaf", "spread", "fewest_nodes"}
    ),
}
"""Fields of entries that decide about none either: parts of a batch, and what places cost."""


def are_judged_alike(one: Spec, other: Spec) -> bool:
    """Whether a gang that has no place under one of them has none under the other.

    Where nodes, gangs and pods that run are the same under both.
    """
    return _deciding(one) == _deciding(other)


def _deciding(spec: Spec) -> dict[str, Any]:
    found = spec.model_dump(exclude=set(WITHOUT_VERDICT))
    for section, fields in WITHOUT_VERDICT_IN_PART.items():
        found[section] = {
            name: {field: value for field, value in entry.items() if field not in fields}
            for name, entry in found[section].items()
        }
    return found
