"""Why a relocation may have served no gang: what no scheduler decides, if a history shows it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tests.history import pods
from tests.history.audit import Request
from tests.history.cases import Case, Cases
from tests.history.history import History

Body = dict[str, Any]

CONFIG = "topology-scheduler-config"
"""The ConfigMap of the config."""
CHANGES = ("update", "patch", "delete", "deletecollection")
REFUSED = (400, 403, 405, 413, 415, 422)
"""Answers that come again where the same is asked again."""
BUDGET = "DisruptionBudget"
"""What the API names where it refuses an eviction for a disruption budget, with 429."""
PLACES_LIMIT = 900.0
"""Seconds for which places are kept while a Job is to make pods (`repair.placesLimitSeconds`)."""
USUAL_GRACE = 30.0
"""Seconds that a pod has to end where it does not say."""
OVERDUE = 120.0
"""Seconds after that for which a pod that is to end is waited for."""


def excuses(case: Case, cases: Cases, history: History) -> Iterator[str]:
    """What came between, after the relocation was written and while it could still be kept.

    Crashes, old lists, lost answers and slow requests are none: to survive them is promised.
    """
    yield from case.between
    for request in history.requests:
        if case.opened <= request.answered and request.received <= case.ends and request.ok:
            yield from _changed(request, case, cases, history)
    yield from _refusals(case, cases, history)
    yield from _overtaken(case, cases, history)
    yield from _slow(case, cases)


def _changed(request: Request, case: Case, cases: Cases, history: History) -> Iterator[str]:
    """What others changed besides pods, nodes and budgets: the config, the gang's owner."""
    if request.user in history.users or request.dry_run or request.subresource:
        return
    space, _, gang = case.one.gang.partition("/")
    if request.resource == "configmaps" and request.name == CONFIG:
        if request.verb in ("create", *CHANGES):
            yield f"config: {request.what}"
    elif request.verb not in CHANGES or request.resource in ("pods", "nodes"):
        return
    elif (request.resource, request.name) == ("namespaces", space) or (
        request.namespace == space and request.name in {gang, *_owners(case, cases)}
    ):
        yield f"owner: {request.what}"


def _owners(case: Case, cases: Cases) -> Iterator[str]:
    """The names of what has made the pods of the gang."""
    for pod in filter(case.has, cases.known.values()):
        if owner := pods.controller(pod):
            yield str(owner["name"])


def _refusals(case: Case, cases: Cases, history: History) -> Iterator[str]:
    """Bindings of the gang and evictions for it that the API refused, and had not before.

    A dry run tells as well: from then on it is known.
    """
    members = {pods.named(pod) for pod in cases.known.values() if case.has(pod)}
    leavers = {leaver.uid for leaver in case.one.leavers}
    told: set[tuple[str, str]] = set()
    for request in history.our_requests:
        named = f"{request.namespace}/{request.name}"
        binding = request.subresource == "binding" and named in members
        if not _is_refusal(request) or not (binding or request.evicts in leavers):
            continue
        known = (request.subresource, named) in told
        told.add((request.subresource, named))
        while_open = case.opened <= request.answered and request.received <= case.ends
        if while_open and not known and not request.dry_run:
            yield f"refused with {request.code}: {request.what}"


def _is_refusal(request: Request) -> bool:
    if request.code == 429 and request.evicts:
        return BUDGET in json.dumps(request.got)
    return request.code in REFUSED


def _overtaken(case: Case, cases: Cases, history: History) -> Iterator[str]:
    """Commits of other gangs onto its seats that were under way when it was written.

    They had been prepared by then, or bindings of theirs had been tried out.
    """
    for commit, (uids, prepared) in case.overtaking.items():
        named = {pods.named(cases.known[uid]) for uid in uids if uid in cases.known}
        tried = any(
            request.dry_run and request.subresource == "binding" and request.received < case.opened
            for request in history.our_requests
            if f"{request.namespace}/{request.name}" in named
        )
        if prepared or tried:
            yield f"commit {commit} of another gang was under way"


def _slow(case: Case, cases: Cases) -> Iterator[str]:
    """Pods that had not gone when the relocation had, after more time than they get."""
    members = [cases.known[seat.uid] for seat in case.one.seats if seat.uid in cases.known]
    by_job = any(pods.controller(pod).get("kind") == "Job" for pod in members)
    until = case.opened + PLACES_LIMIT if by_job else case.one.until
    for uid, pod in case.ending.items():
        grace = float(pod["metadata"].get("deletionGracePeriodSeconds") or USUAL_GRACE)
        if case.closed >= min(until, case.evicted[uid] + grace + OVERDUE):
            yield f"{pods.named(pod)} takes longer to end than its place is kept"
