"""Terms of a pod about other pods: those that a selector picks, near by a label of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from fourleaf.model.readers.objects.manifest import Body, Manifest, entries_of, part_of
from fourleaf.model.readers.pods.label_selector import LabelSelector, read_selector

FORBIDS, ANYWAY = "DoNotSchedule", "ScheduleAnyway"
"""What a topology spread constraint comes to where it cannot be met."""

MOST_NAMESPACES = 64
"""Namespaces that the terms of a pod may list: beside each of them each term is known by itself."""

MOST_STANDING_TERMS = 64
"""Terms about other pods that are read one by one of a pod that stands, each in some 20 us.

A pod that waits may have 32. What has more has been bound by another scheduler, with 1,900 maybe.
"""

EVERY_NAMESPACE = ""
"""Stands among the namespaces of a term for all that there are."""

ALL_NODES = ""
"""Stands for a label by which all nodes are near each other; no label has such a name."""


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
    """A topology spread constraint.

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


def read_pod_term(
    manifest: Manifest,
    body: Body,
    path: str,
    widely: bool = False,
    most: int = MOST_NAMESPACES,
) -> tuple[PodTerm | None, str]:
    """The PodAffinityTerm at `path`, or None and the field that cannot be honoured.

    Labels of namespaces are not read, nor more than `most` of their names: read `widely`, a term
    that goes by such is about all.
    """
    key = manifest.text(body.get("topologyKey"), f"{path}.topologyKey")
    if not key:
        return None, f"{manifest.prefix}{path}.topologyKey"
    namespaces = _namespaces(manifest, body, path)
    is_long = namespaces is not None and len(namespaces) > max(1, most)
    if (namespaces is None or is_long) and widely:
        namespaces = (EVERY_NAMESPACE,)
    elif namespaces is None or is_long:
        field = "namespaces" if is_long else "namespaceSelector"
        return None, f"{manifest.prefix}{path}.{field}"
    selector = _selector(manifest, body, path)
    return PodTerm(selector, f"{manifest.prefix}{path}", key, namespaces), ""


def has_many_terms(spec: Body) -> bool:
    """Whether a pod has more terms about others, required or preferred, than are read one by one.

    Counted without reading them. Of one that stands its required anti-affinities alone are read
    then, by `standing_terms`.
    """
    affinity = part_of(spec, "affinity")
    parts = (affinity.get(kind) for kind in ("podAffinity", "podAntiAffinity"))
    lists = [terms for part in parts if isinstance(part, dict) for terms in part.values()]
    lists.append(spec.get("topologySpreadConstraints"))
    return sum(len(one) for one in lists if isinstance(one, list)) > MOST_STANDING_TERMS


def standing_terms(listed: list[Any]) -> list[Any]:
    """PodAffinityTerms of a pod that stands, equal ones once: one more at most than are read."""
    if len(listed) <= MOST_STANDING_TERMS:
        return listed
    found: dict[str, Any] = {}
    for one in listed:
        found.setdefault(repr(one), one)
        if len(found) > MOST_STANDING_TERMS:
            break
    return list(found.values())


def wide_terms(manifest: Manifest, listed: list[Any], path: str) -> tuple[PodTerm, ...]:
    """Few terms that pick all pods that any of the PodAffinityTerms at `path` picks, and others.

    One for each topology key and label that is asked for, whatever its value is to be; where that
    is many as well, one for each topology key, about all pods; where these are many, one near
    which all nodes are. Each is about the namespaces that its own terms name. A term that is wrong
    picks none, and nothing is told of it.
    """
    asked = [
        ((one["topologyKey"], _label_asked(one)), _wide_namespaces(manifest, one))
        for one in listed
        if isinstance(one, dict) and _picks_any(one)
    ]
    if len({pair for pair, _ in asked}) > MOST_STANDING_TERMS:
        asked = [((key, ""), names) for (key, _), names in asked]
    if len({pair for pair, _ in asked}) > MOST_STANDING_TERMS:
        # Which of them nodes have is not known here, and may change.
        asked = [((ALL_NODES, ""), names) for _, names in asked]
    field = f"{manifest.prefix}{path}"
    found: dict[tuple[str, str], dict[str, None]] = {}
    for pair, names in asked:
        found.setdefault(pair, {}).update(names)
    terms, left = [], MOST_NAMESPACES
    for (key, label), some in found.items():
        is_all = EVERY_NAMESPACE in some or len(some) > max(1, left)
        namespaces = (EVERY_NAMESPACE,) if is_all else tuple(sorted(some))
        left -= len(namespaces) - 1
        selector = LabelSelector(expressions=((label, "Exists", ()),) if label else ())
        terms.append(PodTerm(selector, field, key, namespaces))
    return tuple(terms)


def _wide_namespaces(manifest: Manifest, term: Body) -> dict[str, None]:
    """The namespaces that a term names, its own where it names none, or `EVERY_NAMESPACE`."""
    if term.get("namespaceSelector") is not None:
        return {EVERY_NAMESPACE: None}
    listed = term.get("namespaces")
    some = listed if isinstance(listed, list) else []
    named = dict.fromkeys(one for one in some if one and isinstance(one, str))
    return named or {manifest.namespace: None}


def _picks_any(term: Body) -> bool:
    key = term.get("topologyKey")
    return isinstance(key, str) and bool(key) and isinstance(term.get("labelSelector"), dict)


def _label_asked(term: Body) -> str:
    """A label that all have which the term picks, "" where none is sure."""
    selector = term["labelSelector"]
    labels = selector.get("matchLabels")
    if isinstance(labels, dict) and labels:
        return str(min(labels))
    for one in entries_of(selector, "matchExpressions"):
        if one.get("operator") in ("In", "Exists") and isinstance(one.get("key"), str):
            return str(one["key"])
    return ""


def names_own_labels(spec: Body) -> bool:
    """Whether terms about other pods go by labels of the pod itself, and so change with these."""
    affinity = part_of(spec, "affinity")
    parts = [part_of(affinity, kind) for kind in ("podAffinity", "podAntiAffinity")]
    terms = [one for part in parts for key in part for one in entries_of(part, key)]
    terms += [part_of(one, "podAffinityTerm") for one in terms if "podAffinityTerm" in one]
    terms += entries_of(spec, "topologySpreadConstraints")
    return any(one.get("matchLabelKeys") or one.get("mismatchLabelKeys") for one in terms)


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


def _selector(manifest: Manifest, term: Body, path: str, is_merged: bool = True) -> LabelSelector:
    """The pods of a term. The labels of the pod itself stand for the keys that are to match.

    Unless it says so already, where it `is_merged`: what an API server has written into it once
    counts for good, also for a pod that is labelled anew.
    """
    selector = read_selector(manifest, term.get("labelSelector"), f"{path}.labelSelector")
    more = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")]
    if selector.picks_nothing or not any(term.get(field) for field, _ in more):
        return selector
    metadata = manifest.mapping(manifest.body.get("metadata"), "metadata")
    labels = manifest.strings(metadata.get("labels"), "metadata.labels")
    said = {(key, operator) for key, operator, _ in selector.expressions}
    added = []
    for field, operator in more:
        for i, key in enumerate(manifest.listing(term.get(field), f"{path}.{field}")):
            named = manifest.text(key, f"{path}.{field}[{i}]")
            if named in labels and not (is_merged and (named, operator) in said):
                added.append((named, operator, (labels[named],)))
    return replace(selector, expressions=(*selector.expressions, *added))


def _read_spread(manifest: Manifest, body: Body, path: str) -> SpreadConstraint:
    """The topology spread constraint at `path`, whichever its `whenUnsatisfiable`."""
    key = manifest.text(body.get("topologyKey"), f"{path}.topologyKey")
    if not key:
        advice = "Name the label of nodes over which the pods are to be spread."
        manifest.error(f"{path}.topologyKey", None, "is missing", advice)
    named = f"{manifest.prefix}{path}"
    # kube-scheduler reads the labels of the pod each time, for a spread alone.
    selector = _selector(manifest, body, path, is_merged=False)
    term = PodTerm(selector, named, key, (manifest.namespace,))
    return SpreadConstraint(
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


def spread_constraints(manifest: Manifest, spec: Body, action: str) -> tuple[SpreadConstraint, ...]:
    """The topology spread constraints with that `whenUnsatisfiable`."""
    listed = spec.get("topologySpreadConstraints")
    if not listed:
        return ()
    return tuple(
        _read_spread(manifest, body, path)
        for path, body in manifest.mappings(listed, "spec.topologySpreadConstraints")
        if _action(manifest, body, path) == action
    )


def _action(manifest: Manifest, body: Body, path: str) -> str | None:
    field = f"{path}.whenUnsatisfiable"
    action = manifest.text(body.get("whenUnsatisfiable"), field, FORBIDS)
    return manifest.choice(action, field, (FORBIDS, ANYWAY))
