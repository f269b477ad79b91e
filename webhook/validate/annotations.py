"""What the scheduler reads from a pod's annotations has to make sense to it."""

from __future__ import annotations

from fourleaf.model.readers.gangs.dialects import Dialect, membership
from fourleaf.model.readers.gangs.holds import share_gpus
from fourleaf.model.readers.objects.annotations import field_of, stated_strategy
from fourleaf.model.readers.pods.device_map import DEVICE_MAP, apply_map, read_map
from fourleaf.model.readers.pods.pods import Pod
from fourleaf.webhook.validate.review_subject import PodSubject

MOST_LINES = 4096
"""Lines of a device map; with each more the answer to all others comes later."""


def check_annotations(subject: PodSubject, pod: Pod) -> None:
    """Read wishes, device map and number of GPUs as the scheduler does."""
    _ = pod.wishes
    stated_strategy(pod.layers, subject.settings.spec.strategies)
    text = subject.annotations.get(DEVICE_MAP)
    if text is not None and len(text.splitlines()) > MOST_LINES:
        subject.manifest.error(
            field_of(DEVICE_MAP),
            None,
            f"has more than {MOST_LINES} lines",
            "Give each pod, or each owner of pods, a map of its own pods.",
        )
    elif text is not None:
        if not subject.is_named or pod.index is None:
            # What decides on the index is made after this.
            read_map(subject.manifest, text)
        else:
            apply_map(pod, subject.settings.spec.devices)
    alone = membership(pod)[0] is Dialect.SINGLE
    if alone and not subject.has_owner and not subject.manifest.broken:
        share_gpus([pod], 1, subject.settings.spec.devices)
