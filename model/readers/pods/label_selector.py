"""Label selectors: which pods they pick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fourleaf.model.readers.objects.manifest import Manifest

ENTRIES_A_COMPARISON = 4
"""Labels and expressions that take as long as the rest of a comparison with a pod: 0.25 us."""
VALUES_A_COMPARISON = 32
"""Values looked through that take as long as that."""

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """`labels` must all match, and every expression (key, operator, values) must hold.

    `picks_nothing` marks an absent selector, which by the Kubernetes API picks no pod; an
    empty one picks all. Each comparison with a pod counts for so many `comparisons`.
    """

    labels: tuple[tuple[str, str], ...] = ()
    expressions: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    picks_nothing: bool = False
    comparisons: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        entries = len(self.labels) + len(self.expressions)
        values = sum(len(values) for _, _, values in self.expressions)
        comparisons = 1 + entries // ENTRIES_A_COMPARISON + values // VALUES_A_COMPARISON
        object.__setattr__(self, "comparisons", comparisons)

    def picks(self, labels: Mapping[str, str]) -> bool:
        """Whether a pod with `labels` is selected."""
        if self.picks_nothing:
            return False
        for key, wanted in self.labels:
            if labels.get(key) != wanted:
                return False
        for key, operator, values in self.expressions:
            value = labels.get(key)
            match operator:
                case "In":
                    holds = value in values
                case "NotIn":
                    holds = value not in values
                case "Exists":
                    holds = value is not None
                case _:
                    holds = value is None
            if not holds:
                return False
        return True


def read_selector(manifest: Manifest, value: object, field: str) -> LabelSelector:
    """Decode a label selector."""
    if value is None:
        return LabelSelector(picks_nothing=True)
    body = manifest.mapping(value, field)
    expressions = []
    for path, item in manifest.mappings(body.get("matchExpressions"), f"{field}.matchExpressions"):
        operator = manifest.text(item.get("operator"), f"{path}.operator")
        manifest.choice(operator, f"{path}.operator", _OPERATORS)
        values = tuple(
            manifest.text(one, f"{path}.values[{i}]")
            for i, one in enumerate(manifest.listing(item.get("values"), f"{path}.values"))
        )
        expressions.append((manifest.text(item.get("key"), f"{path}.key"), operator, values))
    labels = manifest.strings(body.get("matchLabels"), f"{field}.matchLabels")
    return LabelSelector(tuple(sorted(labels.items())), tuple(expressions))
