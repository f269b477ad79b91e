"""Aging: what placing a gang is worth grows with the time that it has waited."""

from __future__ import annotations

from fourleaf.model.config.spec import Spec
from fourleaf.model.gang import Gang

AGE_BASE = 16
AGE_STEPS = 8


def age_step(spec: Spec, now: float, created: float) -> int:
    """How old a gang is, in 0..7 steps of `batch.ageStepSeconds`."""
    return max(0, min(AGE_STEPS - 1, int((now - created) // spec.batch.age_step_seconds)))


def placed_value(gang: Gang, step: int) -> int:
    """What placing `gang` is worth within its priority tier: weight * (16 + age step)."""
    return gang.weight * (AGE_BASE + step)
