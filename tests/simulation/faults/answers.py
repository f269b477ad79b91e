"""Answers of a server that is busy, broken, or of another mind."""

from __future__ import annotations

import random

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, Conflict, Refused, Throttled
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from tests.simulation.faults.fault import Family, Fate, Scene, Spells
from tests.simulation.jobs import job_name


class SpuriousConflict(Family):
    """409, although nothing has changed: storage lost a race that the client knows nothing of."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.3)

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Refuse a write once."""
        repeats = request.verb != "create" or request.subresource == "binding"
        if not request.writes or not repeats or not self._spells.strikes(identity, now):
            return None
        error = Conflict("please apply your changes to the latest version", 409, "Conflict")
        return Fate("409", arrives=False, answer=error)


class Busy(Family):
    """429, with the seconds after which to come back."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.6)

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Send it away."""
        if not self._spells.strikes(identity, now):
            return None
        after = self._spells.chance.choice((1.0, 1.0, 2.0, 5.0))
        error = Throttled("too many requests", 429, "TooManyRequests", retry_after=after)
        return Fate("429", arrives=False, answer=error)


class Broken(Family):
    """500, before or after the request was done."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.4)

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Fail, with or without an effect."""
        if not self._spells.strikes(identity, now):
            return None
        status = self._spells.chance.choice((500, 500, 502, 504))
        done = self._spells.chance.random() < 0.5
        return Fate("500", arrives=done, answer=Ambiguous("etcdserver: timed out", status))


class RefusedBinding(Family):
    """A webhook refuses a pod's bindings, in spite of the dry run: for now, or for good."""

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 0.6)
        self._refused: dict[str, Refused] = {}

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Refuse it, and all that follow for that pod where it is for good."""
        if request.subresource != "binding" or request.dry_run:
            return None
        error = self._refused.get(request.target.uid)
        if error is None:
            if not self._spells.strikes(identity, now):
                return None
            status = self._spells.chance.choice((403, 422))
            error = Refused("admission webhook denied the request", status, "Forbidden")
            if self._spells.chance.random() < 0.7:
                self._refused[request.target.uid] = error
        return Fate("binding refused", arrives=False, answer=error)


class AdmissionPolicy(Family):
    """A policy forbids bindings or evictions of some gangs for a while, dry runs included.

    Others than a `RefusedBinding`, these are heard by whoever asks before.
    """

    def __init__(self, chance: random.Random, scene: Scene) -> None:
        self._spells = Spells(chance, scene, 1.0)
        both = ("binding", "eviction")
        self._subresources = chance.choice((both[:1], both[1:], both))
        self._status = chance.choice((403, 422))
        self._remainder = chance.randrange(3)

    def on_request(self, identity: str, request: ApiRequest, now: float) -> Fate | None:
        """Refuse it where the policy in force is about that gang."""
        number = job_name(request.target.name).lstrip("g")
        if request.subresource not in self._subresources or not number.isdigit():
            return None
        if int(number) % 3 != self._remainder or not self._spells.covers(now):
            return None
        why = f"ValidatingAdmissionPolicy denied the {request.subresource}"
        error = Refused(why, self._status, "Forbidden")
        return Fate(f"{request.subresource} forbidden", arrives=False, answer=error)
