"""Relaxations: programs whose variables may be fractions, by HiGHS or, one after another, by GLOP.

With `backend.py` and `branch_and_cut.py` the only place that knows OR-tools' interfaces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from typing import Any, TypeVar

from fourleaf.solver.cpsat.backend import ENDLESS
from fourleaf.solver.cpsat.program import UNBOUNDED, Program

T = TypeVar("T")

RELAXATION_FAILURES = (ImportError, LookupError, MemoryError, RuntimeError, ValueError)
"""What MathOpt and HiGHS raise where they have no answer: C++ errors arrive as some of these."""


@dataclass(frozen=True, slots=True)
class Relaxation:
    """The best answer in fractions: the value of every variable, the price of every row."""

    values: list[float]
    prices: list[float]


def relax(program: Program, costs: Sequence[int], seconds: float) -> Relaxation | None:
    """The best answer of a program whose variables may be fractions, by the simplex of HiGHS.

    The same each time; `None` where none was found within `seconds`, HiGHS refuses its numbers (it
    takes none of 10^15 and more), or it fails in any other way: the search does without.
    """
    return _finite(lambda: _simplex(program, costs, seconds))


def _finite(solve: Callable[[], Relaxation | None]) -> Relaxation | None:
    found = or_none(solve)
    whole = found is not None and all(map(math.isfinite, chain(found.values, found.prices)))
    return found if whole else None


def or_none(solve: Callable[[], T | None]) -> T | None:
    """What `solve` returns; `None` where OR-tools fails in any of its ways."""
    with suppress(*RELAXATION_FAILURES):
        # Loaded here and below: few programs of small fabrics need it.
        from pybind11_abseil.status import StatusNotOk  # type: ignore[import-untyped]

        with suppress(StatusNotOk):
            return solve()
    return None


def _simplex(program: Program, costs: Sequence[int], seconds: float) -> Relaxation | None:
    from ortools.math_opt import parameters_pb2  # type: ignore[import-untyped]
    from ortools.math_opt.core.python import solver  # type: ignore[import-untyped]

    parameters = limited(seconds)
    parameters.highs.string_options["presolve"] = "off"
    result = solver.solve(
        model_of(program, costs),
        parameters_pb2.SOLVER_TYPE_HIGHS,
        parameters_pb2.SolverInitializerProto(),
        parameters,
        *nothing_more(),
    )
    return _found(program, result)


def limited(seconds: float) -> Any:
    """Parameters of a solve that takes so many seconds at most."""
    from ortools.math_opt import parameters_pb2

    parameters = parameters_pb2.SolveParametersProto()
    parameters.time_limit.FromTimedelta(timedelta(seconds=max(seconds, 0.001)))
    return parameters


def nothing_more() -> tuple[Any, ...]:
    """The other arguments of a solve: hints, messages, callbacks and interruption, none of them."""
    from ortools.math_opt import callback_pb2, model_parameters_pb2

    nothing = model_parameters_pb2.ModelSolveParametersProto()
    return nothing, None, callback_pb2.CallbackRegistrationProto(), None, None


def _found(program: Program, result: Any) -> Relaxation | None:
    from ortools.math_opt import result_pb2

    if result.termination.reason != result_pb2.TERMINATION_REASON_OPTIMAL:
        return None
    found = result.solutions[0]
    values = list(found.primal_solution.variable_values.values)
    prices = list(found.dual_solution.dual_values.values)
    complete = (len(values), len(prices)) == (program.size, len(program.rows))
    return Relaxation(values, prices) if complete else None


class RelaxationSeries:
    """One program's relaxation, again and again with other ranges of a few variables.

    Each begins where the last one ended, so it takes a tenth of the first.
    """

    def __init__(self, program: Program, costs: Sequence[int]) -> None:
        self._program = program
        self._costs = costs
        self._solver: Any = None
        self._set: dict[int, tuple[int, int]] = {}

    def solve(self, ranges: Mapping[int, tuple[int, int]], seconds: float) -> Relaxation | None:
        """With these (least, most), others from 0 to their highest; `None` without an answer."""
        return _finite(lambda: self._solve(ranges, seconds))

    def _solve(self, ranges: Mapping[int, tuple[int, int]], seconds: float) -> Relaxation | None:
        from ortools.math_opt import model_update_pb2, parameters_pb2
        from ortools.math_opt.core.python import solver

        if self._solver is None:
            self._solver = solver.new(
                parameters_pb2.SOLVER_TYPE_GLOP,
                model_of(self._program, self._costs),
                parameters_pb2.SolverInitializerProto(),
            )
        changed = {v: pair for v, pair in sorted(ranges.items()) if self._set.get(v) != pair}
        for variable in sorted(self._set.keys() - ranges.keys()):
            changed[variable] = (0, self._program.high[variable])
        self._set = dict(ranges)
        update = model_update_pb2.ModelUpdateProto()
        columns = update.variable_updates
        for variable, (least, most) in sorted(changed.items()):
            columns.lower_bounds.ids.append(variable)
            columns.lower_bounds.values.append(least)
            columns.upper_bounds.ids.append(variable)
            columns.upper_bounds.values.append(most)
        parameters = limited(seconds)
        parameters.presolve = parameters_pb2.EMPHASIS_OFF
        parameters.lp_algorithm = parameters_pb2.LP_ALGORITHM_DUAL_SIMPLEX
        if changed and not self._solver.update(update):
            return None
        result = self._solver.solve(parameters, *nothing_more())
        return _found(self._program, result)


def model_of(program: Program, costs: Sequence[int], whole: bool = False) -> Any:
    """The program for MathOpt, its variables `whole` numbers or fractions."""
    from ortools.math_opt import model_pb2

    model = model_pb2.ModelProto()
    columns = model.variables
    columns.ids.extend(range(program.size))
    columns.lower_bounds.extend([0.0] * program.size)
    columns.upper_bounds.extend(program.high)
    columns.integers.extend([whole] * program.size)
    model.objective.maximize = True
    scored = [variable for variable, cost in enumerate(costs) if cost]
    model.objective.linear_coefficients.ids.extend(scored)
    model.objective.linear_coefficients.values.extend([costs[variable] for variable in scored])
    rows = model.linear_constraints
    rows.ids.extend(range(len(program.rows)))
    least_most = [(least, most) for _, _, least, most in program.rows]
    rows.lower_bounds.extend([-math.inf if a == UNBOUNDED else a for a, _ in least_most])
    rows.upper_bounds.extend([math.inf if b == ENDLESS else b for _, b in least_most])
    _fill(model.linear_constraint_matrix, program)
    return model


def _fill(matrix: Any, program: Program) -> None:
    """The rows' coefficients, by row and then by variable."""
    numbers: list[int] = []
    variables: list[int] = []
    values: list[int] = []
    for number, row in enumerate(program.rows):
        ordered = sorted(row.variables)
        numbers += [number] * len(ordered)
        variables += ordered
        if ordered == row.variables:
            values += row.coefficients
        else:
            of = dict(zip(row.variables, row.coefficients, strict=True))
            values += [of[variable] for variable in ordered]
    matrix.row_ids.extend(numbers)
    matrix.column_ids.extend(variables)
    matrix.coefficients.extend(values)
