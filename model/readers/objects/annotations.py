"""The `topology.scheduler/*` annotations: what a gang wishes of the fabric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TypeVar

from fourleaf.model.gang import TopologyPolicy
from fourleaf.model.quantity import BadQuantity, mbits, seconds
from fourleaf.model.readers.objects.manifest import Manifest
from fourleaf.model.running_gang import RepairPolicy

PREFIX = "topology.scheduler/"
GPU_COUNT = PREFIX + "gpu-count"
PREFERRED_DOMAIN = PREFIX + "preferred-domain"
BANDWIDTH = PREFIX + "network-bandwidth"
LATENCY = PREFIX + "latency-sensitive"
STRATEGY = PREFIX + "placement-strategy"
POLICY = PREFIX + "topology-policy"
GANG = PREFIX + "gang"
GANG_SIZE = PREFIX + "gang-size"
MOVABLE = PREFIX + "movable"
MOVE_COST = PREFIX + "move-cost"
REPAIR_POLICY = PREFIX + "repair-policy"
DURATION = PREFIX + "expected-duration"
NODE_FEATURES = PREFIX + "node-features"
DRAIN = PREFIX + "drain"
"""Of a node that is to be emptied; `true`."""
FEATURES = ("cufile", "gpudirect", "infiniband")
"""What a pod may ask of nodes: storage to GPUs, adapters to GPUs, a port of InfiniBand."""
MOST_UNKNOWN = 16
"""After so many unknown annotations, the rest of a pod's is not looked at."""

MOST_COMPARED = 2
"""Unknown annotations of one pod for which a similar one is looked for."""

MOST_COMPARED_CHARACTERS = 100
KNOWN = frozenset(
    {
        GPU_COUNT,
        PREFERRED_DOMAIN,
        BANDWIDTH,
        LATENCY,
        STRATEGY,
        POLICY,
        GANG,
        GANG_SIZE,
        MOVABLE,
        MOVE_COST,
        REPAIR_POLICY,
        DURATION,
        NODE_FEATURES,
    }
)

MAX_COUNT = 1_000_000

N = TypeVar("N", int, float)

Layer = tuple[Manifest, Mapping[str, str]]
"""An object and its annotations; a pod's own layer stands before those of its owners."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the annotations ask for; `gpu_count` is the total of the gang (or per pod).

    `movable`, `move_cost` and `repair` say on which terms running pods may go elsewhere;
    `repair` and `policy` are None where the config decides. `strategy` is a name, whether or not
    the config has it, "" where none is stated. `duration` is in seconds. `features` are those
    of `FEATURES` that each node of the pod must have.
    """

    gpu_count: int | None = None
    preferred_domain: str | None = None
    bandwidth: int | None = None
    latency_sensitive: bool = False
    strategy: str = ""
    policy: TopologyPolicy | None = None
    gang_size: int | None = None
    movable: bool = False
    move_cost: int = 1
    repair: RepairPolicy | None = None
    duration: float | None = None
    features: tuple[str, ...] = ()


NO_WISHES = Wishes()


def stated(layers: Sequence[Layer], key: str) -> tuple[Manifest, str] | None:
    """The nearest object that states the annotation `key`, and its value."""
    for manifest, of_it in layers:
        value = of_it.get(key)
        if value is not None:
            return manifest, value
    return None


def field_of(key: str) -> str:
    """The field path of annotation `key`."""
    return f"metadata.annotations[{key}]"


def read_wishes(layers: Sequence[Layer]) -> Wishes:
    """Decode the annotations of one pod and its owners, and refuse unknown names."""
    present, unknown = False, 0
    for manifest, of_it in layers:
        for key in of_it:
            if key.startswith(PREFIX):
                present = True
                if key not in KNOWN:
                    _refuse_unknown(manifest, key, of_it[key], unknown < MOST_COMPARED)
                    unknown += 1
                    if unknown == MOST_UNKNOWN:
                        return NO_WISHES
    if not present:
        return NO_WISHES
    domain = stated(layers, PREFERRED_DOMAIN)
    if domain is not None and not domain[1]:
        domain[0].error(
            field_of(PREFERRED_DOMAIN), "", "is empty", "Name a leaf or a spine, or leave it out."
        )
    strategy = stated(layers, STRATEGY)
    policy = _choice(layers, POLICY, tuple(map(str, TopologyPolicy)))
    repair = _choice(layers, REPAIR_POLICY, tuple(map(str, RepairPolicy)))
    return Wishes(
        gpu_count=_whole(layers, GPU_COUNT),
        preferred_domain=domain[1] or None if domain else None,
        bandwidth=_measured(layers, BANDWIDTH, mbits),
        latency_sensitive=_choice(layers, LATENCY, ("true", "false")) == "true",
        strategy=strategy[1] if strategy else "",
        policy=TopologyPolicy(policy) if policy else None,
        gang_size=_whole(layers, GANG_SIZE),
        movable=_choice(layers, MOVABLE, ("true", "false")) == "true",
        move_cost=_whole(layers, MOVE_COST) or 1,
        repair=RepairPolicy(repair) if repair else None,
        duration=_measured(layers, DURATION, seconds),
        features=_features(layers),
    )


def stated_strategy(layers: Sequence[Layer], known: Iterable[str]) -> str | None:
    """The strategy that the annotations name, None (and an error) where it is not known."""
    return _choice(layers, STRATEGY, tuple(known))


def _refuse_unknown(manifest: Manifest, key: str, value: str, compare: bool) -> None:
    meant = _meant(key[:MOST_COMPARED_CHARACTERS]) if compare else ""
    advice = f"Did you mean {meant}?" if meant else f"Known are: {', '.join(sorted(KNOWN))}."
    manifest.error(field_of(key), value, "is no known annotation", advice)


@lru_cache(1024)
def _meant(key: str) -> str:
    """The known annotation that a name is closest to, "" where it is close to none.

    Compared without the prefix, which all share and which costs most of the time.
    """
    known = {one.removeprefix(PREFIX): one for one in sorted(KNOWN)}
    close = get_close_matches(key.removeprefix(PREFIX), known, 1, 0.6)
    return known[close[0]] if close else ""


def _choice(layers: Sequence[Layer], key: str, allowed: Sequence[str]) -> str | None:
    found = stated(layers, key)
    return found[0].choice(found[1], field_of(key), allowed) if found else None


def whole_number(manifest: Manifest, text: str, field: str) -> int | None:
    """A count from 1 up that stands in a text, None (and an error) where it is none."""
    if not (text.isascii() and text.isdigit()):
        manifest.error(field, text, "is not a whole number", 'Write a whole number, like "8".')
        return None
    digits = text.lstrip("0")
    if not digits:
        manifest.error(field, text, "is zero", "Give a number from 1 up, or leave it out.")
        return None
    if len(digits) > 7 or int(digits) > MAX_COUNT:
        manifest.error(field, text, f"is above {MAX_COUNT}", "Give a smaller number.")
        return None
    return int(digits)


def _features(layers: Sequence[Layer]) -> tuple[str, ...]:
    """The features that the annotations name, each once; an error where one is none."""
    found = stated(layers, NODE_FEATURES)
    if found is None:
        return ()
    manifest, value = found
    asked = {one.strip() for one in value.split(",")}
    if asked <= {*FEATURES}:
        return tuple(sorted(asked))
    advice = f"Name some of {', '.join(FEATURES)}, with commas between them."
    manifest.error(field_of(NODE_FEATURES), value, "names what is no feature of a node", advice)
    return ()


def _whole(layers: Sequence[Layer], key: str) -> int | None:
    found = stated(layers, key)
    return whole_number(found[0], found[1], field_of(key)) if found else None


def _measured(layers: Sequence[Layer], key: str, read: Callable[[str], N]) -> N | None:
    found = stated(layers, key)
    if found is None:
        return None
    try:
        return read(found[1])
    except BadQuantity as bad:
        found[0].error(field_of(key), found[1], str(bad), bad.advice)
        return None
