"""Which gang a name on the command line means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.input.not_a_gang import Said, not_a_gang, nothing_heard
from fourleaf.cli.input.pasted_names import gangs_of, kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fourleaf.cli.input.not_a_gang import Heard
    from fourleaf.model.gang import GangKey
    from fourleaf.model.problems import BadInput
    from fourleaf.model.readers import InputReading
    from fourleaf.model.readers.objects.manifest import Body

NEAR_NAMES = 3
_NO_NAME = (
    "See `fourleaf queue` for names. A Job that has no pods now, as it backs off after failures, "
    "is no gang until it makes some: `kubectl describe` it."
)


def find_gang(
    reading: InputReading,
    text: str,
    namespace: str | None,
    where: str,
    heard: Heard = nothing_heard,
    idle: Sequence[Body] = (),
) -> GangKey:
    """The gang of `where` that `text` names, or to which the object belongs that it names.

    `heard` says why an object has no pods, as those that are `idle` have none. Raises `BadInput`
    where none or several do.
    """
    snapshot = reading.snapshot
    first, _, name = text.rpartition("/")
    known = {gang.key for gang in snapshot.gangs}
    known |= {pod.gang for pod in snapshot.running if pod.ours and pod.gang is not None}
    space = first or namespace or ""
    found = sorted(key for key in known if key.name == name and space in ("", key.namespace))
    found = found or gangs_of(reading, space, "", name)
    if not found and first:
        found = gangs_of(reading, namespace or "", kind_of(first), name)
    if len(found) == 1:
        return found[0]
    there = None if found else not_a_gang(reading, space, name, heard=heard, idle=idle)
    if there is None and first and not found:
        there = not_a_gang(reading, namespace or "", name, kind_of(first), heard, idle)
    raise _not_one(text, [str(key) for key in found], sorted(map(str, known)), where, there)


def _not_one(
    text: str, found: list[str], known: list[str], where: str, there: Said | None
) -> BadInput:
    from difflib import get_close_matches

    if there is not None:
        message, advice = there
    elif found:
        message = f"is the name of {len(found)} gangs"
        advice = f"Say which: {', '.join(found)}."
    else:
        message = "is no gang that runs or waits, and nothing else has that name"
        by_name = {one.rpartition("/")[2]: one for one in known}
        close = get_close_matches(text, known, NEAR_NAMES) or [
            by_name[one]
            for one in get_close_matches(text.rpartition("/")[2], list(by_name), NEAR_NAMES)
        ]
        advice = f"Perhaps {', '.join(close)}?" if close else _NO_NAME
    return bad_input(where, message, advice, about=f"Gang {text}")
