"""Where a pod may go: selector, affinity, tolerations, features; and what is unsupported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product

from fourleaf.model.node_constraint import NodeConstraint, Requirement, Toleration
from fourleaf.model.readers.objects.manifest import Body, Manifest, part_of
from fourleaf.model.readers.pods.constraint_text import MOST_CONSTRAINT_BYTES, is_too_long
from fourleaf.model.readers.pods.named_objects import (
    too_many_amounts,
    too_many_conditions,
    too_many_objects,
    too_many_selector_entries,
)
from fourleaf.model.readers.pods.needed_features import needed_features
from fourleaf.model.readers.pods.node_terms import Terms, node_selector_terms
from fourleaf.model.readers.pods.pod_terms import (
    FORBIDS,
    MOST_NAMESPACES,
    MOST_STANDING_TERMS,
    PodTerm,
    SpreadConstraint,
    has_many_terms,
    read_pod_term,
    spread_constraints,
    standing_terms,
    wide_terms,
)
from fourleaf.model.readers.pods.preferences import (
    NO_PREFERENCES,
    PodPreferences,
    read_preferences,
)

_EFFECTS = ("", "NoSchedule", "PreferNoSchedule", "NoExecute")

FEWER = "Ask for fewer of them."
"""What to do about too many."""

MOST_CONDITIONS = 100
"""Conditions on the node and tolerations of one waiting pod: each is held against all nodes."""

MOST_POD_TERMS = 32
"""Terms of one waiting pod about others: required affinity, anti-affinity and spread together."""

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class NodeWants:
    """What the spec of a pod demands of its node and of its neighbours, and what is `preferred`.

    `near` are its required affinities, `apart` its required anti-affinities. `unsupported` names
    the first field that cannot be honoured, "" where there is none; `advice` is what to do about it
    where that is not to remove the field.
    """

    constraint: NodeConstraint
    apart: tuple[PodTerm, ...] = ()
    near: tuple[PodTerm, ...] = ()
    spread: tuple[SpreadConstraint, ...] = ()
    unsupported: str = ""
    advice: str = ""
    preferred: PodPreferences = NO_PREFERENCES

    @property
    def minds_others(self) -> bool:
        """Whether where other pods are decides where this one may go."""
        return bool(self.apart or self.near or self.spread)


def read_wants(manifest: Manifest, spec: Body) -> NodeWants:
    """Decode everything in `spec` about where the pod is placed."""
    if is_too_long(spec):
        what = f"{manifest.prefix}spec, with more than {MOST_CONSTRAINT_BYTES // 1024} KiB of "
        what += "affinity, tolerations, selector and spread,"
        return NodeWants(NodeConstraint(), unsupported=what, advice=FEWER)
    # Others must keep away from a pod that stands, whatever it would be refused for.
    stands = bool(spec.get("nodeName"))
    if not stands and (
        what := too_many_amounts(spec)
        or too_many_objects(spec)
        or too_many_conditions(spec)
        or too_many_selector_entries(spec)
    ):
        return NodeWants(NodeConstraint(), unsupported=f"{manifest.prefix}{what}", advice=FEWER)
    # Where it stands, only what it repels concerns others.
    is_wide = stands and has_many_terms(spec)
    affinity = spec.get("affinity")
    terms: Terms = ()
    near: tuple[PodTerm, ...] = ()
    apart: tuple[PodTerm, ...] = ()
    unsupported = ""
    if affinity:
        affinity = manifest.mapping(affinity, "spec.affinity")
        if affinity.get("nodeAffinity"):
            terms = _node_terms(manifest, affinity["nodeAffinity"])
        if is_wide:
            apart, unsupported = _standing_terms(manifest, affinity)
        else:
            near, no_near = _pod_terms(manifest, affinity, "podAffinity")
            apart, no_apart = _pod_terms(manifest, affinity, "podAntiAffinity", widely=stands)
            unsupported = no_near or no_apart
    selector = spec.get("nodeSelector")
    constraint = NodeConstraint(
        selector=tuple(sorted(manifest.strings(selector, "spec.nodeSelector").items()))
        if selector
        else (),
        affinity=terms,
        tolerations=tuple(_tolerations(manifest, spec)),
        features=needed_features(spec),
    )
    if constraint.conditions > MOST_CONDITIONS and not stands:
        what = f"{manifest.prefix}spec, with more than {MOST_CONDITIONS} conditions on nodes and "
        advice = "" if unsupported else FEWER
        unsupported = unsupported or f"{what}tolerations,"
        return NodeWants(NodeConstraint(), unsupported=unsupported, advice=advice)
    if is_wide:
        return NodeWants(constraint, apart, unsupported=unsupported)
    spread = spread_constraints(manifest, spec, FORBIDS)
    if len(near) + len(apart) + len(spread) > MOST_POD_TERMS and not stands:
        # Each of them is compared with all pods that run.
        is_many = not unsupported
        unsupported = unsupported or f"{manifest.prefix}spec, with more than {MOST_POD_TERMS} terms"
        unsupported += " of affinity and spread,"
        return NodeWants(constraint, unsupported=unsupported, advice=FEWER if is_many else "")
    preferred = read_preferences(manifest, spec)
    return NodeWants(constraint, apart, near, spread, unsupported, preferred=preferred)


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
    field += f".{REQUIRED}"
    required = manifest.mapping(affinity.get(REQUIRED), field)
    return node_selector_terms(manifest, required, field)


def _standing_terms(manifest: Manifest, affinity: Body) -> tuple[tuple[PodTerm, ...], str]:
    """The required anti-affinities of a pod that stands and has too many terms to read each."""
    given = part_of(affinity, "podAntiAffinity").get(REQUIRED)
    given = given if isinstance(given, list) else []
    listed = standing_terms(given)
    if len(listed) > MOST_STANDING_TERMS:
        field = f"spec.affinity.podAntiAffinity.{REQUIRED}"
        return wide_terms(manifest, given, field), ""
    few = {"podAntiAffinity": {REQUIRED: listed}}
    return _pod_terms(manifest, few, "podAntiAffinity", widely=True)


def _pod_terms(
    manifest: Manifest, affinity: Body, kind: str, widely: bool = False
) -> tuple[tuple[PodTerm, ...], str]:
    """The required terms of an affinity to pods, and the first field that cannot be honoured."""
    part = manifest.mapping(affinity.get(kind), f"spec.affinity.{kind}")
    field = f"spec.affinity.{kind}.{REQUIRED}"
    found, left = [], MOST_NAMESPACES
    for path, body in manifest.mappings(part.get(REQUIRED), field):
        term, unsupported = read_pod_term(manifest, body, path, widely, left)
        if term is None:
            return (), unsupported
        found.append(term)
        left -= len(term.namespaces) - 1
    return tuple(found), ""
