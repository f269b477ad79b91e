"""What gangs that wait do to each other, reading after reading."""

from __future__ import annotations

from operator import attrgetter

from fourleaf.model.config.spec import Network
from fourleaf.model.gang import Gang, GangKey
from fourleaf.model.readers.gangs.cross_checks import side_by_side
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.turns import Turns
from fourleaf.model.readers.live.fabric_cache import FabricCache
from fourleaf.model.readers.live.waiting_gangs import WaitingGangs
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.neighbours import Neighbours

_gang = attrgetter("gang")


class BesideOthers:
    """Puts the gangs side by side. One to which others do the same stays the same object."""

    def __init__(self) -> None:
        self.turns = Turns()
        self._changed: dict[GangKey, Draft] = {}
        """The drafts to which others did something in the last reading."""

    def gangs(
        self,
        waiting: WaitingGangs,
        running: Neighbours,
        ground: FabricCache,
        network: Network,
        report: Report,
    ) -> tuple[tuple[Gang, ...], dict[GangKey, Gang]]:
        """The gangs in natural order, and by their keys; `report` takes what is wrong."""
        drafts, by_key = waiting.in_order, waiting.gangs
        before = {key: draft.gang for key, draft in self._changed.items()}
        if waiting.any_minds_others or running.any_repels:
            side_by_side(
                drafts,
                running,
                ground.fabric,
                ground.nodes,
                report,
                self.turns,
                network,
                whole=True,
            )
            changed = [draft for draft in drafts if draft.gang is not draft.as_read]
        else:
            # So it is mostly, and then not even a long queue is gone through.
            self.turns.begin(ground.fabric)
            changed = []
        for draft in changed:
            old = before.get(draft.gang.key)
            if old is not draft.gang and old == draft.gang:
                draft.gang = old
            by_key[draft.gang.key] = draft.gang
        self._changed = {draft.gang.key: draft for draft in changed}
        return tuple(map(_gang, drafts)) if changed else waiting.gangs_in_order, by_key
