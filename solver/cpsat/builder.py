"""Builder: the variables and constraints that every program has, in one list.

One integer per group and candidate counts the gangs placed there. Where a leaf has several node
classes for a role, further integers count its pods per node class. A loose group has an integer
per spine instead, and its pods per leaf: as one integer where all its gangs are counted together,
or as a choice among the numbers the leaf could hold, where each number has a worth of its own.

Where the gang classes of a group differ in which candidates they may use or what these are worth
to them, candidates with the same answer for every gang class form a class, and flows say how many
gangs of each gang class stand there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from fourleaf.solver.cpsat.constraints.capacity import Capacity
from fourleaf.solver.cpsat.constraints.node_limits import add_node_limits, add_phantom_limit
from fourleaf.solver.cpsat.constraints.uplinks import add_uplinks
from fourleaf.solver.cpsat.cuts.block_cuts import add_block_cuts
from fourleaf.solver.cpsat.cuts.spine_cuts import add_spine_cuts
from fourleaf.solver.cpsat.demand import Demand, NodeClass
from fourleaf.solver.cpsat.dominance import prune
from fourleaf.solver.cpsat.flows import add_flows
from fourleaf.solver.cpsat.large_phantoms import add_large_phantoms
from fourleaf.solver.cpsat.node_classes import RoleUse, finer_classes, node_classes_of
from fourleaf.solver.cpsat.open_candidates import OpenCandidates, open_candidates
from fourleaf.solver.cpsat.pod_split import LeafSplit
from fourleaf.solver.cpsat.preferred_gangs import add_preferred_gangs
from fourleaf.solver.cpsat.program import Program, Terms
from fourleaf.solver.cpsat.residents import Resident, keeps_of
from fourleaf.solver.cpsat.variables import CandidateClass, GroupVariables, Model
from fourleaf.solver.instance.cycle_state import CycleState
from fourleaf.solver.instance.gang_classes import GangGroup
from fourleaf.solver.objective.scorer import Scorer

LARGE_PROGRAM = 6000
"""Variables from which the relaxation comes first, had every gang class flows of its own: about
2000 nodes (docs/decisions/0053)."""

MANY_LOOSE_GANGS = 5
"""Gangs with any leaves to choose, each with variables of its own, from which the relaxation comes
first as well: the whole program has no answer for a second then (docs/decisions/0067)."""

Skipped = dict[int, set[tuple[int, int]]]
"""Group -> the (leaf, score class) pairs that its gangs of one pod leave out."""


def build(
    state: CycleState,
    groups: Sequence[GangGroup],
    refined: frozenset[int],
    scorer: Scorer,
    *,
    scored: bool = False,
    residents: Sequence[Resident] = (),
) -> Model:
    """The model of `groups` on `state`, with every constraint that they share.

    `refined` are the leaves whose nodes are modelled one by one. With `scored`, places are
    compared, not just counted: nodes of different worth are kept apart, and cuts added.
    `residents` are gangs that may stay where they are; `keeps` counts those that do.
    """
    model = Model(Program(), state, [GroupVariables(group) for group in groups], refined)
    skipped = _add_candidates(model, scorer if scored else None)
    uses = _role_uses(model)
    node_classes = _node_classes(model, uses, scored, apart=bool(residents))
    model.keeps = keeps_of(model.program, residents, node_classes) if residents else []
    _add_leaves(model, uses, node_classes, skipped)
    _add_flows_and_node_limits(model, scored)
    add_uplinks(model, scorer)
    if scored:
        add_block_cuts(model)
        add_spine_cuts(model)
    return model


def _add_candidates(model: Model, scorer: Scorer | None) -> Skipped:
    """A variable per candidate, or per spine and leaf; what no best plan needs is left out."""
    state = model.state
    opened = [
        (v.group, [] if v.group.loose else open_candidates(state, v.group, scorer))
        for v in model.groups
    ]
    skipped = prune(state, scorer, opened) if scorer else {}
    add_large_phantoms(model)
    for variables, (group, classes) in zip(model.groups, opened, strict=True):
        if variables.room_of is not None:
            continue
        if group.loose:
            add_preferred_gangs(model.program, state, variables)
        else:
            _add_places(model.program, variables, classes)
    careful = (v for v in model.groups if v.group.careful)
    model.refined |= {leaf for v in careful for _, leaf in v.pods}
    return skipped


def _add_places(
    program: Program, variables: GroupVariables, classes: Sequence[OpenCandidates]
) -> None:
    group = variables.group
    pods: dict[tuple[int, int], Terms] = defaultdict(list)
    plain = len(group.roles) == 1 and not group.bound
    single = group.kind.sizes == (1,) and not group.bound
    for open_ in classes:
        made = program.variables([fit for _, fit in open_.places])
        places = list(zip([place for place, _ in open_.places], made, strict=True))
        candidate_class = CandidateClass(open_.worth, places)
        variables.classes.append(candidate_class)
        for place, variable in places:
            for leaf, counts in place.takes:
                if plain:
                    pods[0, leaf].append((counts[0], variable))
                    continue
                for role, count in enumerate(group.new_pods(leaf, counts)):
                    if count:
                        pods[role, leaf].append((count, variable))
            if single:
                variables.home[place.takes[0][0]] = (candidate_class, place, variable)
    variables.pods = pods


def _role_uses(model: Model) -> Mapping[int, list[RoleUse]]:
    """Leaf -> the roles that may put pods there."""
    uses: dict[int, list[RoleUse]] = defaultdict(list)
    for number, variables in enumerate(model.groups):
        of_role = [RoleUse(model.state, number, variables, r) for r in variables.group.roles]
        for role, leaf in variables.pods:
            uses[leaf].append(of_role[role])
    return uses


def _node_classes(
    model: Model, uses: Mapping[int, list[RoleUse]], scored: bool, apart: bool
) -> dict[int, list[NodeClass]]:
    """Leaf -> its node classes; nodes without room too, where gangs stand that may leave some."""
    in_leaf = model.state.fabric.in_leaf
    nodes: dict[int, Sequence[int]] = {leaf: in_leaf[leaf] for leaf in uses}
    standing = apart or any(v.group.current_seats is not None for v in model.groups)
    if not standing:
        rooms = {id(use.by_node): use.by_node for here in uses.values() for use in here}
        roomy = [any(room) for room in zip(*rooms.values(), strict=True)]
        nodes = {leaf: [i for i in in_leaf[leaf] if roomy[i]] for leaf in uses}
    state, worth = model.state, None
    if scored:
        worth = state.score_class_of if standing else state.plain_class_of
    return {
        leaf: node_classes_of(state, leaf, nodes[leaf], uses[leaf], worth, leaf in model.refined)
        for leaf in sorted(uses)
    }


def _add_leaves(
    model: Model,
    uses: Mapping[int, list[RoleUse]],
    node_classes: Mapping[int, list[NodeClass]],
    skipped: Skipped,
) -> None:
    """Leaf by leaf: the pods by node class, what there is room for, no two phantoms on a node."""
    staying: dict[NodeClass, list[Demand]] = defaultdict(list)
    for keep in model.keeps:
        for node_class, demand in keep.demands():
            staying[node_class].append(demand)
    capacity = Capacity(model.program, model.state)
    for leaf, here in node_classes.items():
        kept = [list(staying.get(node_class, ())) for node_class in here]
        split = LeafSplit(model, leaf, here, skipped, kept)
        # Who may stay is counted by whole classes; what is preferred decides nothing there yet.
        finer = None if any(kept) else _finer(model, leaf, here, uses[leaf], skipped)
        for use in uses[leaf]:
            (finer if finer and use.prefers else split).add(use)
        if finer:
            _add_preferred(capacity, split, finer)
        phantoms = [use.variables for use in uses[leaf] if use.variables.group.phantom]
        for node_class, demands in zip(here, split.demands, strict=True):
            if demands:
                capacity.add(node_class, demands)
                add_phantom_limit(model.program, model.state, node_class, phantoms)


def _finer(
    model: Model,
    leaf: int,
    here: Sequence[NodeClass],
    uses: Sequence[RoleUse],
    skipped: Skipped,
) -> LeafSplit | None:
    """A split of the leaf for the pods that prefer nodes, where that is finer than the others'.

    Most pods do not, and are counted on all of a node class as before: what prefers some of its
    nodes finds room there, and all together in the whole class, so the rest fits on what is left.
    """
    if not any(use.prefers for use in uses):
        return None
    parts = [part for whole in here for part in finer_classes(model.state, whole)]
    if len(parts) == len(here):
        return None
    return LeafSplit(model, leaf, parts, skipped, [[] for _ in parts])


def _add_preferred(capacity: Capacity, split: LeafSplit, finer: LeafSplit) -> None:
    """What there is room for in each finer class; its pods count in the whole class too."""
    whole = {i: n for n, node_class in enumerate(split.node_classes) for i in node_class.nodes}
    for part, demands in zip(finer.node_classes, finer.demands, strict=True):
        if demands:
            number = whole[part.node]
            if part is not split.node_classes[number]:
                capacity.add(part, demands)
            split.demands[number] += demands


def _add_flows_and_node_limits(model: Model, scored: bool) -> None:
    """Which gang classes of a group stand where; how many nodes a careful group may use."""
    if scored:
        flows = sum([len(one.worth) for v in model.groups for one in v.classes])
        loose = sum([bool(v.takes) for v in model.groups])
        model.large = model.program.size + flows >= LARGE_PROGRAM or loose >= MANY_LOOSE_GANGS
    for variables in model.groups:
        if len(variables.group.gang_classes) > 1:
            add_flows(model.program, variables, shared=model.large)
        if variables.group.careful:
            add_node_limits(model.program, model.state, variables)
