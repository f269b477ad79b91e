"""CP-SAT: with `relaxation.py` and `branch_and_cut.py` alone it knows OR-tools' interfaces."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ortools.sat.python.cp_model_helper import (
    CpModelProto,
    CpSolverResponse,
    CpSolverStatus,
    IntegerVariableProto,
    SatParameters,
    SolveWrapper,
)

from fourleaf.solver.cpsat.program import Program, SolveResult, Terms, collect

ENDLESS = (1 << 63) - 1
"""A row without an upper limit."""

CONFLICTS_PER_STEP = 10
"""Counting halves the span of the objective in steps of so many conflicts: answers that are
better by one each would take thousands of steps."""

ROOT_LP_STEPS = 10_000
"""Steps of the first LP, enough to end it at 10,000 nodes: what follows rests on its prices."""

IDLE_SOLVES = 20
"""Rows of the LP go after so many solves in which they did nothing."""

MANY_VARIABLES = 10_000
"""So many variables take so long before any answer is found that an answer comes first."""

CUT_ROUNDS = 3
"""Rounds of cuts at the root of a `deep` search: what is left of its relaxation is nearly whole."""

_BOUNDED = (CpSolverStatus.OPTIMAL, CpSolverStatus.FEASIBLE, CpSolverStatus.UNKNOWN)


class CpSat:
    """One program, solved for one objective after another.

    One worker and a fixed seed make the answers the same each time, as long as no limit is
    reached. The other parameters are the ones that measured best (docs/decisions/0003, 0026):
    where places are `scored`, the whole LP with its cuts from the start; unless the work is
    limited, the objective is approached from its bound, which makes most of the variables fixed;
    where gangs are only counted, the LP grown lazily and without cuts, unless `cuts` asks for
    them: where gangs that stand may move, they save most of the search. Where all pods have one
    size (`uniform`), presolve pays for counting, and for scoring Chvatal-Gomory cuts, with
    zero-half cuts in place of mixed integer rounding; where the work is limited, the first pay
    whatever the sizes. A `deep` search begins with several rounds of all these cuts
    (docs/decisions/0053).
    """

    def __init__(
        self,
        program: Program,
        seed: int,
        scored: bool,
        uniform: bool = False,
        cuts: bool = False,
        deep: bool = False,
    ) -> None:
        self._model = CpModelProto()
        self._seed = seed
        self._scored = scored
        self._uniform = uniform
        self._cuts = cuts
        self._deep = deep
        ranges = {high: IntegerVariableProto() for high in set(program.high)}
        for high, variable in ranges.items():
            variable.domain.extend((0, high))
        self._model.variables.extend([ranges[high] for high in program.high])
        add_row = self._model.constraints.add
        for variables, coefficients, least, most in program.rows:
            linear = add_row().linear
            linear.vars.extend(variables)
            linear.coeffs.extend(coefficients)
            linear.domain.extend((least, most))

    def fix(self, variable: int, value: int) -> None:
        """Leave the variable only this value."""
        domain = self._model.variables[variable].domain
        domain.clear()
        domain.extend((value, value))

    def hold(self, terms: Terms, least: int) -> None:
        """From now on the sum of `terms` is at least this."""
        variables, coefficients = collect(terms)
        linear = self._model.constraints.add().linear
        linear.vars.extend(variables)
        linear.coeffs.extend(coefficients)
        linear.domain.extend((least, ENDLESS))

    def maximize(
        self,
        costs: Sequence[int],
        seconds: float,
        work: float | None = None,
        window: tuple[int, int] | None = None,
        gap: float = 0.0,
    ) -> SolveResult:
        """The best value of `costs` (a coefficient per variable) within `seconds`.

        `work` limits it in CP-SAT's deterministic seconds, which are the same on every machine.
        Only answers with an objective in the `window` (least, most) count. An answer without
        values that is proven means that there is none; one with values is proven within the
        relative `gap`.
        """
        objective = self._model.objective
        objective.vars.clear()
        objective.coeffs.clear()
        objective.domain.clear()
        if window is not None:
            least, most = window
            objective.domain.extend((-most, -least))
        objective.vars.extend([v for v, cost in enumerate(costs) if cost])
        objective.coeffs.extend([-cost for cost in costs if cost])
        objective.scaling_factor = -1.0
        parameters = self._parameters(len(costs), seconds, work)
        parameters.relative_gap_limit = gap
        solver = SolveWrapper()
        solver.set_parameters(parameters)
        response: CpSolverResponse = solver.solve(self._model)  # type: ignore[no-untyped-call]
        status, bound = response.status, response.best_objective_bound
        spent = response.deterministic_time
        if status == CpSolverStatus.INFEASIBLE:
            return SolveResult(None, True, 0, 0, work=spent)
        if status not in _BOUNDED or not math.isfinite(bound):
            return SolveResult(None, False, 0, ENDLESS, work=spent)
        proven, most = status == CpSolverStatus.OPTIMAL, round(bound)
        ranges = None if proven or work is None else _ranges(response)
        if status == CpSolverStatus.UNKNOWN:
            return SolveResult(None, False, 0, most, ranges, spent)
        return SolveResult(
            list(response.solution), proven, round(response.objective_value), most, ranges, spent
        )

    def _parameters(self, variables: int, seconds: float, work: float | None) -> SatParameters:
        parameters = SatParameters()
        parameters.num_workers = 1
        parameters.random_seed = self._seed
        parameters.symmetry_level = 0
        parameters.cp_model_probing_level = 0
        parameters.cp_model_presolve = self._uniform and not self._scored
        parameters.max_presolve_iterations = 1
        if self._scored:
            parameters.add_lp_constraints_lazily = False
            parameters.add_zero_half_cuts = self._uniform and variables < MANY_VARIABLES
            parameters.add_mir_cuts = not parameters.add_zero_half_cuts
            parameters.add_cg_cuts = self._uniform or work is not None
            parameters.use_sat_inprocessing = False
            parameters.root_lp_iterations = ROOT_LP_STEPS
            if self._deep:
                parameters.max_cut_rounds_at_level_zero = CUT_ROUNDS
                parameters.add_cg_cuts = parameters.add_zero_half_cuts = True
                parameters.add_mir_cuts = not self._uniform
            elif variables < MANY_VARIABLES:
                parameters.use_objective_lb_search = work is None
                parameters.max_consecutive_inactive_count = IDLE_SOLVES
        else:
            parameters.linearization_level = 2
            parameters.cut_level = int(self._cuts)
            parameters.binary_search_num_conflicts = CONFLICTS_PER_STEP
        parameters.max_time_in_seconds = max(seconds, 0.001)
        if work is not None:
            parameters.max_deterministic_time = work
            parameters.fill_tightened_domains_in_response = True
        return parameters


def _ranges(response: CpSolverResponse) -> list[tuple[int, int]] | None:
    """The least and most that is left of every variable, where the solver came to say so."""
    domains = [variable.domain for variable in response.tightened_variables]
    return [(domain[0], domain[len(domain) - 1]) for domain in domains] or None
