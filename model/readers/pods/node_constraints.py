"""Where a pod may go: selector, required node affinity, tolerations; and what is unsupported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

from fourleaf.model.node_constraint import (
    NodeConstraint,
    Operator,
    Requirement,
    Toleration,
)
from fourleaf.model.readers.objects.manifest import Body, Manifest
from fourleaf.model.readers.pods.constraint_text import MOST_CONSTRAINT_BYTES, is_too_long
from fourleaf.model.readers.pods.label_selector import LabelSelector, read_selector

_OPERATORS = tuple(str(operator) for operator in Operator)
_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")


Terms = tuple[tuple[Requirement, ...], ...]
"""Conditions on nodes: one of them suffices, and all requirements of it must hold."""


MOST_POD_TERMS = 32
"""Terms of one pod about other pods: required affinity, anti-affinity and spread together."""

EVERY_NAMESPACE = ""
"""Stands among the namespaces of a term for all that there are."""


@dataclass(frozen=True, slots=True)
class PodTerm:
    """Pods that `selector` picks in `namespaces`, and the label of nodes that counts as near.

    Required of an affinity: one of them, where label `key` has the node's value; of an
    anti-affinity: none.
    """

    selector: LabelSelector
    field: str
    key: str
    namespaces: tuple[str, ...]

    def picks(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether it picks a pod of that namespace with these labels."""
        near = namespace in self.namespaces or EVERY_NAMESPACE in self.namespaces
        return near and self.selector.picks(labels)


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """A topology spread constraint that forbids: `DoNotSchedule`.

    The pods of `term` on the nodes of one value of its key may be at most `max_skew` more than
    on those of the emptiest one, which counts as empty where there are fewer than `min_domains`.
    Values count where a node has them that the pod may use, for its own selector and affinity
    (`by_affinity`) and for its taints (`by_taints`).
    """

    term: PodTerm
    max_skew: int
    min_domains: int
    by_affinity: bool
    by_taints: bool


@dataclass(frozen=True, slots=True)
class NodeWants:
    """What the spec of a pod demands of its node and of its neighbours.

    `near` are its required affinities, `apart` its required anti-affinities. `unsupported` names
    the first field that cannot be honoured, "" where there is none.
    """

    constraint: NodeConstraint
    apart: tuple[PodTerm, ...] = ()
    near: tuple[PodTerm, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()
    unsupported: str = ""

    @property
    def minds_others(self) -> bool:
        """Whether where other pods are decides where this one may go."""
        return bool(self.apart or self.near or self.spread)


def read_wants(manifest: Manifest, spec: Body) -> NodeWants:
    """Decode everything in `spec` that restricts placement."""
    if is_too_long(spec):
        what = f"{manifest.prefix}spec, with more than {MOST_CONSTRAINT_BYTES // 1024} KiB of "
        what += "affinity, tolerations, selector and spread,"
        return NodeWants(NodeConstraint(), unsupported=what)
    affinity = spec.get("affinity")
    terms: Terms = ()
    near: tuple[PodTerm, ...] = ()
    apart: tuple[PodTerm, ...] = ()
    unsupported = ""
    if affinity:
        affinity = manifest.mapping(affinity, "spec.affinity")
        if affinity.get("nodeAffinity"):
            terms = _node_terms(manifest, affinity["nodeAffinity"])
        near, no_near = _pod_terms(manifest, affinity, "podAffinity")
        apart, no_apart = _pod_terms(manifest, affinity, "podAntiAffinity")
        unsupported = no_near or no_apart
    selector = spec.get("nodeSelector")
    constraint = NodeConstraint(
        selector=tuple(sorted(manifest.strings(selector, "spec.nodeSelector").items()))
        if selector
        else (),
        affinity=terms,
        tolerations=tuple(_tolerations(manifest, spec)),
    )
    spread = tuple(_spread(manifest, spec)) if spec.get("topologySpreadConstraints") else ()
    if len(near) + len(apart) + len(spread) > MOST_POD_TERMS:
        # Each of them is compared with all pods that run.
        unsupported = unsupported or f"{manifest.prefix}spec, with more than {MOST_POD_TERMS} terms"
        unsupported += " of affinity and spread,"
        return NodeWants(constraint, unsupported=unsupported)
    return NodeWants(constraint, apart, near, spread, unsupported)


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
        manifest.choice(operator, f"{path}.operator", ("Equal", "Exists", "Gt", "Lt"))
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


def _pod_terms(manifest: Manifest, affinity: Body, kind: str) -> tuple[tuple[PodTerm, ...], str]:
    """The required terms of an affinity to pods, and the first field that cannot be honoured."""
    part = manifest.mapping(affinity.get(kind), f"spec.affinity.{kind}")
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    field = f"spec.affinity.{kind}.{required}"
    found = []
    for path, term in manifest.mappings(part.get(required), field):
        key = manifest.text(term.get("topologyKey"), f"{path}.topologyKey")
        if not key:
            return (), f"{manifest.prefix}{path}.topologyKey"
        namespaces = _namespaces(manifest, term, path)
        if namespaces is None:
            return (), f"{manifest.prefix}{path}.namespaceSelector"
        selector = _selector(manifest, term, path)
        found.append(PodTerm(selector, f"{manifest.prefix}{path}", key, namespaces))
    return tuple(found), ""


def _namespaces(manifest: Manifest, term: Body, path: str) -> tuple[str, ...] | None:
    """Where a term looks for pods, None where labels of namespaces decide, which are not read."""
    field = f"{path}.namespaces"
    listed = manifest.listing(term.get("namespaces"), field)
    named = tuple(manifest.text(one, f"{field}[{i}]") for i, one in enumerate(listed))
    selector = term.get("namespaceSelector")
    if selector is None:
        return tuple(sorted({one for one in named if one})) or (manifest.namespace,)
    picked = read_selector(manifest, selector, f"{path}.namespaceSelector")
    return (EVERY_NAMESPACE,) if picked == LabelSelector() else None


def _selector(manifest: Manifest, term: Body, path: str) -> LabelSelector:
    """The pods of a term. The labels of the pod itself stand for the keys that are to match."""
    selector = read_selector(manifest, term.get("labelSelector"), f"{path}.labelSelector")
    more = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")]
    if selector.picks_nothing or not any(term.get(field) for field, _ in more):
        return selector
    metadata = manifest.mapping(manifest.body.get("metadata"), "metadata")
    labels = manifest.strings(metadata.get("labels"), "metadata.labels")
    added = []
    for field, operator in more:
        for i, key in enumerate(manifest.listing(term.get(field), f"{path}.{field}")):
            named = manifest.text(key, f"{path}.{field}[{i}]")
            if named in labels:
                added.append((named, operator, (labels[named],)))
    return replace(selector, expressions=(*selector.expressions, *added))


def _spread(manifest: Manifest, spec: Body) -> Iterator[SpreadConstraint]:
    """The topology spread constraints that forbid a node."""
    field = "spec.topologySpreadConstraints"
    for path, body in manifest.mappings(spec["topologySpreadConstraints"], field):
        at = f"{path}.whenUnsatisfiable"
        action = manifest.text(body.get("whenUnsatisfiable"), at, "DoNotSchedule")
        if manifest.choice(action, at, ("DoNotSchedule", "ScheduleAnyway")) != "DoNotSchedule":
            continue
        key = manifest.text(body.get("topologyKey"), f"{path}.topologyKey")
        if not key:
            advice = "Name the label of nodes over which the pods are to be spread."
            manifest.error(f"{path}.topologyKey", None, "is missing", advice)
        named = f"{manifest.prefix}{path}"
        term = PodTerm(_selector(manifest, body, path), named, key, (manifest.namespace,))
        yield SpreadConstraint(
            term,
            manifest.whole(body.get("maxSkew"), f"{path}.maxSkew", 1, 1),
            manifest.whole(body.get("minDomains"), f"{path}.minDomains", 1, 1),
            _policy(manifest, body, path, "nodeAffinityPolicy", "Honor"),
            _policy(manifest, body, path, "nodeTaintsPolicy", "Ignore"),
        )


def _policy(manifest: Manifest, body: Body, path: str, field: str, usual: str) -> bool:
    """Whether a policy of a spread constraint is to be honoured."""
    said = manifest.text(body.get(field), f"{path}.{field}") or usual
    return manifest.choice(said, f"{path}.{field}", ("Honor", "Ignore")) == "Honor"
