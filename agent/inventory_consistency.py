"""What an inventory says against itself, and as much of it as can be published."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from fourleaf.agent.readings import Fault, Reading
from fourleaf.k8s_bridge.runtime.api_text import clipped
from fourleaf.model.crds.node_status import Link

MOST_LINKS = 10_000
"""Links that are published: etcd takes objects of 1.5 MiB, and all links of 128 devices fit."""

MOST_PROCESSES = 4096


@dataclass(frozen=True, slots=True)
class Examined:
    """A reading that the schema of the kind takes, and what was wrong with it."""

    reading: Reading
    faults: tuple[Fault, ...] = ()


def examined(reading: Reading) -> Examined:
    """`reading` without what cannot be published, and all faults, the reader's own first.

    What contradicts itself but can be published is left as it is, for people to see.
    """
    faults = [reading.fault] if reading.fault else []
    if not reading.gpus and reading.expected and not faults:
        advice = "check the driver, or keep the agent off this node"
        faults.append(Fault("NoDevices", f"{reading.source} lists no device; {advice}"))
    faults += _twins(reading)
    gpus = tuple({gpu.index: gpu for gpu in reversed(reading.gpus)}.values())[::-1]
    known = {gpu.index for gpu in gpus}
    links, wrong = _links(reading.links, known)
    faults += wrong
    processes = [one for one in reading.processes if one.gpu in known][:MOST_PROCESSES]
    kept = replace(reading, gpus=gpus, links=links, processes=tuple(processes))
    return Examined(kept, tuple(faults))


def _twins(reading: Reading) -> Iterable[Fault]:
    for reason, what, values in (
        ("DuplicateUUID", "UUID", [gpu.uuid for gpu in reading.gpus]),
        ("DuplicateIndex", "index", [str(gpu.index) for gpu in reading.gpus]),
    ):
        twice = [value for value, count in Counter(values).items() if count > 1]
        if twice:
            message = f"two devices have the {what} {twice[0]}; each needs one of its own"
            yield Fault(reason, clipped(message))


def _links(links: Iterable[Link], known: set[int]) -> tuple[tuple[Link, ...], list[Fault]]:
    faults: list[Fault] = []
    kept: list[Link] = []
    ordered = sorted(map(_upward, links), key=lambda link: (link.a, link.b, link.bandwidth_gbps))
    for (a, b), group in groupby(ordered, key=lambda link: (link.a, link.b)):
        told = list(group)
        if a == b:
            faults.append(Fault("SelfLink", f"device {a} has a link to itself; leave it out"))
            continue
        if missing := {a, b} - known:
            message = f"a link names device {min(missing)}, which is not listed; list it"
            faults.append(Fault("UnknownDevice", message))
            continue
        if len({(link.kind, link.bandwidth_gbps) for link in told}) > 1:
            speeds = " and ".join(f"{link.bandwidth_gbps:g}" for link in told[:2])
            message = f"the link of devices {a} and {b} has {speeds} GB/s; both ends have to agree"
            faults.append(Fault("AsymmetricLinks", message))
        kept.append(told[0])
    if len(kept) > MOST_LINKS:
        message = f"{len(kept)} links are more than the {MOST_LINKS} that can be published"
        faults.append(Fault("TooManyLinks", f"{message}; none is"))
        kept = []
    return tuple(kept), faults[:8]


def _upward(link: Link) -> Link:
    return link if link.a <= link.b else link.model_copy(update={"a": link.b, "b": link.a})
