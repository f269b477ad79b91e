"""All sources together: what they see, what they saw lately, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import ValidationError

from fourleaf.agent.discovery.sighting import Sighting, SourceError, TopologySource
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.model.crds.discovered_topology import (
    MOST_PORTS,
    DiscoveredTopology,
    FabricPort,
    SourceFault,
)
from fourleaf.model.problems import brief

KEPT_SECONDS = 600.0
"""Seconds for which what a source saw last counts while it fails, or sees nothing: a switch that
starts anew is silent for minutes, and its nodes have not moved."""
_MOST_FAULTS = 16


class Discovery:
    """Reads sources one after the other. `now` is in seconds of a clock that never goes back."""

    def __init__(self, sources: Sequence[TopologySource], now: Callable[[], float]) -> None:
        self._sources = tuple(sources)
        self._now = now
        self._seen: dict[str, tuple[float, Sighting]] = {}

    def read(self) -> DiscoveredTopology | None:
        """What there is now, None for nothing. No answer of a source raises anything."""
        faults: list[SourceFault] = []
        sightings = [self._sighting(source, faults) for source in self._sources]
        ports: dict[str, FabricPort] = {}
        for one in sightings:
            for port in one.ports:
                ports.setdefault(port.name, port)
        fabric = {one for port in ports.values() for one in port.interfaces}
        faults += [
            _fault(source.name, said)
            for source, one in zip(self._sources, sightings, strict=True)
            for interface, said in one.doubts
            if not interface or not fabric or interface in fabric
        ]
        found = DiscoveredTopology(
            ports=list(ports.values())[:MOST_PORTS],
            # Beside the adapters of the fabric, interfaces see switches of other networks.
            switches=[
                switch
                for one in sightings
                for switch in one.switches
                if not fabric or switch.interface in fabric
            ],
            places=[one.place for one in sightings if one.place],
            modules=sorted({module for one in sightings for module in one.modules}),
            faults=_some(faults),
        )
        return None if found == DiscoveredTopology() else found

    def _sighting(self, source: TopologySource, faults: list[SourceFault]) -> Sighting:
        seen = Sighting()
        try:
            seen = source.read()
        except SourceError as error:
            faults.append(_fault(source.name, f"{error}. {error.advice}"))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            faults.append(_fault(source.name, f"makes no sense: {where}: {first['msg']}"))
        except Exception as error:  # noqa: BLE001 - no answer of a source takes the agent down
            said = f"cannot be read: {type(error).__name__}: {error}"
            faults.append(_fault(source.name, said))
        if not seen.empty:
            self._seen[source.name] = self._now(), seen
            return seen
        at, before = self._seen.get(source.name, (0.0, seen))
        if before.empty or self._now() - at >= KEPT_SECONDS:
            return seen
        faults.append(_fault(source.name, "sees nothing: what it saw minutes ago still counts"))
        return before


def _fault(source: str, said: str) -> SourceFault:
    return SourceFault(source=source, message=clipped(brief(said, 1000)))


def _some(faults: list[SourceFault]) -> list[SourceFault]:
    """As many as are published; the last one says how many more there are."""
    if len(faults) <= _MOST_FAULTS:
        return faults
    kept = faults[: _MOST_FAULTS - 1]
    left = len(faults) - len(kept)
    return [*kept, SourceFault(source=faults[len(kept)].source, message=f"and {left} faults more")]
