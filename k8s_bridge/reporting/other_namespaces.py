"""Names of other namespaces, kept out of what is written where one namespace reads it.

Conditions and events are read by all who may look at a pod. Gangs and pods are named in them as
NAMESPACE/NAME; who runs where beside a tenant is not for that tenant, unless the config says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

HIDDEN = "a gang of another namespace"
"""What stands in place of such a name."""

NAME_MARK = "@"
"""What stands in place of any name where texts are compared."""

_NAMED = re.compile(
    r"(?<![\w./-])(?:gang |pod )?([a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?)"
    r"/(\S+)",
    re.ASCII,
)
# The name of a gang may have any characters but blanks; what ends a clause is none of it.
_END = ".,;:)]'\""

_HIDDEN = re.compile(rf"{HIDDEN}|\d+ gangs of other namespaces")
_REPEATED = re.compile(rf"{HIDDEN}(?:(?:, | and ){HIDDEN})+")


def named_in(text: str) -> frozenset[str]:
    """What may be a namespace that `text` names something of."""
    return frozenset(found[1] for found in _NAMED.finditer(text))


@lru_cache(maxsize=1024)
def gangs_named_in(text: str) -> frozenset[str]:
    """What may be gangs and pods that `text` names, as `as_named` has them."""
    return frozenset(as_named(f"{found[1]}/{found[2]}") for found in _NAMED.finditer(text))


def as_named(gang: str) -> str:
    """NAMESPACE/NAME as it is found in a text, where it may be at the end of a clause."""
    return gang.rstrip(_END)


def without_names(text: str) -> str:
    """`text` with a mark for each gang or pod that it names, and for those that are hidden."""

    def marked(found: re.Match[str]) -> str:
        name = found[2]
        return NAME_MARK + name[len(name.rstrip(_END)) :]

    return _HIDDEN.sub(NAME_MARK, _NAMED.sub(marked, text))


def without_others(text: str, namespace: str, namespaces: Collection[str]) -> str:
    """`text` as it may be read in `namespace`: nothing in others of `namespaces` is named."""

    def hidden(found: re.Match[str]) -> str:
        if found[1] == namespace or found[1] not in namespaces:
            return found[0]
        name = found[2]
        return HIDDEN + name[len(name.rstrip(_END)) :]

    return _REPEATED.sub(_together, _NAMED.sub(hidden, text))


def _together(found: re.Match[str]) -> str:
    """Several that are named one after the other say nothing one by one."""
    return f"{found[0].count(HIDDEN)} gangs of other namespaces"
