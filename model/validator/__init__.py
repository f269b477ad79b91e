"""The validator: an independent check of every plan against `docs/model.md`.

It shares no code with the solver: it checks given locations against the rules instead of
listing legal ones, and recomputes every number from the snapshot.
"""

from model.validator.breach import Breach, Law
from model.validator.check import validate
from model.validator.recompute import objective, score, who_values

__all__ = ["Breach", "Law", "objective", "score", "validate", "who_values"]
