"""Our scheduler for pods with GPUs that name none, in namespaces that ask for it."""

from __future__ import annotations

from fourleaf.model.readers.objects.manifest import Body
from fourleaf.model.readers.pods.pods import DEFAULT_SCHEDULER
from fourleaf.webhook.answers import Patch
from fourleaf.webhook.containers import asks_for, spec_of
from fourleaf.webhook.settings import Settings


def name_scheduler(pod: Body, before: Body | None, settings: Settings) -> Patch:
    """Set `spec.schedulerName` of a new pod with GPUs that leaves it to the default."""
    spec = spec_of(pod)
    if before is not None or not spec or spec.get("nodeName"):
        return []
    if spec.get("schedulerName") not in (None, "", DEFAULT_SCHEDULER):
        return []
    if not asks_for(pod, settings.spec.gpu_resources):
        return []
    return [{"op": "add", "path": "/spec/schedulerName", "value": settings.scheduler_name}]
