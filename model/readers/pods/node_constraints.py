"""Where a pod may go: selector, required node affinity, tolerations; and what is unsupported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from fourleaf.model.node_constraint import (
    HOSTNAME,
    NodeConstraint,
    Operator,
    Requirement,
    Toleration,
)
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.pods.label_selector import LabelSelector, read_selector

_OPERATORS = tuple(str(operator) for operator in Operator)
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")


Terms = tuple[tuple[Requirement, ...], ...]
"""Conditions on nodes: one of them suffices, and all requirements of it must hold."""


@dataclass(frozen=True, slots=True)
class AntiAffinity:
    """A required anti-affinity: no pod that `selector` picks where label `key` has its value."""

    selector: LabelSelector
    field: str
    key: str = HOSTNAME


@dataclass(frozen=True, slots=True)
class NodeWants:
    """What the spec of a pod demands of its node and of its neighbours.

    `unsupported` names the first field that cannot be honoured, "" where there is none.
    """

    constraint: NodeConstraint
    spread: tuple[AntiAffinity, ...] = ()
    unsupported: str = ""


def read_wants(manifest: Manifest, spec: Body) -> NodeWants:
    """Decode everything in `spec` that restricts placement."""
    affinity = spec.get("affinity")
    terms: Terms = ()
    spread: tuple[AntiAffinity, ...] = ()
    unsupported = ""
    if affinity:
        affinity = manifest.mapping(affinity, "spec.affinity")
        if affinity.get("nodeAffinity"):
            terms = _node_terms(manifest, affinity["nodeAffinity"])
        spread, unsupported = _pod_terms(manifest, affinity)
    selector = spec.get("nodeSelector")
    constraint = NodeConstraint(
        selector=tuple(sorted(manifest.strings(selector, "spec.nodeSelector").items()))
        if selector
        else (),
        affinity=terms,
        tolerations=tuple(_tolerations(manifest, spec)),
    )
    return NodeWants(constraint, spread, unsupported or _other_unsupported(manifest, spec))


def both(constraint: NodeConstraint, terms: Terms) -> NodeConstraint:
    """`constraint` on nodes that also meet one of `terms`; a term without conditions none meets."""
    usable = [term for term in terms if term]
    given = [term for term in constraint.affinity if term]
    pairs = product(given, usable) if constraint.affinity else (((), term) for term in usable)
    found = tuple((*one, *other) for one, other in pairs)
    return replace(constraint, affinity=found or ((),))


def narrowed(constraint: NodeConstraint, requirement: Requirement) -> NodeConstraint:
    """`constraint` with one more condition that must hold whichever term is met."""
    terms = constraint.affinity or ((),)
    usable = tuple((*term, requirement) for term in terms if term or not constraint.affinity)
    return replace(constraint, affinity=usable or constraint.affinity)


def _tolerations(manifest: Manifest, spec: Body) -> list[Toleration]:
    found = []
    for path, body in manifest.mappings(spec.get("tolerations"), "spec.tolerations"):
        operator = manifest.text(body.get("operator"), f"{path}.operator") or "Equal"
        effect = manifest.text(body.get("effect"), f"{path}.effect")
        manifest.choice(operator, f"{path}.operator", ("Equal", "Exists"))
        manifest.choice(effect, f"{path}.effect", _EFFECTS)
        found.append(
            Toleration(
                manifest.text(body.get("key"), f"{path}.key"),
                operator,
                manifest.text(body.get("value"), f"{path}.value"),
                effect,
            )
        )
    return found


def _node_terms(manifest: Manifest, value: object) -> Terms:
    field = "spec.affinity.nodeAffinity"
    affinity = manifest.mapping(value, field)
    field += ".requiredDuringSchedulingIgnoredDuringExecution"
    required = manifest.mapping(
        affinity.get("requiredDuringSchedulingIgnoredDuringExecution"), field
    )
    return node_selector_terms(manifest, required, field)


def node_selector_terms(manifest: Manifest, required: Body, field: str) -> Terms:
    """The terms of a NodeSelector, which stands at `field`."""
    terms = []
    listed = manifest.mappings(required.get("nodeSelectorTerms"), f"{field}.nodeSelectorTerms")
    if required and not listed:
        manifest.error(
            f"{field}.nodeSelectorTerms",
            None,
            "is empty, so no node can match",
            "Give at least one term, or leave the affinity out.",
        )
    for path, term in listed:
        labels = manifest.mappings(term.get("matchExpressions"), f"{path}.matchExpressions")
        fields = manifest.mappings(term.get("matchFields"), f"{path}.matchFields")
        terms.append(
            (
                *(_requirement(manifest, at, body, False) for at, body in labels),
                *(_requirement(manifest, at, body, True) for at, body in fields),
            )
        )
    return tuple(terms)


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


def _pod_terms(manifest: Manifest, affinity: Body) -> tuple[tuple[AntiAffinity, ...], str]:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    near = manifest.mapping(affinity.get("podAffinity"), "spec.affinity.podAffinity")
    field = f"spec.affinity.podAffinity.{required}"
    if manifest.listing(near.get(required), field):
        return (), manifest.prefix + field
    apart = manifest.mapping(affinity.get("podAntiAffinity"), "spec.affinity.podAntiAffinity")
    field = f"spec.affinity.podAntiAffinity.{required}"
    found = []
    for path, term in manifest.mappings(apart.get(required), field):
        key = manifest.text(term.get("topologyKey"), f"{path}.topologyKey")
        if not key:
            return (), f"{manifest.prefix}{path}.topologyKey"
        for other in ("namespaces", "namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"):
            if term.get(other) is not None and term.get(other) != [manifest.namespace]:
                return (), f"{manifest.prefix}{path}.{other}"
        selector = read_selector(manifest, term.get("labelSelector"), f"{path}.labelSelector")
        found.append(AntiAffinity(selector, f"{manifest.prefix}{path}", key))
    return tuple(found), ""


def _other_unsupported(manifest: Manifest, spec: Body) -> str:
    if spec.get("topologySpreadConstraints"):
        field = "spec.topologySpreadConstraints"
        for path, body in manifest.mappings(spec["topologySpreadConstraints"], field):
            action = body.get("whenUnsatisfiable", "DoNotSchedule")
            allowed = ("DoNotSchedule", "ScheduleAnyway")
            named = manifest.text(action, f"{path}.whenUnsatisfiable", "DoNotSchedule")
            manifest.choice(named, f"{path}.whenUnsatisfiable", allowed)
            if named == "DoNotSchedule":
                return manifest.prefix + path
    return ""
