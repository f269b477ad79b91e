"""`fourleaf why`: where a gang runs, or why it waits and what would let it start."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.console import EXIT_OK, EXIT_PENDING, glyphs, print_problems, show, write
from cli.options import ConfigNamespace, Context, GangNamespace, Kubeconfig, OutputFormat

if TYPE_CHECKING:
    from cli.live import Live, Reach
    from model.gang import Gang, GangKey
    from model.plan import Placement, Plan, Waiting
    from model.problems import BadInput
    from model.snapshot import Snapshot

Document = dict[str, Any]
NEAR_NAMES = 3


@dataclass(frozen=True, slots=True)
class Standing:
    """A pod of a gang and its place. `devices` are numbers as the scheduler wrote them."""

    pod: str
    node: str
    leaf: str
    devices: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """All about one gang: what stands, and for the rest what planning right now comes to."""

    key: GangKey
    standing: tuple[Standing, ...]
    gang: Gang | None = None
    placement: Placement | None = None
    waiting: Waiting | None = None


def why(
    gang: Annotated[str, typer.Argument(metavar="GANG", help="Its name, or namespace/name.")],
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    config_namespace: ConfigNamespace = "kube-system",
    namespace: GangNamespace = None,
    output: Annotated[
        OutputFormat, typer.Option("-o", "--output", help="How to print the answer.")
    ] = OutputFormat.TABLE,
) -> None:
    """Tell where a gang runs, or why it waits and what would let it start.

    Plans what is observed, which changes nothing.

    Exit code: 0 it is placed or would be now, 2 there is no such gang, 3 it has to wait.
    """
    from cli.live import Reach, observe
    from cli.logs import log_to_stderr
    from solver.client import SolverClient

    log_to_stderr()
    reach = Reach(kubeconfig, context, config_namespace)
    # The solver process loads OR-tools while this one reads the cluster.
    with SolverClient() as client:
        live = observe(reach)
        reading = live.reading()
        key = find(reading.snapshot, gang, namespace, reach)
        print_problems(one for one in reading.problems if one.is_error and str(key) in one.object)
        plan = _planned(client, reading.snapshot, key)
    answer = explained(live, reading.snapshot, key, plan)
    _show(answer, reading.snapshot, output)
    raise typer.Exit(EXIT_PENDING if answer.waiting else EXIT_OK)


def find(snapshot: Snapshot, text: str, namespace: str | None, reach: Reach) -> GangKey:
    """The gang that `text` names. Raises `BadInput` where none or several do."""
    space, _, name = text.rpartition("/")
    space = space or namespace or ""
    known = {gang.key for gang in snapshot.gangs}
    known |= {pod.gang for pod in snapshot.running if pod.ours and pod.gang is not None}
    found = sorted(key for key in known if key.name == name and space in ("", key.namespace))
    if len(found) == 1:
        return found[0]
    raise _not_one(text, [str(key) for key in found], sorted(map(str, known)), reach)


def _not_one(text: str, found: list[str], known: list[str], reach: Reach) -> BadInput:
    from difflib import get_close_matches

    from model.problems import BadInput, Problem, Severity

    if found:
        message = f"is the name of {len(found)} gangs"
        advice = f"Say which: {', '.join(found)}."
    else:
        message = "is no gang that runs or waits; it may have ended"
        by_name = {one.rpartition("/")[2]: one for one in known}
        close = get_close_matches(text, known, NEAR_NAMES) or [
            by_name[one]
            for one in get_close_matches(text.rpartition("/")[2], list(by_name), NEAR_NAMES)
        ]
        advice = f"Perhaps {', '.join(close)}?" if close else "See `fourleaf queue` for names."
    return BadInput([Problem(Severity.ERROR, reach.name, f"Gang {text}", "", "", message, advice)])


def _planned(client: Any, snapshot: Snapshot, key: GangKey) -> Plan | None:
    """The plan of now, None where nothing of the gang waits."""
    from cli.progress import Progress

    if all(gang.key != key for gang in snapshot.gangs):
        return None
    with Progress("planning what is observed") as progress:
        client.wait_until_ready()
        plan: Plan = client.plan(snapshot, on_stage=progress.stage)
    return plan


def explained(live: Live, snapshot: Snapshot, key: GangKey, plan: Plan | None) -> Answer:
    """Put together what `live` shows of a gang and what `plan` says of it."""
    running = [pod for pod in snapshot.running if pod.gang == key and pod.ours]
    fabric = snapshot.fabric
    standing = tuple(
        Standing(
            pod.name,
            pod.node,
            fabric.leaves[fabric.leaf_of[pod.node]].name if pod.node in fabric.leaf_of else "",
            _devices(live.pods.get((pod.namespace, pod.name), {})),
        )
        for pod in running
    )
    gang = next((one for one in snapshot.gangs if one.key == key), None)
    placements = plan.placements if plan else ()
    waits = plan.waiting if plan else ()
    return Answer(
        key,
        standing,
        gang,
        next((one for one in placements if one.gang == key), None),
        next((one for one in waits if one.gang == key), None),
    )


def _devices(pod: Document) -> tuple[int, ...]:
    from k8s_bridge.ledger.pods import pod_seen

    return pod_seen(pod).devices if pod else ()


def _show(answer: Answer, snapshot: Snapshot, output: OutputFormat) -> None:
    if output in (OutputFormat.TABLE, OutputFormat.WIDE):
        from cli.render.why import why_lines

        show(why_lines(answer, snapshot, time.time(), glyphs()))
        return
    from cli.text import json_text, yaml_text

    document = document_of(answer)
    write(json_text(document) if output is OutputFormat.JSON else yaml_text(document))


def document_of(answer: Answer) -> Document:
    """The answer as a document; `state` is Placed, PlacedNow or Waiting."""
    from model.config import API_VERSION
    from model.documents.plan import waiting_document

    state = "Waiting" if answer.waiting else "PlacedNow" if answer.placement else "Placed"
    document: Document = {
        "apiVersion": API_VERSION,
        "kind": "GangStatus",
        "namespace": answer.key.namespace,
        "name": answer.key.name,
        "state": state,
        "pods": [
            {"name": one.pod, "node": one.node, "leaf": one.leaf, "devices": list(one.devices)}
            for one in answer.standing
        ],
    }
    if answer.placement:
        document["wouldGoTo"] = [{"name": pod, "node": node} for pod, node in answer.placement.pods]
    if answer.waiting:
        document["why"] = waiting_document(answer.waiting)
    return document
