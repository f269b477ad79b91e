"""The validator: an independent check of every plan against `docs/model.md`.

It shares no code with the solver: it checks given locations against the rules instead of
listing legal ones, and recomputes every number from the snapshot.
"""

from fourleaf.model.validator.breach import Breach, Law
from fourleaf.model.validator.check import validate
from fourleaf.model.validator.defrag import defrag_breaches
from fourleaf.model.validator.preemption import preemption_breaches
from fourleaf.model.validator.recompute import score, who_values
from fourleaf.model.validator.repair import repair_breaches

__all__ = [
    "Breach",
    "Law",
    "defrag_breaches",
    "preemption_breaches",
    "repair_breaches",
    "score",
    "validate",
    "who_values",
]
