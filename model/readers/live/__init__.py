"""A changing cluster, read change by change, equal to reading all of it at once."""

from fourleaf.model.readers.live.reader import LiveReader
from fourleaf.model.readers.live.reading import GangFacts, LiveReading, WaitingMember

__all__ = ["GangFacts", "LiveReader", "LiveReading", "WaitingMember"]
