"""Names of gangs: what the pods say, qualified where that is not unique."""

from __future__ import annotations

from collections.abc import Iterable

from fourleaf.model.gang import GangKey
from fourleaf.model.readers.gangs.dialects import Dialect

Identity = tuple[str, str, str]
"""Namespace, dialect and name that the pods of a gang agree in."""

_ORDER: dict[str, int] = {dialect: number for number, dialect in enumerate(Dialect)}


def _rank(dialect: str) -> tuple[int, str]:
    """Where a dialect stands among all; those of owner kinds, before a Job's, by their names."""
    return _ORDER.get(dialect, _ORDER[Dialect.JOB]), dialect


def key_of_one(whole: GangKey, pod: str) -> GangKey:
    """The key of a pod that starts by itself, though others share the name `whole` with it."""
    return GangKey(whole.namespace, f"{whole.name}+{pod}")


class GangNames:
    """The names of all gangs.

    Of gangs in one namespace that share a name, the one whose dialect is looked for first
    has it, the others `name@dialect`. So has a name with "@" or "+" in it: no name that is
    made from another can be equal to it. The name of a gang depends on no pods but those
    that share it.
    """

    def __init__(self, identities: Iterable[Identity] = ()) -> None:
        self._sharing: dict[tuple[str, str], tuple[str, ...]] = {}
        for identity in identities:
            self.add(identity)

    def add(self, identity: Identity) -> list[Identity]:
        """Take in a gang; the gangs that share its name."""
        namespace, dialect, name = identity
        before = self._sharing.get((namespace, name), ())
        together = sorted((*before, dialect), key=_rank) if before else (dialect,)
        self._sharing[namespace, name] = tuple(together)
        return [(namespace, one, name) for one in before]

    def drop(self, identity: Identity) -> list[Identity]:
        """Forget a gang; the gangs that share its name."""
        namespace, dialect, name = identity
        left = tuple(one for one in self._sharing[namespace, name] if one != dialect)
        if left:
            self._sharing[namespace, name] = left
        else:
            del self._sharing[namespace, name]
        return [(namespace, one, name) for one in left]

    def sharing(self, identity: Identity) -> list[Identity]:
        """The gangs of that name in that namespace, of whichever dialect."""
        namespace, _, name = identity
        return [(namespace, one, name) for one in self._sharing.get((namespace, name), ())]

    def called(self, key: GangKey) -> list[Identity]:
        """The gang of that key, or none."""
        names = {key.name, key.name.rpartition("@")[0]}
        found = (one for name in names for one in self.sharing((key.namespace, "", name)))
        return [one for one in found if self.key_of(one) == key]

    def key_of(self, identity: Identity) -> GangKey:
        """The key of a gang that was taken in."""
        namespace, dialect, name = identity
        first = self._sharing[namespace, name][0] == dialect
        plain = first and "@" not in name and "+" not in name
        return GangKey(namespace, name if plain else f"{name}@{dialect}")
