"""The linear relaxation, solved by GLOP, and the bound that its duals prove.

The duals are rounded to multiples of 2^-20 and everything after that is integer
arithmetic, so the bound and the reduced costs hold whatever the LP solver's accuracy: for
any multipliers y of the right sign and any x within its limits,

    objective(x) <= sum_i y_i * limit_i + sum_j max over x_j of (c_j - y A_j) x_j.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ortools.linear_solver import linear_solver_pb2
from ortools.linear_solver.python.model_builder_helper import ModelSolverHelper

from solver.program import UNBOUNDED, Program

SCALE = 1 << 20


@dataclass(frozen=True, slots=True)
class Relaxation:
    """`bound` and `reduced` (the reduced cost by variable), both times `SCALE`.

    A solution in which variable j stands off its best end by one is at least
    |reduced[j]| worse than `bound`.
    """

    bound: int
    reduced: list[int]


def relax(program: Program, objective: Sequence[int], seconds: float) -> Relaxation | None:
    """The relaxation of `maximize objective`, `None` where the LP found no optimum."""
    duals = _duals(program, objective, seconds)
    if duals is None:
        return None
    reduced = [SCALE * c for c in objective]
    bound = 0
    for (variables, coefficients, least, most), dual in zip(program.rows, duals, strict=True):
        y = round(dual * SCALE)
        if not y or (y < 0 and least == UNBOUNDED):
            continue
        bound += y * (most if y > 0 else least)
        for variable, coefficient in zip(variables, coefficients, strict=True):
            reduced[variable] -= y * coefficient
    for cost, low, high in zip(reduced, program.low, program.high, strict=True):
        bound += cost * (high if cost > 0 else low)
    return Relaxation(bound, reduced)


def _duals(
    program: Program, objective: Sequence[int], seconds: float
) -> Sequence[float] | None:
    model = linear_solver_pb2.MPModelProto(maximize=True)
    add_variable = model.variable.add
    for low, high, cost in zip(program.low, program.high, objective, strict=True):
        add_variable(lower_bound=low, upper_bound=high, objective_coefficient=cost)
    add_row = model.constraint.add
    infinity = float("inf")
    for variables, coefficients, least, most in program.rows:
        row = add_row(lower_bound=-infinity if least == UNBOUNDED else least, upper_bound=most)
        row.var_index.extend(variables)
        row.coefficient.extend(coefficients)
    request = linear_solver_pb2.MPModelRequest(
        model=model,
        solver_type=linear_solver_pb2.MPModelRequest.GLOP_LINEAR_PROGRAMMING,
        solver_time_limit_seconds=max(seconds, 0.001),
    )
    answer = ModelSolverHelper("glop").solve_serialized_request(request.SerializeToString())
    response = linear_solver_pb2.MPSolutionResponse.FromString(answer)
    if response.status != linear_solver_pb2.MPSOLVER_OPTIMAL:
        return None
    return response.dual_value
