"""`fourleaf queue`: the gangs that wait, in the order in which they are planned, and why."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.console import out, show, write
from cli.options import (
    ConfigNamespace,
    Context,
    GangNamespace,
    Kubeconfig,
    Output,
    OutputFormat,
    Server,
)

if TYPE_CHECKING:
    from cli.live import Live, Reach
    from model.gang import Gang
    from model.snapshot import Snapshot

Document = dict[str, Any]
NOT_SEEN = "no scheduler has said why yet"


def queue(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    config_namespace: ConfigNamespace = "kube-system",
    namespace: GangNamespace = None,
    server: Server = None,
    output: Output = OutputFormat.TABLE,
    watch: Annotated[bool, typer.Option("-w", "--watch", help="Show it anew as it changes.")] = (
        False
    ),
    interval: Annotated[
        float, typer.Option(min=0.2, max=3600, help="Seconds between two looks, with --watch.")
    ] = 5.0,
) -> None:
    """List the gangs that wait: higher priority first, then older.

    Why each waits is what the scheduler has written into the conditions of its pods.

    Exit code: 0 the queue was read, 2 it cannot be.
    """
    from cli.live import Reach

    reach = Reach(kubeconfig, context, config_namespace)
    before: object = None
    while True:
        entries = _from_server(server) if server else _from_cluster(reach)
        listed = [one for one in entries if namespace in (None, one["namespace"])]
        if listed != before:
            _show(listed, output, again=before is not None)
            before = listed
        if not watch:
            return
        time.sleep(interval)


def _from_server(server: str) -> list[Document]:
    from cli.server import fetch_status

    entries: list[Document] = fetch_status(server)["queue"]
    return sorted(entries, key=lambda e: (-e["priority"], e["since"], e["namespace"], e["name"]))


def _from_cluster(reach: Reach) -> list[Document]:
    from cli.live import observe

    live = observe(reach)
    return waiting(live, live.reading().snapshot)


def waiting(live: Live, snapshot: Snapshot) -> list[Document]:
    """The gangs of `snapshot` that wait, each as `/status` tells of it, in the order of planning.

    Why comes from the pods of `live`.
    """
    from solver.units import gang_order

    return [_entry(gang, live) for gang in sorted(snapshot.gangs, key=gang_order)]


def _entry(gang: Gang, live: Live) -> Document:
    from cli.said import said

    names = [name for role in gang.roles for name in role.pods]
    keys = ((gang.key.namespace, name) for name in names)
    heard = said(live.pods[key] for key in keys if key in live.pods)
    kind, message, unblock = "", NOT_SEEN, list[str]()
    if heard is not None:
        kind = heard.kind.value if heard.kind else ""
        message, unblock = heard.sentence, list(heard.unblock)
    if gang.hold is not None:
        kind, message, unblock = gang.hold.kind, gang.hold.detail, list(gang.hold.unblock)
    return {
        "namespace": gang.key.namespace,
        "name": gang.key.name,
        "priority": gang.priority,
        "gpus": gang.gpus,
        "pods": len(names),
        "since": gang.created,
        "reason": kind,
        "message": message,
        "unblock": unblock,
    }


def _show(entries: list[Document], output: OutputFormat, again: bool) -> None:
    if output in (OutputFormat.TABLE, OutputFormat.WIDE):
        from cli.render.queue import queue_lines

        console = out()
        if again and console.is_terminal:
            console.clear()
        show(queue_lines(entries, time.time(), output is OutputFormat.WIDE))
        return
    from cli.text import json_text, yaml_text
    from model.config import API_VERSION

    document = {"apiVersion": API_VERSION, "kind": "Queue", "gangs": entries}
    write(json_text(document) if output is OutputFormat.JSON else yaml_text(document))
