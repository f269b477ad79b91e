"""`fourleaf snapshot`: a cluster in a file, from which it can be planned elsewhere."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourleaf.cli.bad_input import unwritable
from fourleaf.cli.cluster.read_cluster import ClusterAccess, observe
from fourleaf.cli.options import Context, Kubeconfig, SchedulerNamespace
from fourleaf.cli.output.console import print_problems
from fourleaf.cli.output.text import json_text

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import Live

STDOUT = "-"


def snapshot(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    file: Annotated[
        str, typer.Option("-o", "--output", metavar="FILE", help="Where to write it; - for stdout.")
    ] = STDOUT,
) -> None:
    """Write everything that a plan depends on as one List in JSON.

    `fourleaf plan -f FILE` plans it anywhere. It holds no Secret, and of containers neither
    environment nor command nor image.

    Exit code: 0 written, 2 the cluster cannot be read or the file not be written.
    """
    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
    live = observe(reach, with_leases=True)
    print_problems(live.config.warnings)
    text = json_text(document(live)) + "\n"
    if file == STDOUT:
        sys.stdout.write(text)
    else:
        try:
            with open(file, "w", encoding="utf-8") as stream:
                stream.write(text)
        except OSError as error:
            raise unwritable(file, error) from error
    moment = datetime.fromtimestamp(live.now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    name = "FILE" if file == STDOUT else file
    sys.stderr.write(
        f"{len(live.objects)} objects; plan them with the ages of that moment: "
        f"fourleaf plan -f {name} --now {moment}\n"
    )


def document(live: Live) -> dict[str, Any]:
    """The List, marked as a snapshot: kind by kind, each by namespace and name."""
    from fourleaf.model.readers.objects.snapshot_mark import marked

    return marked(sorted([*live.objects, *live.leases], key=_order))


def _order(body: dict[str, Any]) -> tuple[str, str, str, str]:
    metadata = body["metadata"]
    return body["kind"], body["apiVersion"], metadata.get("namespace", ""), metadata["name"]
