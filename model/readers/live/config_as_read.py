"""Which parts of a config readers look at: an edit of all else changes nothing that was read."""

from __future__ import annotations

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


def are_read_alike(one: Spec, other: Spec) -> bool:
    """Whether every object means the same under both.

    Of the policies of namespaces, nothing but their domains is looked at.
    """
    names = Spec.model_fields.keys() - UNREAD - {"namespaces"}
    return _domains(one) == _domains(other) and all(
        getattr(one, name) == getattr(other, name) for name in names
    )


def _domains(spec: Spec) -> dict[str, tuple[str, ...]]:
    return {name: one.domains for name, one in spec.namespaces.items() if one.domains}
