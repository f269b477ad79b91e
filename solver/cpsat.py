"""CP-SAT: the only place that knows OR-tools' interface."""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

from solver.program import UNBOUNDED, Answer, Program


def maximize(
    program: Program,
    objective: Sequence[int],
    seconds: float,
    seed: int,
) -> Answer:
    """The best value of the objective (a coefficient per variable) within `seconds`.

    An answer without values that is proven means that there is none. One worker and a fixed seed make the answer
    the same each time, as long as the limit is not reached; the other parameters are the
    ones that measured best (docs/decisions).
    """
    model = cp_model.CpModel()
    number: list[int] = []
    constant = 0
    free: list[int] = []
    add = model.proto.variables.add
    for variable, (low, high) in enumerate(zip(program.low, program.high, strict=True)):
        if low != high:
            number.append(len(free))
            free.append(variable)
            add().domain.extend((low, high))
        else:
            number.append(-1 - low)
            constant += objective[variable] * low
    for variables, coefficients, least, most in program.rows:
        _add_row(model, number, variables, coefficients, least, most)
    target = model.proto.objective
    weighted = [(number[v], -objective[v]) for v in free if objective[v]]
    target.vars.extend([v for v, _ in weighted])
    target.coeffs.extend([c for _, c in weighted])
    target.scaling_factor = -1.0
    solver = cp_model.CpSolver()
    parameters = solver.parameters
    parameters.num_workers = 1
    parameters.random_seed = seed
    parameters.symmetry_level = 0
    parameters.cp_model_probing_level = 0
    parameters.max_presolve_iterations = 1
    parameters.linearization_level = 2
    parameters.add_lp_constraints_lazily = False
    parameters.max_time_in_seconds = max(seconds, 0.001)
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Answer(None, status == cp_model.INFEASIBLE, 0, 0)
    response = solver.response_proto
    solution = list(response.solution)
    values = [solution[n] if n >= 0 else -1 - n for n in number]
    return Answer(
        values,
        status == cp_model.OPTIMAL,
        constant + round(response.objective_value),
        constant + round(response.best_objective_bound),
    )


def _add_row(
    model: cp_model.CpModel,
    number: list[int],
    variables: list[int],
    coefficients: list[int],
    least: int,
    most: int,
) -> None:
    taken = 0
    left: list[int] = []
    weights: list[int] = []
    for variable, coefficient in zip(variables, coefficients, strict=True):
        n = number[variable]
        if n >= 0:
            left.append(n)
            weights.append(coefficient)
        else:
            taken += coefficient * (-1 - n)
    if not left and least <= taken <= most:
        return
    linear = model.proto.constraints.add().linear
    linear.vars.extend(left)
    linear.coeffs.extend(weights)
    linear.domain.extend((
        least if least == UNBOUNDED else least - taken,
        most - taken,
    ))
