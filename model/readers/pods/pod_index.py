"""The number that a pod carries: in a label, or in its name where no hash put it there."""

from __future__ import annotations

import re
from collections.abc import Mapping

JOB_INDEX = "batch.kubernetes.io/job-completion-index"
POD_INDEX = "apps.kubernetes.io/pod-index"
WORKER_INDEX = "leaderworkerset.sigs.k8s.io/worker-index"

TEMPLATE_HASH = "pod-template-hash"
_JOB_NAMES = ("batch.kubernetes.io/job-name", "job-name")
_REVISION_HASH = "controller-revision-hash"
_SET_POD = "statefulset.kubernetes.io/pod-name"
_RAY_CLUSTER = "ray.io/cluster"

_MOST_DIGITS = 18
_RANDOM = "bcdfghjklmnpqrstvwxz2456789"
"""What the API server makes random names and hashes of: no vowels, and no 0, 1 and 3."""
_SUFFIX = re.compile(rf"-[{_RANDOM}]{{5}}$")
_HASH_AND_SUFFIX = re.compile(rf"-(?=[a-z]*[0-9])[{_RANDOM}]{{8,10}}-[{_RANDOM}]{{5}}$")
_LAST_WORD = re.compile(r"^[a-z]+([0-9]+)$")


def index_of(name: str, labels: Mapping[str, str], annotations: Mapping[str, str]) -> int | None:
    """The number of a pod, None where it has none.

    The index that a controller wrote counts first. Else it is the number that ends the name
    (`web-0`, `worker3`), or the last that stands between separators (`rank-03-x`). A random
    suffix is no number, whatever digits it is made of.
    """
    stated = annotations.get(JOB_INDEX) or labels.get(JOB_INDEX)
    stated = stated or labels.get(WORKER_INDEX) or labels.get(POD_INDEX)
    number = whole_number(stated)
    if number is not None or _is_random(name, labels):
        return number
    words = re.split(r"[^a-z0-9]+", name)
    ends = _LAST_WORD.fullmatch(words[-1])
    if ends is not None:
        return whole_number(ends[1])
    return next((int(one) for one in reversed(words) if whole_number(one) is not None), None)


def whole_number(text: str | None) -> int | None:
    """`text` as a number, None where it is none or has more than 18 digits."""
    if text is not None and text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS:
        return int(text)
    return None


def _is_random(name: str, labels: Mapping[str, str]) -> bool:
    """Whether a controller ended the name with characters drawn by lot."""
    if _HASH_AND_SUFFIX.search(name):
        return True
    drawn = (
        TEMPLATE_HASH in labels
        or any(one in labels for one in _JOB_NAMES)
        or _RAY_CLUSTER in labels
        or (_REVISION_HASH in labels and _SET_POD not in labels)
    )
    return drawn and _SUFFIX.search(name) is not None
