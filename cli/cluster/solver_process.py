"""The solver process of a verb, which loads while the verb does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fourleaf.solver.process.client import SolverClient


@contextmanager
def solver() -> Iterator[SolverClient]:
    """A client whose process loads OR-tools while this one loads the rest and reads its input.

    To be entered before anything is imported that takes long.
    """
    from fourleaf.solver.process.worker_restarts import Supervisor

    with closing(Supervisor()) as supervisor:
        supervisor.start()
        from fourleaf.solver.process.client import SolverClient

        with SolverClient(supervisor=supervisor) as client:
            yield client
