"""Which parts of a config readers look at: an edit of all else changes nothing that was read."""

from __future__ import annotations

from collections.abc import Hashable

from fourleaf.model.config.spec import Spec

UNREAD = frozenset(
    {
        "backfill",
        "batch",
        "defragmentation",
        "failures",
        "fragmentation",
        "ledger",
        "messages",
        "penalties",
        "preemption",
        "scoring_weights",
        "solver",
        "topology_constraints",
    }
)
"""Sections that say how to plan, to judge and to report, not what there is."""

READ_IN_PART = {
    "namespaces": frozenset({"domains"}),
    "strategies": frozenset({"one_per_node", "topology_policy"}),
    "repair": frozenset({"policy"}),
}
"""Sections of which readers look at these fields alone, beside the names of their entries."""


def are_read_alike(one: Spec, other: Spec) -> bool:
    """Whether every object means the same under both."""
    names = Spec.model_fields.keys() - UNREAD - READ_IN_PART.keys()
    return _in_part(one) == _in_part(other) and all(
        getattr(one, name) == getattr(other, name) for name in names
    )


def _in_part(spec: Spec) -> Hashable:
    # A namespace without domains reads as one without a policy.
    domains = sorted((name, one.domains) for name, one in spec.namespaces.items() if one.domains)
    laws = sorted(
        (name, one.one_per_node, one.topology_policy) for name, one in spec.strategies.items()
    )
    return tuple(domains), tuple(laws), spec.repair.policy
