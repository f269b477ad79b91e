"""An integer program over CP-SAT: the only place that knows OR-tools' interface."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ortools.sat.python import cp_model

Terms = list[tuple[int, int]]
"""(coefficient, variable) pairs of a linear expression."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one solve knows. `values` by variable, `None` where no solution was found."""

    values: list[int] | None
    proven: bool
    objective: int
    bound: int


class Program:
    """Integer variables, linear rows, one linear objective to maximise."""

    def __init__(self) -> None:
        self._model = cp_model.CpModel()
        self._variables = self._model.proto.variables
        self._constraints = self._model.proto.constraints
        self._bounds: list[tuple[int, int]] = []

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self._bounds)

    def variable(self, most: int, least: int = 0) -> int:
        """A new integer variable in `least`..`most`; returns its number."""
        self._variables.add().domain.extend((least, most))
        self._bounds.append((least, most))
        return len(self._bounds) - 1

    def row(self, terms: Iterable[tuple[int, int]], least: int, most: int) -> None:
        """`least <= sum of terms <= most`. Terms of one variable may stand several times."""
        summed: dict[int, int] = {}
        for coefficient, variable in terms:
            summed[variable] = summed.get(variable, 0) + coefficient
        linear = self._constraints.add().linear
        linear.vars.extend(list(summed))
        linear.coeffs.extend(list(summed.values()))
        linear.domain.extend((least, most))

    def at_most(self, terms: Terms, most: int) -> None:
        """`sum of terms <= most`, left out where the variables' bounds imply it."""
        worst = 0
        for coefficient, variable in terms:
            worst += coefficient * self._bounds[variable][coefficient > 0]
        if worst > most:
            self.row(terms, cp_model.INT_MIN, most)

    def equal(self, terms: Terms, value: int) -> None:
        """`sum of terms == value`."""
        self.row(terms, value, value)

    def maximize(self, terms: Terms, seconds: float, seed: int, presolve: bool = True) -> Answer:
        """The best value of `sum of terms`, or the best found within `seconds`.

        One worker and a fixed seed make the answer the same each time, as long as the
        limit is not reached. The other parameters are the ones that DESIGN measured.
        """
        summed: dict[int, int] = {}
        for coefficient, variable in terms:
            summed[variable] = summed.get(variable, 0) + coefficient
        objective = self._model.proto.objective
        objective.vars.clear()
        objective.coeffs.clear()
        objective.vars.extend(list(summed))
        objective.coeffs.extend([-value for value in summed.values()])
        objective.scaling_factor = -1.0
        solver = cp_model.CpSolver()
        parameters = solver.parameters
        parameters.num_workers = 1
        parameters.random_seed = seed
        parameters.symmetry_level = 0
        parameters.cp_model_probing_level = 0
        parameters.max_presolve_iterations = 1
        parameters.linearization_level = 2
        parameters.cp_model_presolve = presolve
        parameters.max_time_in_seconds = max(seconds, 0.001)
        status = solver.solve(self._model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer(None, False, 0, 0)
        response = solver.response_proto
        return Answer(
            list(response.solution),
            status == cp_model.OPTIMAL,
            round(response.objective_value),
            round(response.best_objective_bound),
        )
