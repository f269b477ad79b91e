"""The config in its ConfigMap: refused before it is stored, for a wrong one would not be used."""

from __future__ import annotations

from fourleaf.model.config.spec import DEFAULTS_KEY
from fourleaf.model.readers.config import read_config
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.text.sources import Source

BY_HAND = ("kubectl-edit", "kubectl-patch", "kubectl-replace")
"""Field managers of an edit that the next upgrade of the chart would be in conflict with."""


def check_config(body: Body, before: Body | None, manager: str, report: Report) -> None:
    """Report what is wrong with the config in the ConfigMap `body`, unless it stands as before.

    Weights of terms that packages bring are for the scheduler to judge, whose image has them.
    `manager` is the field manager of the request.
    """
    if before is not None and body.get("data") == before.get("data"):
        return
    inventory = Inventory(report)
    inventory.take([Source("", objects=[body])])
    read_config(inventory)
    if manager not in BY_HAND or before is None:
        return
    kept, changed = (_defaults(one) for one in (before, body))
    if kept is not None and kept != changed:
        for manifest in inventory.of("", "ConfigMap"):
            manifest.error(
                f"data[{DEFAULTS_KEY}]",
                None,
                "belongs to the chart, whose next upgrade would be in conflict with an edit",
                "Put what differs under config.yaml: it is merged over the defaults, and stays.",
            )


def _defaults(body: Body) -> object:
    data = body.get("data")
    return data.get(DEFAULTS_KEY) if isinstance(data, dict) else None
