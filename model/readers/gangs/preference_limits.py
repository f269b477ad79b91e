"""Limits of preferences: each set that differs makes a plan harder to find, for everyone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from fourleaf.model.node_constraint import Preference
from fourleaf.model.readers.gangs.drafts import MOST_PREFERENCE_SETS_PER_GANG, Draft
from fourleaf.model.readers.objects.few_warnings import FewWarnings
from fourleaf.model.readers.objects.report import Report

MOST_PREFERENCE_SETS_PER_NAMESPACE = 8
"""Sets of preferences that count among the waiting gangs of one namespace."""

_Sets = set[tuple[Preference, ...]]


def limit_preferences(drafts: Sequence[Draft], report: Report) -> None:
    """Let the gangs beyond the limits prefer nothing; those that would be placed first keep it."""
    preferring = [draft for draft in drafts if draft.prefers]
    warnings = FewWarnings(report)
    preferring.sort(key=lambda one: (-one.gang.priority, one.gang.created, one.gang.key))
    known: dict[str, _Sets] = defaultdict(set)
    for draft in preferring:
        namespace = draft.gang.key.namespace
        sets = known[namespace] | {role.preferences for role in draft.gang.roles} - {()}
        if draft.has_too_many_preferences:
            _drop(
                draft,
                warnings,
                f"has more than {MOST_PREFERENCE_SETS_PER_GANG} sets of preferences in its gang, "
                "or takes too many comparisons with other pods",
            )
        elif len(sets) > MOST_PREFERENCE_SETS_PER_NAMESPACE:
            _drop(
                draft,
                warnings,
                f"is one of more than {MOST_PREFERENCE_SETS_PER_NAMESPACE} sets of preferences of "
                f"waiting gangs in namespace {namespace}",
            )
        else:
            known[namespace] = sets


def _drop(draft: Draft, warnings: FewWarnings, why: str) -> None:
    draft.prefer_nothing()
    warnings.warn(
        draft.waiting[0].manifest,
        "spec",
        None,
        f"{why}, so preferred affinity and spread count for nothing here",
        "Let pods share what they prefer.",
    )
