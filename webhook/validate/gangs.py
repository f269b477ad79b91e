"""Whether a pod's words about its gang hold together, its size and name among them.

Whether all members agree is seen by the scheduler alone, which holds such a gang.
"""

from __future__ import annotations

import re

from fourleaf.model.gang import MOST_MEMBERS
from fourleaf.model.readers.gangs.dialects import KUEUE_TOTAL, VOLCANO_GROUP, Dialect, membership
from fourleaf.model.readers.gangs.minimum_size import MinimumSizes
from fourleaf.model.readers.objects.annotations import GANG, GANG_SIZE, field_of
from fourleaf.model.readers.objects.inventory import Inventory
from fourleaf.model.readers.objects.priority_classes import Priorities
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.webhook.validate.review_subject import PodSubject

_STATED: dict[str, str] = {Dialect.OURS: GANG_SIZE, Dialect.KUEUE: KUEUE_TOTAL}
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,251}[A-Za-z0-9])?", re.ASCII)


def check_gang(subject: PodSubject, pod: Pod) -> None:
    """Refuse a size without a gang, a gang without a size, and names that no record could hold."""
    for key in (GANG, VOLCANO_GROUP):
        name = subject.annotations.get(key)
        if name is not None and not _NAME.fullmatch(name):
            subject.manifest.error(
                field_of(key),
                name,
                "is no name of a gang",
                "Use 1 to 253 letters, digits, -, _ and ., with a letter or digit at both ends.",
            )
    dialect, _ = membership(pod)
    if dialect is Dialect.SINGLE and GANG_SIZE in subject.annotations and not subject.has_owner:
        subject.manifest.error(
            field_of(GANG_SIZE),
            subject.annotations[GANG_SIZE],
            "is the size of a gang that has no name",
            f"Name the gang by {GANG}, or leave its size out.",
        )
    size = subject.annotations.get(GANG_SIZE, "")
    if size.isdecimal() and int(size[:18]) > MOST_MEMBERS:
        subject.manifest.error(
            field_of(GANG_SIZE),
            size,
            f"is above the {MOST_MEMBERS:,} members that one gang may have",
            "Split it into several gangs.",
        )
    stated = _STATED.get(dialect)
    if stated is not None and (stated in subject.annotations or not subject.has_owner):
        inventory = Inventory(Report())
        MinimumSizes(inventory, Priorities(inventory)).of(dialect, subject.namespace, "", [pod])
