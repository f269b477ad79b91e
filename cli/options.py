"""Options that several verbs share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from fourleaf.cli import completion


class OutputFormat(StrEnum):
    """What `-o` takes."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"


def filename(help: str) -> Any:  # noqa: A002 - as in typer
    """The option `-f`."""
    return typer.Option("-f", "--filename", metavar="PATH", help=help)


MANIFESTS = "Manifests as kubectl prints them: a file, a folder, or - for stdin. Repeatable."
Files = Annotated[list[str], filename(MANIFESTS)]
PlanFiles = Annotated[
    list[str] | None,
    filename(f"{MANIFESTS} Without it, what the cluster of the kubeconfig holds."),
]
MaybeFiles = Annotated[
    list[str] | None,
    filename(
        "Where the config is: a file, a folder, or - for stdin. Without it, the config in "
        "force in the cluster of the kubeconfig."
    ),
]
Output = Annotated[OutputFormat, typer.Option("-o", "--output", help="How to print the plan.")]
Answer = Annotated[OutputFormat, typer.Option("-o", "--output", help="How to print the answer.")]
Now = Annotated[
    str | None,
    typer.Option(metavar="RFC3339", help="The moment that counts as now, for the age of gangs."),
]
Kubeconfig = Annotated[
    str | None,
    typer.Option(
        envvar="KUBECONFIG",
        metavar="PATH",
        help="How to reach the cluster; without it the usual file, or the pod's own account.",
    ),
]
Context = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="The context of the kubeconfig to use.",
        autocompletion=completion.contexts,
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option(
        metavar="NAMESPACE",
        help="Where the scheduler's Leases are; without it the pod's own, or kube-system.",
    ),
]
HealthListen = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="Where probes are answered too, apart from all other clients.",
    ),
]
LogLevel = Annotated[
    str | None,
    typer.Option(
        envvar="LOG_LEVEL", metavar="LEVEL", help="DEBUG, INFO, WARNING or ERROR; INFO without it."
    ),
]
SchedulerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--scheduler-name",
        envvar="SCHEDULER_NAME",
        metavar="NAME",
        help="Pods with this schedulerName are ours. Repeatable; without it, as configured.",
    ),
]
ConfigNamespace = Annotated[
    str, typer.Option(metavar="NAMESPACE", help="Where topology-scheduler-config is.")
]
SchedulerNamespace = Annotated[
    str | None,
    typer.Option(
        envvar="FOURLEAF_NAMESPACE",
        metavar="NAMESPACE",
        help="Where the scheduler and its config are; without it, where its Lease is found.",
        autocompletion=completion.namespaces,
    ),
]
GangNamespace = Annotated[
    str | None,
    typer.Option(
        "-n",
        "--namespace",
        metavar="NAMESPACE",
        help="The namespace of the gangs.",
        autocompletion=completion.namespaces,
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        envvar="FOURLEAF_SERVER",
        metavar="URL",
        help="Ask the scheduler that listens there, instead of the cluster.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would happen. This is the default.")
]
Apply = Annotated[bool, typer.Option("--apply", help="Let it happen.")]
Watch = Annotated[
    bool, typer.Option("-w", "--watch", help="Show it anew as it changes, until Ctrl-C.")
]
Interval = Annotated[
    float,
    typer.Option(
        metavar="SECONDS", min=0.2, max=3600, help="Seconds between two looks, with --watch."
    ),
]
Live = Annotated[
    bool, typer.Option("--live", help="Add the manifests of -f to what the cluster holds now.")
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", min=0.01, max=3600, help="Seconds to solve, instead of the config's."
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, max=2147483647, help="Seed, instead of the config's."),
]
GANG_HELP = "Its name, namespace/name, or a pod or owner of it: pod/NAME, job/NAME."
Gang = Annotated[
    str, typer.Argument(metavar="GANG", help=GANG_HELP, autocompletion=completion.gangs)
]
MaybeGang = Annotated[
    str | None, typer.Argument(metavar="GANG", help=GANG_HELP, autocompletion=completion.gangs)
]
