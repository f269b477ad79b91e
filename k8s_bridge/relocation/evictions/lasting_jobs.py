"""Jobs that outlast a relocation: how many of their pods may be evicted before they end.

The API lets a pod go whatever its Job makes of that, so no trial of an eviction tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fourleaf.k8s_bridge.cluster.kinds import JOBS, PODS
from fourleaf.k8s_bridge.relocation.cluster_view import ClusterView
from fourleaf.k8s_bridge.relocation.evictions.drain_marks import ending_jobs
from fourleaf.model.readers.pods.job_failures import failed_so_far, job_limits, job_of, may_end
from fourleaf.model.running_gang import EvictionLimit, PodName


def lasting_jobs(view: ClusterView, members: Iterable[PodName]) -> Iterator[EvictionLimit]:
    """What the Jobs of these pods may lose beside what is lost already, or told to go.

    A Job with a pod on a node that is emptied whatever ends of it has no limit.
    """
    cache, ending = view.cache, ending_jobs(view.cache)
    asked: set[tuple[str, str]] = set()
    jobs, pods = cache.objects.get(JOBS, {}), cache.objects.get(PODS, {})
    for space, name in members:
        seen = cache.named(space, name)
        if seen is None or not seen.controller or (space, seen.controller) in asked:
            continue
        # By namespace: pods of another one may name the same controller.
        asked.add((space, seen.controller))
        owner = space, job_of(pods[space, name])
        job = jobs.get(owner)
        if job is None or job["metadata"].get("uid") != seen.controller:
            continue
        made = list(cache.made_by(space, seen.controller))
        if not may_end(job, len(made)):
            continue
        bound = [one for one in made if one.node]
        if any(one.node in ending and not one.finished for one in bound):
            continue
        lost = {one.pod.uid for one in bound if one.node in view.dead or one.pod.uid in view.told}
        bodies = {(one.pod.namespace, one.pod.name): one for one in made}
        failed = failed_so_far(job, (pods[at] for at in bodies if at in pods), lost)
        living = {
            at: pods[at]
            for at, one in bodies.items()
            if at in pods and view.stands(one.pod.uid, one.node) and one.pod.uid not in lost
        }
        yield from job_limits(owner, job, living, failed)
