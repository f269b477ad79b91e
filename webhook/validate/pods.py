"""All checks of a pod, in order."""

from __future__ import annotations

from fourleaf.model.readers.gangs.dialects import VOLCANO_GROUP
from fourleaf.webhook.validate.annotations import check_annotations
from fourleaf.webhook.validate.claims import check_claim
from fourleaf.webhook.validate.gangs import check_gang
from fourleaf.webhook.validate.ownership import check_ownership
from fourleaf.webhook.validate.pod_reader import as_read
from fourleaf.webhook.validate.privileges import check_privileges
from fourleaf.webhook.validate.review_subject import PodSubject, is_watched
from fourleaf.webhook.validate.variables import check_variables


def check_pod(subject: PodSubject) -> None:
    """Report to the subject's manifest everything that is wrong with what it changes."""
    check_ownership(subject)
    check_variables(subject)
    check_privileges(subject)
    if _is_to_be_read(subject):
        pod = as_read(subject)
        check_claim(subject, pod)
        check_annotations(subject, pod)
        check_gang(subject, pod)


def _is_to_be_read(subject: PodSubject) -> bool:
    """Whether the pod is new and ours, or says something new to the scheduler."""
    if subject.by_scheduler and not subject.is_new:
        return False
    if subject.is_new and subject.is_ours:
        return True
    return any(is_watched(key) or key == VOLCANO_GROUP for key in subject.changed)
