"""Goals in turn: each is solved, and what it reached is held from then on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fourleaf.model.plan import Stage
from fourleaf.solver.cpsat.backend import CpSat
from fourleaf.solver.cpsat.branch_and_cut import branch_and_cut
from fourleaf.solver.cpsat.deadline import Deadline
from fourleaf.solver.cpsat.gap_closing import reduced_program
from fourleaf.solver.cpsat.lexicographic import LexicographicSearch, TierClass
from fourleaf.solver.cpsat.program import Program, SolveResult, Terms, costs_of
from fourleaf.solver.cpsat.refinement import solve_refined
from fourleaf.solver.relocation.formulation import Formulation
from fourleaf.solver.relocation.participants import Participants
from fourleaf.solver.relocation.refine import found_in, hold, spines_of

FIRST_SOLVE_SHARE = 0.8
"""Of the time, what the first solve of the whole may take."""

HELD_SOLVE_SHARE = 0.3
"""Of the time that is left, what a solve with most held may take."""

HELD_ROUNDS = 3
"""How often leaves are refined while most is held."""

EVERYTHING_SHARE = 0.8
"""Of the time that is left, what may go into trying to keep everything."""

FIRST_WORK = 0.15
"""Work of CP-SAT for the first goal, in its deterministic seconds, before it is left to branch and
cut: where all pods fill their nodes, a repair of 40 of 1000 nodes takes less."""

BRANCHING_SHARE = 0.6
"""Of the time that is left, what branch and cut may take."""


@dataclass(frozen=True, slots=True)
class Goal:
    """The greatest sum of `terms`; told as `total` minus that where `total` is given."""

    name: str
    terms: Terms
    total: int | None = None


@dataclass(frozen=True, slots=True)
class StagePlan:
    """What to solve for: tiers of classes, then goals."""

    tier_name: str
    classes: Callable[[Formulation], Sequence[TierClass]]
    goals: Callable[[Formulation], Sequence[Goal]]


WHO_THEN_MOVES = StagePlan(
    "who",
    lambda relocation: relocation.classes,
    lambda relocation: [Goal("moves", *relocation.moved(price=True))],
)
"""As many as can be, tier by tier; then the cheapest moves."""


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """A relocation, the values of its variables, and what is proven of each stage."""

    relocation: Formulation
    values: list[int]
    stages: tuple[Stage, ...]
    refined: frozenset[int]


def reach(
    participants: Participants,
    turn: StagePlan,
    deadline: Deadline,
    on_stage: Callable[[Stage], None],
    rows: Callable[[Formulation], None] = lambda _: None,
) -> StageOutcome | None:
    """The best values, goal after goal; `None` where there are none or none were found in time.

    `rows` adds what else has to hold. Where the numbers of a leaf cannot be put on its nodes,
    it is modelled node by node: first with all else held (`fourleaf.solver.relocation.refine`), and
    where that does not reach the bounds, as a whole.
    """
    spare: StageOutcome | None = None
    bounds: tuple[Stage, ...] | None = None

    def solve(refined: frozenset[int]) -> Solved | None:
        nonlocal bounds
        relocation = Formulation(participants, refined)
        rows(relocation)
        share = deadline if spare is not None else Deadline(FIRST_SOLVE_SHARE * deadline.left())
        attempt = _attempt(relocation, turn, share)
        if attempt is None:
            return None
        values, stages = attempt
        bounds = stages if bounds is None else _tightest(bounds, stages)
        return StageOutcome(relocation, values, stages, refined), relocation.misfits(values)

    def nearby(whole: StageOutcome, failed: frozenset[int]) -> StageOutcome | None:
        nonlocal spare
        near = _nearby(whole, failed, turn, deadline, rows)
        if near is None or bounds is None:
            return None
        spare = _better(spare, _bounded(near, bounds), turn)
        return spare if all(stage.proven for stage in spare.stages) else None

    found = solve_refined(solve, instead=nearby)
    if found is not None and found is not spare and bounds is not None:
        found = _better(spare, _bounded(found, bounds), turn)
    found = found or spare
    for stage in found.stages if found is not None else ():
        on_stage(stage)
    return found


Solved = tuple[StageOutcome, frozenset[int]]
"""An outcome, and the leaves on whose nodes its numbers cannot be put."""


def _nearby(
    whole: StageOutcome,
    failed: frozenset[int],
    turn: StagePlan,
    deadline: Deadline,
    rows: Callable[[Formulation], None],
) -> StageOutcome | None:
    """The best that keeps most of `whole`; first little is decided anew, then more.

    The values of `whole` cannot be put on the nodes of the leaves `failed`.
    """
    found = found_in(whole.relocation, whole.values)
    refined = whole.refined | failed
    for wide in (False, True):

        def solve(fine: frozenset[int], wide: bool = wide) -> Solved | None:
            nonlocal refined
            relocation = Formulation(whole.relocation.participants, fine)
            rows(relocation)
            touched = fine - whole.refined
            hold(relocation, found, spines_of(relocation, touched) if wide else touched)
            attempt = _attempt(relocation, turn, Deadline(HELD_SOLVE_SHARE * deadline.left()))
            if attempt is None:
                return None
            values, stages = attempt
            misfits = relocation.misfits(values)
            refined = fine | misfits
            return StageOutcome(relocation, values, stages, fine), misfits

        outcome = solve_refined(solve, refined, rounds=HELD_ROUNDS)
        if outcome is not None:
            return outcome
    return None


def _bounded(reached: StageOutcome, bounds: tuple[Stage, ...]) -> StageOutcome:
    """The same with the bounds of a coarser model, which hold for every finer one."""
    stages = []
    proven = True
    for stage, bound in zip(reached.stages, bounds, strict=True):
        proven = proven and stage.objective == bound.bound
        stages.append(replace(stage, proven=proven, bound=bound.bound))
    return replace(reached, stages=tuple(stages))


def _tightest(bounds: tuple[Stage, ...], stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """A later model is finer; its bounds are as good where it was solved to the end."""
    return tuple(new if new.proven else old for old, new in zip(bounds, stages, strict=True))


def _better(spare: StageOutcome | None, other: StageOutcome, turn: StagePlan) -> StageOutcome:
    """Of two answers, the one that is worth more in the first stage in which they differ."""
    if spare is None:
        return other
    low = {goal.name for goal in turn.goals(other.relocation) if goal.total is not None}
    mine, theirs = (
        [-s.objective if s.name in low else s.objective for s in one.stages]
        for one in (spare, other)
    )
    return spare if mine > theirs else other


def _attempt(
    relocation: Formulation, turn: StagePlan, deadline: Deadline
) -> tuple[list[int], tuple[Stage, ...]] | None:
    program, seed = relocation.program, relocation.participants.state.spec.solver.seed
    classes = turn.classes(relocation)
    if classes and turn.goals(relocation):
        found = _all_of_them(relocation, turn, classes, deadline)
        if found is not None:
            return found
    tiers = LexicographicSearch(program, classes, seed, uniform=False, moving=True)
    values = tiers.solve(deadline) if classes else None
    if classes and values is None:
        return None
    stages = [
        replace(stage, name=f"{turn.tier_name} {stage.name.removeprefix('who ')}")
        for stage in tiers.stages
    ]
    for goal in turn.goals(relocation):
        values, stage = _pursue(tiers.solver, relocation, goal, values, deadline)
        if values is None:
            return None
        stages.append(stage)
    return None if values is None else (values, tuple(stages))


def _all_of_them(
    relocation: Formulation, turn: StagePlan, classes: Sequence[TierClass], deadline: Deadline
) -> tuple[list[int], tuple[Stage, ...]] | None:
    """The goals with everything in every tier, which needs no proof; `None` if that fails.

    Mostly it does not, and then the tiers need no solve of their own. What it may take of the
    time leaves them enough.
    """
    deadline = Deadline(EVERYTHING_SHARE * deadline.left())
    seed = relocation.participants.state.spec.solver.seed
    solver = CpSat(relocation.program, seed, scored=False, cuts=True)
    worth: dict[int, int] = {}
    for tier_class in classes:
        solver.fix(tier_class.variable, len(tier_class.gangs))
        worth[tier_class.priority] = worth.get(tier_class.priority, 0) + tier_class.most
    stages = [
        Stage(f"{turn.tier_name} {priority}", True, value, value, 0.0)
        for priority, value in sorted(worth.items(), reverse=True)
    ]
    values: list[int] | None = None
    everything = {one.variable: len(one.gangs) for one in classes}
    for number, goal in enumerate(turn.goals(relocation)):
        fixed = None if number else everything
        values, stage = _pursue(solver, relocation, goal, values, deadline, fixed)
        if values is None:
            return None
        stages.append(stage)
    return None if values is None else (values, tuple(stages))


def _pursue(
    solver: CpSat,
    relocation: Formulation,
    goal: Goal,
    values: list[int] | None,
    deadline: Deadline,
    fixed: Mapping[int, int] | None = None,
) -> tuple[list[int] | None, Stage]:
    """The best values for the goal, `values` where none was found.

    `fixed` is all that the solver was told beyond the program, where branch and cut may help it.
    """
    program = relocation.program
    timer = deadline.timer()
    costs = costs_of(program, goal.terms)
    if fixed is None:
        answer = solver.maximize(costs, deadline.left())
    else:
        answer = _branching(solver, program, fixed, costs, deadline)
    seconds = timer()
    if answer.values is not None:
        values = answer.values
    got = 0 if values is None else sum(c * values[v] for c, v in goal.terms)
    bound = sum(c * program.high[v] for c, v in goal.terms if c > 0)
    if answer.values is not None:
        solver.hold(goal.terms, got)
        bound = min(bound, answer.bound)
    proven = answer.values is not None and answer.proven
    if proven:
        bound = got
    if goal.total is None:
        return values, Stage(goal.name, proven, got, max(bound, got), seconds)
    cost, least = goal.total - got, goal.total - max(bound, got)
    return values, Stage(goal.name, proven, cost, max(0, least), seconds)


def _branching(
    solver: CpSat,
    program: Program,
    fixed: Mapping[int, int],
    costs: Sequence[int],
    deadline: Deadline,
) -> SolveResult:
    """The best answer with `fixed` variables: by CP-SAT, and where that takes long, by HiGHS."""
    first = solver.maximize(costs, deadline.left(), FIRST_WORK)
    if first.proven:
        return first
    ranges = [(0, high) for high in program.high]
    for variable, value in fixed.items():
        ranges[variable] = (value, value)
    left = reduced_program(program, costs, ranges)
    found = branch_and_cut(left.program, left.costs, BRANCHING_SHARE * deadline.left())
    if found is None:
        return solver.maximize(costs, deadline.left())
    if found.values is None:
        return found
    bound = min(first.bound, found.bound + left.constant)
    values, objective = left.whole(found.values), found.objective + left.constant
    if first.values is not None and first.objective > objective:
        values, objective = first.values, first.objective
    return SolveResult(values, bound <= objective, objective, max(bound, objective))
