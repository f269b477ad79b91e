"""Conditions on nodes as the Kubernetes API writes them: NodeSelector and its terms."""

from __future__ import annotations

from fourleaf.model.node_constraint import Operator, Requirement
from fourleaf.model.readers.objects.manifest import Body, Manifest

_OPERATORS = tuple(str(operator) for operator in Operator)

Terms = tuple[tuple[Requirement, ...], ...]
"""Conditions on nodes: one of them suffices, and all requirements of it must hold."""


def node_selector_terms(manifest: Manifest, required: Body, field: str) -> Terms:
    """The terms of a NodeSelector, which stands at `field`."""
    listed = manifest.mappings(required.get("nodeSelectorTerms"), f"{field}.nodeSelectorTerms")
    if required and not listed:
        manifest.error(
            f"{field}.nodeSelectorTerms",
            None,
            "is empty, so no node can match",
            "Give at least one term, or leave the affinity out.",
        )
    return tuple(node_term(manifest, term, path) for path, term in listed)


def node_term(manifest: Manifest, term: Body, path: str) -> tuple[Requirement, ...]:
    """The requirements of the NodeSelectorTerm at `path`, all of which must hold."""
    labels = manifest.mappings(term.get("matchExpressions"), f"{path}.matchExpressions")
    fields = manifest.mappings(term.get("matchFields"), f"{path}.matchFields")
    return (
        *(_requirement(manifest, at, body, False) for at, body in labels),
        *(_requirement(manifest, at, body, True) for at, body in fields),
    )


def _requirement(manifest: Manifest, path: str, body: Body, is_field: bool) -> Requirement:
    key = manifest.text(body.get("key"), f"{path}.key")
    operator = manifest.choice(
        manifest.text(body.get("operator"), f"{path}.operator"), f"{path}.operator", _OPERATORS
    )
    values = tuple(
        manifest.text(item, f"{path}.values[{i}]")
        for i, item in enumerate(manifest.listing(body.get("values"), f"{path}.values"))
    )
    chosen = Operator(operator) if operator else Operator.EXISTS
    _check_values(manifest, path, chosen, values)
    return Requirement(key, chosen, values, is_field)


def _check_values(
    manifest: Manifest, path: str, operator: Operator, values: tuple[str, ...]
) -> None:
    field = f"{path}.values"
    if operator in (Operator.IN, Operator.NOT_IN) and not values:
        manifest.error(field, None, f"is empty for {operator}", "Give at least one value.")
    elif operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST) and values:
        manifest.error(field, ", ".join(values), f"does not go with {operator}", "Remove it.")
    elif operator in (Operator.GT, Operator.LT) and (
        len(values) != 1 or not values[0].removeprefix("-").isascii() or not _whole(values[0])
    ):
        advice = f"Give one whole number for {operator}."
        manifest.error(field, ", ".join(values), "is not one whole number", advice)


def _whole(text: str) -> bool:
    return text.removeprefix("-").isdigit() and len(text) < 20
