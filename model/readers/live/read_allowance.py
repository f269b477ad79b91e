"""Read allowance: how many pods of one namespace may be read again, and what is put off until then.

One write of an owner, a claim, a PodGroup or a member may have thousands of pods read again, all of
it on the event loop, and a tenant may write twenty times a second. What is beyond the allowance is
read later, as if the watch had told it later. What decides which room is free never is, nor are
the gangs of a few pods that it concerns, and these are not charged. So it is with nodes, of
which one inventory or one device map has all taken into a new fabric.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fourleaf.model.readers.objects.annotations import PREFIX
from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.pods.device_map import DEVICE_MAP

READS_A_SECOND = 1_000.0
"""Pods that may be read again on behalf of one namespace: some tenth of a second of CPU time.

Nodes that may be on behalf of one agent, and of all device maps."""
MOST_READS = 10_000.0
"""Pods that may be read again at once by who has had none read for a while."""

CLAIMS_A_POD = 4
"""So many claims of devices or volumes that a pod names cost what a pod costs."""

USUAL_VALUES = 300
"""Values in the spec of a pod of three containers: more than that costs more."""
VALUES_A_POD = 100
"""So many more cost what a pod costs: those of 15 containers, or of 20 conditions on nodes.

So do so many annotations of owners, all of which are gone through for each of their pods."""
CHARACTERS_A_POD = 500
"""So many characters of annotations cost what a pod costs: a device map has a line in each 15.

Of those that are read: what other annotations say is handed on as it is. A map counts each time, as
few of them are kept once they are read."""
KEPT_SPECS_A_READ = 16
"""So many specs that are as they were cost what one costs to read: they are compared alone."""
MOST_VALUES_COUNTED = 5_000
"""Values beyond which none are counted: to count them costs as well."""
MOST_VALUES = 15_000
"""What there is counts as, where these are not enough: a pod may be bound with as many."""


def cost_of_spec(body: Body) -> int:
    """How many pods it counts for to read this one, by how much its spec has to say."""
    count = 0
    for _ in _values(body.get("spec")):
        count += 1
        if count == MOST_VALUES_COUNTED:
            count = MOST_VALUES
            break
    return 1 + max(0, count - USUAL_VALUES) // VALUES_A_POD


def cost_of_annotations(body: Body) -> int:
    """How many more pods it counts for because of the annotations of it that are read."""
    said = body["metadata"].get("annotations")
    named = said.items() if isinstance(said, dict) else ()
    texts = (text for name, text in named if name == DEVICE_MAP or name.startswith(PREFIX))
    return sum(len(text) for text in texts if isinstance(text, str)) // CHARACTERS_A_POD


def _values(some: Any) -> Iterator[Any]:
    """All values in it, each list and mapping as one as well."""
    left = [some]
    while left:
        value = left.pop()
        yield value
        if isinstance(value, dict):
            left.extend(value.values())
        elif isinstance(value, list):
            left.extend(value)


class ReadAllowance:
    """What is left to each namespace, in pods. Who has anything left may overdraw it."""

    def __init__(self) -> None:
        self._left: dict[str, float] = {}
        self._at = 0.0

    def settle(self, now: float) -> None:
        """It is `now`, in seconds since the epoch: more may be read again."""
        more = max(0.0, now - self._at) * READS_A_SECOND
        self._at = now
        left = ((name, value + more) for name, value in self._left.items())
        self._left = {name: value for name, value in left if value < MOST_READS}

    def has(self, namespace: str) -> bool:
        """Whether pods of a namespace may be read again now."""
        return self._left.get(namespace, MOST_READS) > 0.0

    def charge(self, namespace: str, pods: int) -> None:
        """So many of them were."""
        if pods:
            self._left[namespace] = self._left.get(namespace, MOST_READS) - pods
