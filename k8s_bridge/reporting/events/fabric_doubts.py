"""What the scheduler doubts about leaves and spines: an event on the config, once each."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.k8s_bridge.reporting.recorder.queue_items import Event, Regarding
from fourleaf.k8s_bridge.runtime.api_text import complaint
from fourleaf.model.problems import Problem
from fourleaf.model.readers.config import IN_FORCE


def fabric_doubts(problems: Iterable[Problem]) -> dict[str, Problem]:
    """Field of the config in force -> what of the fabric does not go with it."""
    return {one.field: one for one in problems if one.source == IN_FORCE}


def what_is_doubtful(
    before: dict[str, Problem], after: dict[str, Problem], config_map: Regarding
) -> list[Event]:
    """An event for each field that was in no doubt before, whatever the numbers in it are now."""
    return [
        Event(
            config_map,
            "Invalid" if one.is_error else "TopologyIncomplete",
            complaint(one),
            "Reading",
            topic=field,
            warning=True,
        )
        for field, one in after.items()
        if field not in before
    ]
