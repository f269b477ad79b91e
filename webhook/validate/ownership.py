"""What stands under `alloc.gpu.scheduling/` is the scheduler's alone to write and to remove."""

from __future__ import annotations

from fourleaf.model.devices.held_devices import PREFIX
from fourleaf.webhook.validate.review_subject import PodSubject


def check_ownership(subject: PodSubject) -> None:
    """Refuse every annotation and label of the scheduler that another account changes."""
    if subject.by_scheduler:
        return
    for kind in ("annotations", "labels"):
        for key, value in sorted(subject.changes(kind).items()):
            if key.startswith(PREFIX):
                subject.manifest.error(
                    f"metadata.{kind}[{key}]",
                    value,
                    "is removed" if value is None else "is not for users to set",
                    f"Leave everything under {PREFIX} as it is; only the scheduler writes it.",
                )
