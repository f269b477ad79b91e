"""A reason as a sentence: the one place where the data of `kinds.py` becomes words.

The numbers come from `Reason.counts` under these names, and what is absent is left out of
the sentence: `needed`, `free` (in one spine where `anywhere` counts the whole fabric),
`total`, `leaf`, `window` and `spine` (the most that any of these holds when empty), all in
nodes, or in pods where the count `pods` is present; `leaves` (the window's length),
`present`, `quota`, `used`, `ahead`, `batch`, `limit` (with the `gangs` or `members` that
count against it), `asked` (Mbit/s), and nodes that would do but for `a cordon`, `not being ready`,
`a record that cannot be read or written`, `taint NAME` or `other taints`. Any other count of
`NoMatchingNodes` is a law and how many nodes it refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind

MOST_NAMED = 3
"""Names that a sentence has at most; of the others it says how many there are."""

CORDON = "a cordon"
"""The count of nodes that a cordon alone leaves out."""

NO_READINESS = "not being ready"
"""The count of nodes that only are not ready."""

TAINTED = "taint "
"""Begins the count of nodes that a taint alone leaves out; its name follows."""

SEAL = "a record that cannot be read or written"
"""The count of nodes that only are sealed."""

OTHER_TAINTS = "other taints"
"""The same count of all taints that are not named."""

RAISE_A_LIMIT = "raise what forbids it: a disruption budget or maxEvictions of the config"
"""What helps where evictions are forbidden, as a step."""

RAISE_ANY_BUDGET = (
    "raise the disruption budgets of pods in its way, which `kubectl get pdb -A` shows with 0 "
    "allowed disruptions, or the backoffLimit of their Jobs"
)
"""The same where it is not known which limit it is."""

WAIT_FOR_ROOM = "or wait: it starts once others end and leave enough room"
"""The other step of a gang that waits."""

WAIT_BESIDE = "or wait until others end and leave enough room beside its members"
"""The other step of a gang of which members run, and may stay where they are."""

WAIT_TO_GO = "or wait: it stays where it is until enough of its pods may go"
"""The same where they may not stay; no room helps."""

_PLURALS = {"leaf": "leaves", "GPU": "GPUs"}
_WHOLE_FABRIC = ("nodes", "total", "eligible", "needed", "pods")
_LAWS = {
    "notReady": "not ready",
    "heldBack": "held back by what is known of their devices",
    "sealed": "whose record cannot be read or written",
    "devices": "without the devices that it demands",
    "unannounced": "whose GPUs no device plugin announces",
    "selector": "outside its selector",
    "taint": "tainted",
    "bandwidth": "without the bandwidth",
    "domain": "outside the domains of its namespace",
    "tooSmall": "too small",
    "noLeaf": "without a leaf, which the config refuses",
}


def sentence(reason: Reason) -> str:
    """`reason` as one sentence without a final stop, the nearest miss included."""
    parts = [cause(reason)]
    if reason.near:
        parts.append("nearest: " + nearest(reason))
    return "; ".join(part for part in parts if part)


def nearest(reason: Reason) -> str:
    """The nearest miss in words, empty where there is none.

    Of many leaves those that have something free, else where all of them are; of many nodes who
    holds them, and not each by itself.
    """
    short = [miss for miss in reason.near if miss.free < miss.needed] or list(reason.near)
    held = sum(len(miss.holders) for miss in short)
    if len(short) <= MOST_NAMED and held <= MOST_NAMED:
        return ", ".join(map(_miss, short))
    some = [miss for miss in short if miss.free] or short
    if some[0].free:
        others = (f"{miss.free} of {miss.needed} in {miss.leaf}" for miss in some[1:])
        text = listed([_free(some[0]), *others])
    else:
        text = f"nothing free in {listed([miss.leaf for miss in some])}"
    holders = dict.fromkeys(holder for miss in some for _, holder in miss.holders)
    return f"{text}; held by {listed(list(holders))}" if holders else text


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `MOST_NAMED`, `a, b, c and 5 more`."""
    first, more = list(names[:MOST_NAMED]), len(names) - MOST_NAMED
    *most, last = [*first, f"{more:,} more"] if more > 0 else first
    return f"{', '.join(most)} and {last}" if most else last


def steps(reason: Reason) -> list[str]:
    """What would let the gang start, the first few steps of many."""
    every = reason.unblock or _steps_of_kind(reason)
    first, more = list(every[:MOST_NAMED]), len(every) - MOST_NAMED
    return [*first, f"or one of {more:,} more"] if more > 0 else first


def _steps_of_kind(reason: Reason) -> tuple[str, ...]:
    """What helps whatever the numbers are, where those who found the reason have named nothing."""
    if reason.kind is not ReasonKind.EVICTIONS_FORBIDDEN:
        return ()
    return RAISE_A_LIMIT if reason.detail else RAISE_ANY_BUDGET, WAIT_FOR_ROOM


def _free(miss: NearMiss) -> str:
    return f"{miss.free} of {miss.needed} {miss.unit} free in {miss.leaf}"


def _miss(miss: NearMiss) -> str:
    if not miss.holders:
        return _free(miss)
    held: dict[str, list[str]] = {}
    for node, holder in miss.holders:
        held.setdefault(holder, []).append(node)
    holders = []
    for holder, nodes in held.items():
        names = nodes[0] if len(nodes) == 1 else f"{nodes[0]} and {len(nodes) - 1} more"
        holders.append(f"{names} held by {holder}")
    return f"{_free(miss)} ({', '.join(holders)})"


def cause(reason: Reason) -> str:
    """Why the gang waits, without the nearest miss."""
    parts = (_cause(reason), _left_out(dict(reason.counts)))
    return "; ".join(part for part in parts if part)


def _left_out(count: dict[str, int]) -> str:
    """`4 nodes left out by a cordon, 2 by taint b and 1 by other taints`."""
    shown = [(name, count[name]) for name in (CORDON, NO_READINESS, SEAL) if name in count]
    shown += [(name, n) for name, n in count.items() if name.startswith(TAINTED)]
    shown += [(name, n) for name, n in count.items() if name == OTHER_TAINTS]
    if not shown:
        return ""
    (first, nodes), *others = shown
    texts = [f"{counted(nodes, 'node')} left out by {first}"]
    texts += [f"{n:,} by {name}" for name, n in others]
    *most, last = texts
    return f"{', '.join(most)} and {last}" if most else last


def _cause(reason: Reason) -> str:  # noqa: C901 - one arm per kind of reason
    """Why the gang waits, but for what is left out on top."""
    count = dict(reason.counts)
    detail = reason.detail
    match reason.kind:
        # What the readers hold back they describe in full.
        case ReasonKind.GATED:
            return detail or "held back by scheduling gates"
        case ReasonKind.MEMBERS_MISSING:
            return detail or _members(count)
        case ReasonKind.WAITS_FOR_GANG:
            return detail or "another gang has to start first"
        case ReasonKind.UNSUPPORTED:
            return detail or "asks for something that cannot be honoured"
        case ReasonKind.INVALID:
            return _with("cannot be planned as written", detail)
        case ReasonKind.NOT_TOLD:
            return _with("its containers would not be told which devices are theirs", detail)
        case ReasonKind.NOT_IN_BATCH:
            return _with("not in this batch", _batch(count) or detail)
        case ReasonKind.NAMESPACE_LIMIT:
            text = "its namespace has used up its share of this batch"
            return _with(text, detail or _limit(count))
        case ReasonKind.QUOTA_EXCEEDED:
            return _quota(count, detail)
        case ReasonKind.NO_MATCHING_NODES:
            return _matching(count, detail)
        case ReasonKind.TOO_LARGE:
            return _with("larger than the fabric allows even when empty", detail or _size(count))
        case ReasonKind.BOUND_ELSEWHERE:
            text = "members that run already stand where no legal location can include them"
            return _with(text, detail)
        case ReasonKind.REFUSED:
            return _with("its binding was refused", detail)
        case ReasonKind.UNANSWERED:
            return _with("there is no answer yet whether it may be bound", detail)
        case ReasonKind.VOLUMES_AWAITED:
            return detail or "volumes of its claims have not been made"
        case ReasonKind.PLACES_KEPT:
            return detail or "places are kept for its members until they have come"
        case ReasonKind.RECORD_UNREADABLE:
            return detail or "a record about it cannot be read by this version of the scheduler"
        case ReasonKind.NO_FREE_CAPACITY:
            return _with(f"short of {detail}" if detail else "not enough is free", _room(count))
        case ReasonKind.NO_ADJACENT_LEAVES:
            return _adjacent(count, detail)
        case ReasonKind.UPLINK_FULL:
            text = "the uplinks of the leaves it would cross are taken"
            return _with(text, detail or _uplink(count))
        case ReasonKind.OUTRANKED:
            return _with("it would fit, but gangs that come before it take the room", detail)
        case ReasonKind.EVICTIONS_FORBIDDEN:
            return _with("pods that would have to go for it may not be evicted now", detail)
        case ReasonKind.NOT_PROVEN:
            return _with("no place was found before the time limit; there may be one", detail)
        case _:
            assert_never(reason.kind)


def _with(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def counted(amount: int, noun: str) -> str:
    """`1 pod`, `2 pods`, with separators of thousands."""
    return f"{amount:,} {noun if amount == 1 else _PLURALS.get(noun, noun + 's')}"


def _room(count: dict[str, int]) -> str:
    """`needs 16 nodes, 12 are free` in the units that the counts know."""
    parts = []
    if "needed" in count:
        parts.append(f"needs {counted(count['needed'], _unit(count))}")
    if "free" in count:
        verb = "is" if count["free"] == 1 else "are"
        parts.append(f"{count['free']:,} {verb} free")
        if count.get("anywhere", count["free"]) != count["free"]:
            parts[-1] += f" in one spine and {count['anywhere']:,} in all"
    elif "total" in count:
        parts.append(f"the fabric has {count['total']:,}")
    return ", ".join(parts)


def _unit(count: dict[str, int]) -> str:
    return "pod" if "pods" in count else "node"


def _size(count: dict[str, int]) -> str:
    """What the gang needs, and the most that leaves, windows and spines hold."""
    if count.get("total", 0) < count.get("needed", 0) or "leaf" not in count:
        return _room(count)
    most = [f"a {name} {count[name]:,}" for name in ("leaf", "window", "spine") if name in count]
    most[0] = f"a leaf holds {count['leaf']:,}"
    needed = f"needs {counted(count['needed'], _unit(count))}, but " if "needed" in count else ""
    return f"{needed}{', '.join(most)} at most"


def _limit(count: dict[str, int]) -> str:
    if "limit" not in count:
        return ""
    text = f"the limit is {count['limit']:,}"
    if "gangs" in count:
        return f"{text} {'gang' if count['limit'] == 1 else 'gangs'}"
    if "members" in count:
        wants = f" and it has {count['needed']:,}" if "needed" in count else ""
        return f"{text} members, {count['members']:,} come before it{wants}"
    return text


def _uplink(count: dict[str, int]) -> str:
    if not {"asked", "free"} <= count.keys():
        return ""
    return f"asks one for {count['asked']:,} Mbit/s, {count['free']:,} are free"


def _members(count: dict[str, int]) -> str:
    if {"present", "needed"} <= count.keys():
        return f"{count['present']:,} of {count['needed']:,} members exist"
    return "members are missing"


def _batch(count: dict[str, int]) -> str:
    if "ahead" not in count:
        return ""
    text = f"{counted(count['ahead'], 'gang')} come before it"
    return text + (f" and a batch takes {count['batch']:,}" if "batch" in count else "")


def _quota(count: dict[str, int], detail: str) -> str:
    if not {"needed", "quota"} <= count.keys():
        return _with("over the quota of its namespace", detail)
    left = max(0, count["quota"] - count.get("used", 0))
    namespace = f" of {detail}" if detail else ""
    return (
        f"needs {counted(count['needed'], 'GPU')}; {left:,} of the quota{namespace} of "
        f"{count['quota']:,} are left"
    )


def _matching(count: dict[str, int], detail: str) -> str:
    laws = {name: n for name, n in count.items() if n and name not in _WHOLE_FABRIC}
    if not laws:
        return _with("no node matches what it asks for", detail)
    refused = ", ".join(f"{counted(n, 'node')} {_law(name)}" for name, n in sorted(laws.items()))
    return _with("too few nodes match what it asks for", f"{refused}; {detail}".rstrip("; "))


def _law(name: str) -> str:
    return f"refused by {name}" if name.startswith("rule ") else _LAWS.get(name, name)


def _adjacent(count: dict[str, int], detail: str) -> str:
    leaves = count.get("leaves", 0)
    if leaves == 1:
        return _with("no leaf has the room", detail or _room(count))
    text = f"no {leaves} adjacent leaves" if leaves else "no adjacent leaves"
    return _with(f"{text} have the room together", detail or _room(count))
