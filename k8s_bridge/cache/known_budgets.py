"""Disruption budgets as they were read, each for as long as its object is the same."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping

from fourleaf.k8s_bridge.cluster.protocol import Body
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.disruption_budgets import BUDGET, DisruptionBudget, read_budget

_Key = tuple[str, str]


class KnownBudgets:
    """What was read of budgets, by namespace and name: every plan asks for all of them."""

    def __init__(self) -> None:
        self._read: dict[_Key, tuple[Body, DisruptionBudget]] = {}

    def of(self, bodies: Mapping[_Key, Body], spaces: Container[str]) -> Iterator[DisruptionBudget]:
        """The budgets among `bodies` of these namespaces."""
        for at, body in bodies.items():
            if at[0] not in spaces:
                continue
            known = self._read.get(at)
            if known is None or known[0] is not body:
                read = read_budget(Manifest(Report(), "", *BUDGET, *at, body))
                known = self._read[at] = body, read
            yield known[1]

    def keep(self, bodies: Container[_Key]) -> None:
        """Forget all but those of `bodies`."""
        self._read = {at: known for at, known in self._read.items() if at in bodies}

    def forget(self, at: _Key) -> None:
        """A budget is gone, or says something else."""
        self._read.pop(at, None)
