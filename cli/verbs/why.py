"""`fourleaf why`: where a gang runs, or why it waits and what would let it start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli import options
from fourleaf.cli.answers import Failing, RunningMember, WhyAnswer
from fourleaf.cli.cluster.failed_creates import why_no_pods
from fourleaf.cli.cluster.not_preempting import why_none_yields
from fourleaf.cli.cluster.not_repaired import is_in_part, members_told_of, why_it_stays
from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.cluster.silent_nodes import most_away
from fourleaf.cli.cluster.trouble_since import trouble_since
from fourleaf.cli.input.files import moment
from fourleaf.cli.input.gang_names import find_gang
from fourleaf.cli.input.not_a_gang import nothing_heard
from fourleaf.cli.input.plan_input import Input
from fourleaf.cli.logs import log_to_stderr
from fourleaf.cli.options import (
    Context,
    Gang,
    GangNamespace,
    Interval,
    Kubeconfig,
    Live,
    Now,
    OutputFormat,
    PlanFiles,
    SchedulerNamespace,
    Watch,
)
from fourleaf.cli.output.console import EXIT_OK, EXIT_PENDING, glyphs, print_problems
from fourleaf.cli.output.documents import Document, for_people, tell
from fourleaf.cli.output.progress import Progress
from fourleaf.cli.output.watch import WatchedAnswer, need_anew, present

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import Live as Observed
    from fourleaf.model.gang import GangKey
    from fourleaf.model.plan import Plan
    from fourleaf.model.readers import InputReading
    from fourleaf.model.reasons.pod_condition import ConditionReason
    from fourleaf.model.snapshot import RunningPod, Snapshot
    from fourleaf.solver.process.client import SolverClient


Seen = tuple[WhyAnswer, "Snapshot"]
NONE_SILENT: Mapping[str, float] = {}
MAKERS_ASKED_LIMIT = 4
"""Of how many makers of a gang's pods events are read: each is one list of the namespace's."""
SILENT = "its node sends no heartbeats"
"""What is said of a node that the API still has for ready."""


def why(
    gang: Gang,
    files: PlanFiles = None,
    live: Live = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    namespace: GangNamespace = None,
    output: options.Answer = OutputFormat.TABLE,
    watch: Watch = False,
    interval: Interval = 5.0,
    now: Now = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Plan what is observed now, whatever was said.")
    ] = False,
) -> None:
    """Tell where a gang runs, or why it waits and what would let it start.

    Why it waits is what the scheduler that leads has written into the conditions of its pods.
    Where nothing is written, and for JSON and YAML, which have the data behind the reason, what is
    observed is planned, which changes nothing; what keeps a gang from being bound is always quoted.
    Of a gang that runs it says which nodes are not ready or do not answer, and why the scheduler
    has not repaired it.

    Exit code: 0 it is placed or would be now, 2 there is no such gang, 3 it has to wait, or cannot
    be repaired.
    """
    need_anew(files, watch)
    at = moment(now)
    may_quote = not (plan or files or at is not None)
    quotes = may_quote and for_people(output)
    with ExitStack() as stack:
        client = cache(partial(_client, stack))
        if not quotes:
            client()
        given = Input(
            ClusterAccess(kubeconfig, context, scheduler_namespace),
            files or (),
            live,
            at,
            cached=True,
        )

        def look() -> Seen:
            gathered = given.gather()
            reading = gathered.reading()
            live = gathered.live is not None
            heard = partial(why_no_pods, given.reach) if live else nothing_heard
            key = find_gang(reading, gang, namespace, given.where, heard, gathered.idle)
            wrong = (one for one in reading.problems if one.is_error and str(key) in one.object)
            print_problems(wrong)
            snapshot = reading.snapshot
            told = said_of(reading, key) if may_quote and gathered.led else None
            told = told if quotes else unplanned(told)
            if told is not None or key not in snapshot.gangs_by_key:
                answer = replace(explained(reading, key, None, gathered.silent), told=told)
            else:
                plan = _planned(client(), snapshot)
                answer = explained(reading, key, plan, gathered.silent)
            lost = any(one.trouble and not one.ends for one in answer.standing)
            if gathered.live is not None and (lost or is_in_part(answer)):
                led = lost and gathered.led
                failing = failing_of(reading, key, gathered.silent) if led else None
                stays = _stays(given.reach, gathered.live, reading, answer)
                answer = replace(answer, stays=stays, failing=failing)
            answer = replace(answer, not_created=why_not_created(reading, answer, heard))
            if gathered.live is not None and gathered.led:
                yields = partial(_not_yielding, given.reach, gathered.live)
                answer = replace(answer, not_yielding=why_none_yields_to(reading, answer, yields))
            return replace(answer, leaderless=gathered.leaderless), snapshot

        view = WatchedAnswer(look, lambda seen: _tell(*seen, output), _code, lambda seen: seen[0])
        present(view, output, watch, interval)


def _client(stack: ExitStack) -> SolverClient:
    from fourleaf.cli.cluster.solver_process import solver

    client = stack.enter_context(solver())
    log_to_stderr()
    return client


def said_of(reading: InputReading, key: GangKey) -> ConditionReason | None:
    """What the scheduler says of a gang that waits, where its pods all say the same in its words.

    None where nothing waits of it, and where the reading itself knows better: it is held back.
    """
    from fourleaf.model.reasons.pod_condition import said

    gang = reading.snapshot.gangs_by_key.get(key)
    if gang is None or gang.hold is not None:
        return None
    pods = ((key.namespace, name) for role in gang.roles for name in role.pods)
    words = {said([reading.pods[pod]]) if pod in reading.pods else None for pod in pods}
    first, *others = words
    return None if others or first is None or first.kind is None else first


def unplanned(told: ConditionReason | None) -> ConditionReason | None:
    """What was told where no plan would know of it; documents have the rest from a plan."""
    from fourleaf.model.reasons.kinds import OF_BINDING

    return told if told is not None and told.kind in OF_BINDING else None


def _code(seen: Seen) -> int:
    answer = seen[0]
    idle = answer.placement is not None and answer.leaderless
    waits = answer.waiting or answer.told or answer.stays
    return EXIT_PENDING if waits or idle else EXIT_OK


def why_not_created(
    reading: InputReading, answer: WhyAnswer, heard: Callable[[str, str], str]
) -> str:
    """What keeps its missing pods from being created, as what made the others has said."""
    from fourleaf.model.reasons.kinds import ReasonKind

    gang = answer.gang
    if gang is None or gang.hold is None or gang.hold.kind is not ReasonKind.MEMBERS_MISSING:
        return ""
    space = gang.key.namespace
    names = (pod for role in gang.roles for pod in role.pods)
    bodies = (reading.pods.get((space, name), {}).get("metadata", {}) for name in names)
    makers = dict.fromkeys(
        one["uid"]
        for body in bodies
        for one in body.get("ownerReferences") or ()
        if one.get("controller") and one.get("uid")
    )
    said = (heard(space, uid) for uid in islice(makers, MAKERS_ASKED_LIMIT))
    return next(filter(None, said), "")


def why_none_yields_to(
    reading: InputReading, answer: WhyAnswer, heard: Callable[[str, Collection[str]], str]
) -> str:
    """Why lower gangs do not make way for a gang that waits for room, as the scheduler has said."""
    from fourleaf.model.reasons.kinds import OF_ROOM

    kind = answer.told.kind if answer.told else answer.waiting and answer.waiting.reason.kind
    if answer.gang is None or kind not in OF_ROOM:
        return ""
    space = answer.key.namespace
    names = (pod for role in answer.gang.roles for pod in role.pods)
    bodies = (reading.pods.get((space, name), {}).get("metadata", {}) for name in names)
    return heard(space, {one["uid"] for one in bodies if one.get("uid")})


def _not_yielding(
    reach: ClusterAccess, live: Observed, namespace: str, uids: Collection[str]
) -> str:
    return reach.ask(lambda cluster: why_none_yields(cluster, namespace, uids, live.now))


def _stays(
    reach: ClusterAccess, live: Observed, reading: InputReading, answer: WhyAnswer
) -> ConditionReason | None:
    from fourleaf.model.problems import Problem

    nodes = {one.node for one in answer.standing if one.trouble and not one.ends}
    since = trouble_since(live.objects, nodes, live.silent, live.now)
    if since is None and not is_in_part(answer):
        return None
    namespace, uids = answer.key.namespace, members_told_of(reading, answer)
    begun = -inf if since is None else since
    found = reach.ask(lambda cluster: why_it_stays(cluster, reach, namespace, uids, begun))
    if isinstance(found, Problem):
        print_problems([found])
        return None
    return found


def _planned(client: SolverClient, snapshot: Snapshot) -> Plan:
    """The plan of now."""
    with Progress("planning what is observed") as progress:
        client.wait_until_ready()
        return client.plan(snapshot, on_stage=progress.stage)


def failing_of(reading: InputReading, key: GangKey, silent: Mapping[str, float]) -> Failing:
    """What the scheduler makes of a silent node, and of a gang there, by the config in force."""
    from fourleaf.model.running_gang import RepairPolicy

    spec = reading.snapshot.config.spec
    policies = (one.policy for one in reading.standing((), True) if one.gang.key == key)
    return Failing(
        spec.failures.silent_seconds,
        next(policies, RepairPolicy.WAIT) if spec.repair.enabled else None,
        most_away(reading.snapshot.fabric, silent),
    )


def _is_away(reading: InputReading, pod: RunningPod, silent: Mapping[str, float]) -> bool:
    """Whether the node of a pod is silent, not ready or gone."""
    fabric = reading.snapshot.fabric
    node = fabric.nodes.get(pod.node)
    if node is None:
        return pod.node not in fabric.refused
    return not node.ready or pod.node in silent


def trouble_of(reading: InputReading, pod: RunningPod, silent: Mapping[str, float]) -> str:
    """Why a pod may not run where it stands, or not for long; "" where nothing is known."""
    fabric = reading.snapshot.fabric
    node = fabric.nodes.get(pod.node)
    said = []
    if node is None:
        said += [] if pod.node in fabric.refused else ["its node is gone"]
    elif not node.ready:
        said.append("its node is not ready")
    elif node.cordoned:
        said.append("its node is cordoned")
    if _silence(reading, pod, silent) is not None:
        said.append(SILENT)
    if _ends(reading, pod):
        said.append("it is ending")
    return " and ".join(said)


def _ends(reading: InputReading, pod: RunningPod) -> bool:
    metadata = reading.pods.get((pod.namespace, pod.name), {}).get("metadata", {})
    return metadata.get("deletionTimestamp") is not None


def _silence(reading: InputReading, pod: RunningPod, silent: Mapping[str, float]) -> float | None:
    """Seconds of silence of a node that the API still has for ready; None where it is heard."""
    node = reading.snapshot.fabric.nodes.get(pod.node)
    return silent.get(pod.node) if node is not None and node.ready else None


def explained(
    reading: InputReading,
    key: GangKey,
    plan: Plan | None,
    silent: Mapping[str, float] = NONE_SILENT,
) -> WhyAnswer:
    """Put together where members of a gang run and what `plan` says of the others.

    `silent`: nodes whose kubelets are silent, with the seconds.
    """
    snapshot = reading.snapshot
    running = [pod for pod in snapshot.running if pod.gang == key and pod.ours]
    fabric = snapshot.fabric
    standing = tuple(
        RunningMember(
            pod.name,
            pod.node,
            fabric.leaves[fabric.leaf_of[pod.node]].name if pod.node in fabric.leaf_of else "",
            pod.devices,
            trouble_of(reading, pod, silent),
            _silence(reading, pod, silent),
            _is_away(reading, pod, silent),
            _ends(reading, pod),
        )
        for pod in running
    )
    gang = next((one for one in snapshot.gangs if one.key == key), None)
    placements = plan.placements if plan else ()
    waits = plan.waiting if plan else ()
    return WhyAnswer(
        key,
        standing,
        gang,
        next((one for one in placements if one.gang == key), None),
        next((one for one in waits if one.gang == key), None),
        plan.status if plan else None,
        plan.gap if plan else None,
    )


def _tell(answer: WhyAnswer, snapshot: Snapshot, output: OutputFormat) -> None:
    from fourleaf.cli.render.why import why_lines

    tell(
        lambda: document_of(answer),
        lambda: why_lines(answer, snapshot, snapshot.now, glyphs()),
        output,
    )


def document_of(answer: WhyAnswer) -> Document:
    """The answer as a document; `state` is Placed, PlacedNow or Waiting."""
    from fourleaf.model.config.spec import API_VERSION
    from fourleaf.model.documents.plan import told_document, waiting_document

    state = (
        "Waiting"
        if answer.waiting or answer.told
        else "PlacedNow"
        if answer.placement
        else "Placed"
    )
    document: Document = {
        "apiVersion": API_VERSION,
        "kind": "GangStatus",
        "namespace": answer.key.namespace,
        "name": answer.key.name,
        "state": state,
        "pods": [
            {
                "name": one.pod,
                "node": one.node,
                "leaf": one.leaf,
                "devices": list(one.devices),
                "trouble": one.trouble,
                "silentSeconds": None if one.silent is None else round(one.silent),
            }
            for one in answer.standing
        ],
    }
    if answer.stays:
        document["notRepaired"] = {
            "kind": answer.stays.kind and answer.stays.kind.value,
            "message": answer.stays.sentence,
            "unblock": list(answer.stays.unblock),
        }
    if answer.placement:
        document["wouldGoTo"] = [{"name": pod, "node": node} for pod, node in answer.placement.pods]
        document["plan"] = {"status": answer.status, "gap": answer.gap}
    if answer.leaderless:
        document["leaderless"] = True
    if answer.waiting:
        document["why"] = waiting_document(answer.waiting)
    elif answer.told:
        document["why"] = told_document(answer.key, answer.told)
    if answer.not_created:
        document["notCreated"] = answer.not_created
    if answer.not_yielding:
        document["preemptionForbidden"] = answer.not_yielding
    return document
