"""Limits of preferences: each set that differs makes a plan harder to find, for everyone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from fourleaf.model.node_constraint import Preference
from fourleaf.model.readers.gangs.drafts import MOST_PREFERENCE_SETS_PER_GANG, Draft
from fourleaf.model.readers.objects.report import Report

MOST_PREFERENCE_SETS_PER_NAMESPACE = 8
"""Sets of preferences that count among the waiting gangs of one namespace."""

_Sets = set[tuple[Preference, ...]]


def limit_preferences(drafts: Sequence[Draft], report: Report) -> None:
    """Let the gangs beyond the limits prefer nothing; those that would be placed first keep it."""
    preferring = [draft for draft in drafts if draft.prefers]
    preferring.sort(key=lambda one: (-one.gang.priority, one.gang.created, one.gang.key))
    known: dict[str, _Sets] = defaultdict(set)
    for draft in preferring:
        namespace = draft.gang.key.namespace
        sets = known[namespace] | {role.preferences for role in draft.gang.roles} - {()}
        if draft.has_too_many_preferences:
            _drop(
                draft,
                report,
                f"has more than {MOST_PREFERENCE_SETS_PER_GANG} sets of preferences in its gang, "
                "or takes too many comparisons with other pods",
            )
        elif len(sets) > MOST_PREFERENCE_SETS_PER_NAMESPACE:
            _drop(
                draft,
                report,
                f"is one of more than {MOST_PREFERENCE_SETS_PER_NAMESPACE} sets of preferences of "
                f"waiting gangs in namespace {namespace}",
            )
        else:
            known[namespace] = sets


def _drop(draft: Draft, report: Report, why: str) -> None:
    roles = tuple(replace(role, preferences=()) for role in draft.gang.roles)
    draft.gang = replace(draft.gang, roles=roles)
    draft.waiting[0].manifest.on(report).warn(
        "spec",
        None,
        f"{why}, so preferred affinity and spread count for nothing here",
        "Let pods share what they prefer.",
    )
