"""Affinity, anti-affinity and spread, required or preferred, beyond the pods of one gang."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from fourleaf.model.gang import GangKey, Hold, Role
from fourleaf.model.node_constraint import Operator, Preference, Requirement
from fourleaf.model.readers.gangs.alike import AlikeGangs
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.kept_apart import (
    MOST_FOREIGN_TERMS,
    KeptApart,
    Nodes,
    label_of,
)
from fourleaf.model.readers.gangs.likeness import HeldBack, Step, Steps
from fourleaf.model.readers.gangs.preferred_places import PreferredPlaces
from fourleaf.model.readers.gangs.spread_values import SpreadValues
from fourleaf.model.readers.gangs.turns import Turns
from fourleaf.model.readers.pods.neighbours import Neighbours, breadth
from fourleaf.model.readers.pods.node_constraints import narrowed
from fourleaf.model.readers.pods.pod_terms import EVERY_NAMESPACE, PodTerm, SpreadConstraint
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.model.reasons.kinds import ReasonKind

MOST_COMPARISONS = 200_000
"""Comparisons of selectors with pods that the waiting pods of one namespace may cause at once."""

MOST_OF_ONE_GANG = 3 * MOST_COMPARISONS
"""Those after which no more members of one gang are looked at, each of which is like no other.

Above what may be at once, for a gang is looked at to its end where that is not far: one of 5,000
members that differ has few comparisons of each, and none is placed without the others.
"""

KIND_COMPARISONS = 100
"""Comparisons that it counts for to look at pods that are like no others before, found or not."""

TERM_COMPARISONS = 10
"""The same for each term of such a pod, whether others have it as well or not."""

SPREAD_COMPARISONS = 40
"""The same for each topology spread constraint: values of all nodes are gone through for it."""

Kind = Sequence[Pod]
"""Waiting members of a gang that are alike in labels and wants."""


def mind_others(drafts: Sequence[Draft], running: Neighbours, nodes: Nodes, turns: Turns) -> None:
    """Change `drafts` such that every node they may use suits them beside the pods that run.

    And such that they prefer the nodes that suit them best.

    As kube-scheduler's plugins InterPodAffinity and PodTopologySpread have it. Of waiting gangs of
    which one changes where the other may go, the first goes ahead and the others wait until it
    is bound: which nodes it takes is not known before.
    """
    minding = any(draft.minds_others for draft in drafts)
    preferring = any(draft.prefers_by_others for draft in drafts)
    if not minding and not preferring and not running.any_repels:
        return
    kinds = {
        draft.gang.key: draft.kinds
        for draft in drafts
        if not draft.is_plain and draft.gang.hold is None
    }
    same, values = AlikeGangs(drafts), SpreadValues(running, nodes)
    firsts = _narrow_all(drafts, kinds, same, running, nodes, values)
    preferred = PreferredPlaces(running, nodes, values)
    budget = _Budget(running)
    for draft in drafts if preferring else ():
        if not draft.prefers_by_others or draft.gang.hold is not None:
            continue
        draft.has_too_many_preferences = budget.begin(draft)
        for alike in () if draft.has_too_many_preferences else kinds[draft.gang.key]:
            if budget.is_spent:
                draft.has_too_many_preferences = True
                break
            running.count(_cost_of_preferences(alike[0]))
            _prefer(draft, preferred.of(alike[0]), alike)
    if minding:
        _take_turns(drafts, kinds, firsts, turns, same)


def _narrow_all(
    drafts: Sequence[Draft],
    kinds: Mapping[GangKey, Sequence[Kind]],
    same: AlikeGangs,
    running: Neighbours,
    nodes: Nodes,
    values: SpreadValues,
) -> set[int]:
    """Take nodes from gangs for the pods that run; the pods that may be the first of their kind."""
    apart, near = KeptApart(running, nodes), _NearValues(running, nodes)
    budget, firsts = _Budget(running), set[int]()

    def steps_of(draft: Draft) -> Steps:
        pod = draft.waiting[0]
        running.count(_cost(pod))
        return *apart.away_from(pod, ()), *_spread_steps(pod, values)

    for draft in drafts:
        # Of who is held it is not asked where they may go.
        if draft.gang.hold is not None or budget.refuses(draft):
            continue
        if draft.is_plain:
            same.narrow(draft, steps_of, _take_steps)
            continue
        before = draft.gang
        for alike in kinds[draft.gang.key]:
            if budget.is_spent:
                draft.gang = before
                budget.refuse(draft)
            if draft.gang.hold is not None:
                break
            for requirement in apart.away_from(alike[0], draft.bound):
                _narrow(draft, requirement, alike)
            if alike[0].wants.near and _stay_near(draft, alike, near):
                firsts.add(id(alike[0]))
            _take_steps(draft, _spread_steps(alike[0], values), alike)
        running.count(sum(_cost(alike[0]) for alike in kinds[draft.gang.key]))
    return firsts


def _cost(pod: Pod) -> int:
    """For how many comparisons it counts to look for the nodes of pods like this one."""
    wants = pod.wants
    terms = len(wants.apart) + len(wants.near)
    spread = SPREAD_COMPARISONS * len(wants.spread)
    return KIND_COMPARISONS + TERM_COMPARISONS * terms + spread


def _cost_of_preferences(pod: Pod) -> int:
    """For how many comparisons it counts to look for the nodes that pods like this one prefer."""
    preferred = pod.wants.preferred
    return TERM_COMPARISONS * len(preferred.pods) + SPREAD_COMPARISONS * len(preferred.spread)


def _take_turns(
    drafts: Sequence[Draft],
    kinds: Mapping[GangKey, Sequence[Kind]],
    firsts: Container[int],
    turns: Turns,
    same: AlikeGangs,
) -> None:
    ahead = Neighbours()
    budget = _Budget(ahead)
    places: dict[int, Draft] = {}
    going: dict[GangKey, Draft] = {}
    foreign: dict[str, set[PodTerm]] = defaultdict(set)
    comparisons: Counter[str] = Counter()
    for draft in sorted((one for one in drafts if one.gang.hold is None), key=turns.order):
        if budget.refuses(draft) or turns.have_none_for(draft):
            continue
        some = [pods[0] for pods in kinds.get(draft.gang.key, [draft.waiting])]
        find = partial(_first_ahead, some, ahead, places, firsts, budget)
        if draft.is_plain:
            first = same.first_ahead(draft, len(places), ahead.count, find)
        else:
            first = find()
            if budget.is_spent:
                budget.refuse(draft)
                continue
            ahead.count(KIND_COMPARISONS * len(some))
        if first is not None:
            turns.goes_ahead(going[first], draft)
            _let_go_first(draft, first)
            continue
        namespace = draft.gang.key.namespace
        new = {term for pod in some for term in pod.wants.apart if _is_foreign(term, pod)}
        new -= foreign[namespace]
        foreign[namespace] |= new
        comparisons[namespace] += sum(term.selector.comparisons for term in new)
        if comparisons[namespace] > MOST_FOREIGN_TERMS:
            _hold_for_foreign_terms(draft)
            continue
        going[draft.gang.key] = draft
        for pod in some:
            places[id(pod)] = draft
            ahead.add(pod)


def _is_foreign(term: PodTerm, pod: Pod) -> bool:
    """Whether a term of `pod` looks at pods of other namespaces."""
    return any(name != pod.namespace for name in term.namespaces)


def _first_ahead(
    some: Iterable[Pod],
    ahead: Neighbours,
    places: Mapping[int, Draft],
    firsts: Container[int],
    budget: _Budget,
) -> GangKey | None:
    """The first gang ahead that one of these pods has to let go first, while `budget` lasts."""
    clashes = {
        id(other)
        for pod in some
        if not budget.is_spent
        for other in _in_the_way(pod, ahead, firsts)
    }
    # Those ahead stand in `places` in the order of their turns.
    return next(places[pod] for pod in places if pod in clashes).gang.key if clashes else None


def _in_the_way(pod: Pod, ahead: Neighbours, firsts: Container[int]) -> Iterator[Pod]:
    """Those ahead that decide where `pod` may go and that it decides for in turn.

    Those of which only one minds the other are bound as if that one had come first. `firsts` may
    be the first of what they want near: those follow what goes ahead, and have to come before what
    is behind, so none that counts them for its spread can be as if it had come first.
    """
    for other, _ in ahead.minding(pod):
        yield other
    for spread in pod.wants.spread:
        for other in ahead.picked(spread.term):
            if other.wants.spread or id(other) in firsts:
                yield other
    if id(pod) in firsts:
        yield from picked_by_all(pod.wants.near, ahead)


class _Budget:
    """How many comparisons a namespace may cause in one reading, all of them on the event loop."""

    def __init__(self, neighbours: Neighbours) -> None:
        self._neighbours = neighbours
        self._before = neighbours.compared
        self._namespace = ""
        self._spent: Counter[str] = Counter()

    def begin(self, draft: Draft) -> bool:
        """What follows is for `draft`; whether its namespace has caused too many already."""
        now = self._neighbours.compared
        self._spent[self._namespace] += now - self._before
        self._before, self._namespace = now, draft.gang.key.namespace
        return self._spent[self._namespace] > MOST_COMPARISONS

    def refuses(self, draft: Draft) -> bool:
        """Begin with `draft`, or hold it where its namespace has caused too many; whether it is."""
        if not self.begin(draft) or not draft.waiting:
            return False
        self.refuse(draft)
        return True

    @property
    def is_spent(self) -> bool:
        """Whether what was begun last has taken so much that it is not to be gone on with."""
        spent = self._spent[self._namespace] + self._neighbours.compared - self._before
        return spent > MOST_OF_ONE_GANG

    def refuse(self, draft: Draft) -> None:
        """Hold `draft`, of the namespace that was begun with last."""
        _hold(
            draft,
            ReasonKind.NAMESPACE_LIMIT,
            f"the waiting pods of namespace {self._namespace} have too many different terms of "
            f"affinity, spread and labels: {MOST_COMPARISONS:,} comparisons are allowed",
            "Let pods share terms and labels, or have fewer of them wait.",
        )


def _hold_for_foreign_terms(draft: Draft) -> None:
    _hold(
        draft,
        ReasonKind.NAMESPACE_LIMIT,
        f"gangs of namespace {draft.gang.key.namespace} that go first have {MOST_FOREIGN_TERMS} "
        "different terms of anti-affinity to pods of other namespaces, which are all that may be; "
        "one of many values counts as several",
        "Let pods share terms, or have them name no other namespaces, or fewer values.",
    )


def _spread_steps(pod: Pod, values: SpreadValues) -> Iterator[Step]:
    """What its spread over the running pods takes from a pod."""
    for spread in pod.wants.spread:
        allowed = values.allowed(pod, spread)
        if not allowed:
            yield spread
        yield Requirement(spread.term.key, Operator.IN, allowed)


def _take_steps(draft: Draft, steps: Iterable[Step], alike: Kind) -> None:
    for step in steps:
        if isinstance(step, Requirement):
            _narrow(draft, step, alike)
        else:
            _wait_for_room(draft, alike[0], step)


def _stay_near(draft: Draft, alike: Kind, near: _NearValues) -> bool:
    """Leave members the nodes near the pods that they want near: those that run.

    A pod counts where all terms of a member pick it. A single pod that its own terms pick may be
    the first of its kind; whether it is.
    """
    pod = alike[0]
    terms = pod.wants.near
    pairs = near.pairs(terms)
    if not pairs and all(term.picks(pod.namespace, pod.labels) for term in terms):
        if len(draft.waiting) > 1:
            _refuse_first_of_many(draft, pod, terms[0])
            return False
        for term in terms:
            if not near.any_has(term.key):
                what = f"{pod.manifest.title}: no node has the label {term.key} of {term.field}"
                _hold(draft, ReasonKind.GATED, what, f"Label the nodes with {term.key}.")
            _narrow(draft, Requirement(term.key, Operator.EXISTS), alike)
        return True
    for term in terms:
        values = tuple(sorted(value for key, value in pairs if key == term.key))
        if not values and any(term.picks(one.namespace, one.labels) for one in draft.waiting):
            _refuse_first_of_many(draft, pod, term)
            return False
        if not values:
            _wait_for_neighbour(draft, pod, term)
            return False
        _narrow(draft, Requirement(term.key, Operator.IN, values), alike)
    return False


def picked_by_all(terms: Sequence[PodTerm], among: Neighbours) -> Iterator[Pod]:
    """The pods that all of these terms pick; what it takes counts, also to use what is found.

    Those that one term alone may pick are looked at: one that picks by a label, where there is one.
    """
    first, *others = sorted(terms, key=_breadth)
    comparisons = sum(1 + term.selector.comparisons for term in others)
    for pod in among.picked(first):
        among.count(comparisons)
        if all(term.picks(pod.namespace, pod.labels) for term in others):
            yield pod


def _breadth(term: PodTerm) -> tuple[bool, int, int]:
    """Sorts terms by how many pods they look at: in how many namespaces, and by which labels."""
    return EVERY_NAMESPACE in term.namespaces, breadth(term.selector), term.selector.comparisons


class _NearValues:
    """Where pods stand that others want near, worked out once for terms alike."""

    def __init__(self, running: Neighbours, nodes: Nodes) -> None:
        self._running = running
        self._nodes = nodes
        self._known: dict[tuple[PodTerm, ...], frozenset[tuple[str, str]]] = {}
        self._keys: set[str] = set()

    def pairs(self, terms: tuple[PodTerm, ...]) -> frozenset[tuple[str, str]]:
        """Labels of nodes of running pods that all `terms` pick, by the keys of the terms."""
        if terms not in self._known:
            self._known[terms] = frozenset(
                (term.key, value)
                for other in picked_by_all(terms, self._running)
                for term in terms
                if (value := label_of(self._nodes, other.node, term.key)) is not None
            )
        return self._known[terms]

    def any_has(self, key: str) -> bool:
        """Whether any node has the label."""
        if not self._keys:
            self._keys.update(*(node.labels for node in self._nodes.values()))
        return key in self._keys


def _prefer(draft: Draft, preferences: Sequence[Preference], alike: Kind) -> None:
    """Let the roles of `alike` that still wait prefer these nodes as well."""
    _change(draft, alike, lambda one: replace(one, preferences=(*one.preferences, *preferences)))


def _narrow(draft: Draft, requirement: Requirement, alike: Kind) -> None:
    """Let no member of the roles of `alike` that still waits use other nodes."""
    if draft.gang.hold is not None:
        return
    _change(
        draft, alike, lambda one: replace(one, constraint=narrowed(one.constraint, requirement))
    )


def _change(draft: Draft, alike: Kind, change: Callable[[Role], Role]) -> None:
    """Change the roles of `alike` that still wait."""
    names = {pod.name for pod in alike}
    roles = (role if names.isdisjoint(role.pods) else change(role) for role in draft.gang.roles)
    draft.gang = replace(draft.gang, roles=tuple(roles))


def _let_go_first(draft: Draft, first: GangKey) -> None:
    if _is_held_as_before(draft, first):
        return
    what = f"where it may go depends on where gang {first} stands, which goes first "
    what += "(pod anti-affinity or topology spread)"
    advice = f"It is planned once gang {first} is bound, or has found no place."
    _hold(draft, ReasonKind.WAITS_FOR_GANG, what, advice, first)


def _wait_for_neighbour(draft: Draft, sample: Pod, term: PodTerm) -> None:
    what = f"{sample.manifest.title}: no pod runs that {term.field} picks"
    _hold(draft, ReasonKind.GATED, what, "Start such a pod first, or correct the selector.")


def _wait_for_room(draft: Draft, pod: Pod, spread: SpreadConstraint) -> None:
    term = spread.term
    what = f"{pod.manifest.title}: {term.field} leaves it no {term.key}: each has too many pods"
    advice = f"Label the nodes with {term.key}, or let maxSkew be larger or minDomains smaller."
    _hold(draft, ReasonKind.GATED, f"{what}, or no node has one", advice)


def _refuse_first_of_many(draft: Draft, sample: Pod, term: PodTerm) -> None:
    what = f"{sample.manifest.title}: {term.field} keeps all members of one gang on one {term.key}"
    advice = f"Remove {term.field}; the leaf rule keeps a gang together."
    _hold(draft, ReasonKind.UNSUPPORTED, f"{what}, which cannot be honoured", advice)


def _hold(
    draft: Draft, kind: ReasonKind, what: str, advice: str, first: GangKey | None = None
) -> None:
    """Hold a gang that nothing holds yet, for `first` to go ahead or for `what` is so."""
    by = first or what
    if draft.gang.hold is not None or _is_held_as_before(draft, by):
        return
    before = draft.gang
    draft.gang = replace(before, hold=Hold(kind, what, (), (advice,)))
    draft.held_back = HeldBack(before, by, draft.gang)


def _is_held_as_before(draft: Draft, by: GangKey | str) -> bool:
    """Let the gang be what it was in the last reading, where the same held it; whether it did."""
    last = draft.held_back
    if last is None or last.of is not draft.gang or last.by != by:
        return False
    draft.gang = last.gang
    return True
