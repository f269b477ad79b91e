"""PodDisruptionBudgets as limits: how many pods the eviction API would let go at this moment."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fourleaf.model.problems import one_line
from fourleaf.model.readers.objects.manifest import Body, Manifest, entries_of, part_of
from fourleaf.model.readers.pods.label_selector import LabelSelector, read_selector
from fourleaf.model.running_gang import EvictionLimit, PodName

BUDGET = ("policy", "PodDisruptionBudget")
"""API group and kind."""
MOST_BUDGETS_ASKED = 32
"""Budgets that are asked whether they pick a pod. Where more of its namespace may, the pod stays: a
tenant who makes thousands of budgets protects its own pods, which two of them would do as well."""

MOST_SELECTOR_VALUES = 100
"""Labels, conditions and values in the selector of a budget. One with more picks all pods of its
namespace: it protects what it would, and more."""

SYNC_FAILED = "SyncFailed"
"""The reason in the condition of a budget whose controller cannot count its pods."""

MOST_QUOTED = 160
"""Characters of the message of that condition that are quoted."""

_ENDED = ("Pending", "Succeeded", "Failed")
"""Phases in which the API evicts a pod whatever budgets say."""
_Pair = tuple[str, str] | None


@dataclass(frozen=True, slots=True)
class DisruptionBudget:
    """`allowed` more pods that `selector` picks in the namespace may go.

    `frees_unready`: those that are not ready go without being counted. `advice`: what its
    controller needs that cannot count its pods, and lets none go for as long, "" where it can.
    """

    namespace: str
    name: str
    selector: LabelSelector
    allowed: int
    frees_unready: bool
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}"


def read_budget(manifest: Manifest) -> DisruptionBudget:
    """A budget whose status is not there yet, or older than its spec, lets no pod go.

    One of a very long selector picks all pods.
    """
    body = manifest.body
    spec = manifest.mapping(body.get("spec"), "spec")
    status = manifest.mapping(body.get("status"), "status")
    metadata = manifest.mapping(body.get("metadata"), "metadata")
    selector = LabelSelector()
    if not _is_too_long(spec.get("selector")):
        selector = read_selector(manifest, spec.get("selector"), "spec.selector")

    def number(field: str) -> int:
        return manifest.whole(status.get(field), f"status.{field}", 0)

    now = manifest.whole(metadata.get("generation"), "metadata.generation", 0)
    known = bool(status) and number("observedGeneration") >= now
    healthy = known and number("currentHealthy") >= number("desiredHealthy") > 0
    return DisruptionBudget(
        manifest.namespace,
        manifest.name,
        selector,
        number("disruptionsAllowed") if known else 0,
        healthy or spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow",
        _advice(manifest, spec) if known else "",
    )


def _advice(manifest: Manifest, spec: Body) -> str:
    """What lets the controller of a budget count its pods, where it says that it cannot.

    Of a share, or a number of pods that may be away, it needs to know how many there should be,
    which no Job and no pod of its own says.
    """
    said = next(
        (
            one
            for one in entries_of(part_of(manifest.body, "status"), "conditions")
            if one.get("type") == "DisruptionAllowed" and one.get("status") == "False"
        ),
        {},
    )
    if said.get("reason") != SYNC_FAILED:
        return ""
    name = f"{manifest.namespace}/{manifest.name}"
    why = one_line(str(said.get("message") or ""))[:MOST_QUOTED].replace(";", ",")
    because = f"its controller cannot count its pods{f' ({why})' if why else ''}"
    least = spec.get("minAvailable")
    if spec.get("maxUnavailable") is not None or isinstance(least, str):
        stated = "maxUnavailable" if least is None else f"{least}"
        return f"state minAvailable of {name} as a number of pods, not {stated}: {because}"
    return f"mend {name}: {because}"


def _is_too_long(selector: object) -> bool:
    """Whether a selector has too many labels, conditions and values; to ask costs no more."""
    if not isinstance(selector, dict):
        return False
    labels, conditions = (selector.get(key) for key in ("matchLabels", "matchExpressions"))
    count = _length(labels) + _length(conditions)
    if count <= MOST_SELECTOR_VALUES and isinstance(conditions, list):
        count += sum(_length(one.get("values")) for one in conditions if isinstance(one, dict))
    return count > MOST_SELECTOR_VALUES


def _length(value: object) -> int:
    return len(value) if isinstance(value, dict | list) else 0


def budget_limits(
    budgets: Iterable[DisruptionBudget], pods: Iterable[tuple[PodName, Body]]
) -> tuple[EvictionLimit, ...]:
    """What the budgets say of these pods, each with its object."""
    spaces: dict[str, _Budgets] = defaultdict(_Budgets)
    for budget in budgets:
        spaces[budget.namespace].add(budget)
    allowed: dict[str, tuple[int, str]] = {}
    named: dict[str, set[PodName]] = defaultdict(set)
    for pod, body in pods:
        if pod[0] not in spaces or not _is_asked_about(body):
            continue
        over, advice = spaces[pod[0]].picking(_labels(body)), ""
        if over is None:
            who, most = f"namespace {pod[0]}, which has too many disruption budgets", 0
            advice = f"leave at most {MOST_BUDGETS_ASKED} disruption budgets in it"
        elif len(over) > 1:
            who, most = f"disruption budget {over[0]} beside {over[1]}", 0
            advice = (
                f"have but one of {over[0]} and {over[1]} pick the pod: the API server evicts none "
                "that two budgets pick, whatever they let go"
            )
        elif over and not (over[0].frees_unready and not _is_ready(body)):
            who, most, advice = f"disruption budget {over[0]}", over[0].allowed, over[0].advice
        else:
            continue
        allowed[who] = most, advice
        named[who].add(pod)
    return tuple(
        EvictionLimit(who, frozenset(named[who]), most, advice)
        for who, (most, advice) in sorted(allowed.items())
    )


class _Budgets:
    """The budgets of one namespace, by the label that their selectors ask for first."""

    def __init__(self) -> None:
        self._by_pair: dict[_Pair, list[DisruptionBudget]] = defaultdict(list)

    def add(self, budget: DisruptionBudget) -> None:
        if not budget.selector.picks_nothing:
            labels = budget.selector.labels
            self._by_pair[labels[0] if labels else None].append(budget)

    def picking(self, labels: dict[str, str]) -> Sequence[DisruptionBudget] | None:
        """The first two that pick a pod with these labels; None where too many may."""
        asked = [
            budget
            for pair in (None, *labels.items())
            for budget in self._by_pair.get(pair, ())[: MOST_BUDGETS_ASKED + 1]
        ]
        if len(asked) > MOST_BUDGETS_ASKED:
            return None
        return [budget for budget in asked if budget.selector.picks(labels)][:2]


def _is_asked_about(body: Body) -> bool:
    """Whether budgets have a say in whether the pod may be evicted."""
    ends = part_of(body, "metadata").get("deletionTimestamp") is not None
    return not ends and part_of(body, "status").get("phase") not in _ENDED


def _is_ready(body: Body) -> bool:
    """Whether the pod is ready, as far as its object says."""
    for one in entries_of(part_of(body, "status"), "conditions"):
        if one.get("type") == "Ready":
            return bool(one.get("status") == "True")
    return True


def _labels(body: Body) -> dict[str, str]:
    labels = part_of(body, "metadata", "labels")
    return {key: value for key, value in labels.items() if isinstance(value, str)}
