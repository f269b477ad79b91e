"""Branch and cut: the best answer of a program in whole numbers, by HiGHS.

Where many gangs stand that may each move, the relaxation is far from the best answer, and CP-SAT
takes long to close what lies between. HiGHS does that in a second at 1000 nodes, where it takes no
longer for many lost nodes than for one (docs/decisions/0089).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from fourleaf.solver.cpsat.backend import ENDLESS
from fourleaf.solver.cpsat.core_search import allowance
from fourleaf.solver.cpsat.program import UNBOUNDED, Program, SolveResult
from fourleaf.solver.cpsat.relaxation import limited, model_of, nothing_more, or_none

NEARLY_WHOLE = 1e-6
"""So far above a whole number a bound is still that number."""

MOST_VARIABLES = 20_000
"""Variables of a program, at most: 8,000 take HiGHS a hundred MiB, and memory is limited."""


def branch_and_cut(
    program: Program, costs: Sequence[int], seconds: float, gap: float = 0.0
) -> SolveResult | None:
    """The answer worth most by `costs`, within the relative `gap` and `seconds`, and its bound.

    It is checked in whole numbers; the bound is what HiGHS says, within its tolerance, and so is
    that there is no answer, which is proven without values. The same each time, as long as the
    limit is not reached. `None` where nothing was found in time, HiGHS fails in any other way, or
    there are more than `MOST_VARIABLES`.
    """
    if program.size > MOST_VARIABLES:
        return None
    return or_none(lambda: _solve(program, costs, seconds, gap))


def _solve(
    program: Program, costs: Sequence[int], seconds: float, gap: float
) -> SolveResult | None:
    from ortools.math_opt import parameters_pb2, result_pb2  # type: ignore[import-untyped]
    from ortools.math_opt.core.python import solver  # type: ignore[import-untyped]

    parameters = limited(seconds)
    parameters.highs.double_options["mip_rel_gap"] = gap
    result = solver.solve(
        model_of(program, costs, whole=True),
        parameters_pb2.SOLVER_TYPE_HIGHS,
        parameters_pb2.SolverInitializerProto(),
        parameters,
        *nothing_more(),
    )
    if result.termination.reason == result_pb2.TERMINATION_REASON_INFEASIBLE:
        return SolveResult(None, True, 0, 0)
    if not result.solutions:
        return None
    values = [round(value) for value in result.solutions[0].primal_solution.variable_values.values]
    if not obeys(program, values):
        return None
    objective = sum([cost * value for cost, value in zip(costs, values, strict=True)])
    limit = result.termination.objective_bounds.dual_bound
    bound = math.floor(limit + NEARLY_WHOLE) if math.isfinite(limit) else ENDLESS
    bound = max(bound, objective)
    proven = bound - objective <= allowance(gap, objective, bound)
    return SolveResult(values, proven, objective, bound)


def obeys(program: Program, values: Sequence[int]) -> bool:
    """Whether the values are within their bounds and keep all rows."""
    if not all(0 <= value <= high for value, high in zip(values, program.high, strict=True)):
        return False
    for variables, coefficients, least, most in program.rows:
        pairs = zip(coefficients, variables, strict=True)
        total = sum([c * values[variable] for c, variable in pairs])
        if (least != UNBOUNDED and total < least) or (most != ENDLESS and total > most):
            return False
    return True
