"""`fourleaf webhook`: the admission server of a cluster."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.cluster.addresses import address, on_signal, taken
from fourleaf.cli.cluster.connection import connected, own_namespace
from fourleaf.cli.options import ConfigNamespace, Context, Kubeconfig, LogLevel, SchedulerNames

if TYPE_CHECKING:
    from fourleaf.webhook.serve import WebhookOptions


def webhook(
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where reviews are answered, by TLS.")
    ] = "127.0.0.1:8443",
    metrics_listen: Annotated[
        str, typer.Option(metavar="HOST:PORT", help="Where metrics and probes are served.")
    ] = "127.0.0.1:8081",
    cert_dir: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            file_okay=False,
            exists=True,
            help="A folder with tls.crt and tls.key, as cert-manager keeps it; it is watched.",
        ),
    ] = None,
    self_signed: Annotated[
        bool,
        typer.Option(
            "--self-signed", help="Make and renew a certificate, kept in a Secret for all replicas."
        ),
    ] = False,
    host_name: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A name or address of the self-signed certificate. Repeatable; without it, "
            "those of the Service.",
        ),
    ] = None,
    namespace: Annotated[
        str | None,
        typer.Option(
            metavar="NAMESPACE",
            help="Where the Secret and the Service are; without it the pod's own, or kube-system.",
        ),
    ] = None,
    config_namespace: ConfigNamespace = "kube-system",
    scheduler_name: SchedulerNames = None,
    scheduler_user: Annotated[
        list[str] | None,
        typer.Option(
            metavar="USER",
            help="The scheduler's user, as the API server sees it. Repeatable; without it, its "
            "ServiceAccount in kube-system.",
        ),
    ] = None,
    drain_seconds: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", min=0, max=60, help="How long to answer on after a signal to stop."
        ),
    ] = 5.0,
    log_level: LogLevel = None,
) -> None:
    """Complete and check pods and claims before they exist, until stopped.

    Exit code: 0 stopped by a signal, 2 the cluster cannot be reached with these credentials.
    """
    if self_signed == (cert_dir is not None):
        raise typer.BadParameter("give one of the two", param_hint="--cert-dir or --self-signed")
    import uvloop

    from fourleaf.k8s_bridge.runtime.logs import set_up_logs
    from fourleaf.k8s_bridge.runtime.open_files import allow_more_open_files
    from fourleaf.webhook.serve import WebhookOptions
    from fourleaf.webhook.settings import SCHEDULER_USER

    host, port = address(listen)
    side_host, side_port = address(metrics_listen, "--metrics-listen")
    allow_more_open_files()
    set_up_logs(log_level)
    options = WebhookOptions(
        host=host,
        port=port,
        side_host=side_host,
        side_port=side_port,
        namespace=namespace or own_namespace(),
        config_namespace=config_namespace,
        scheduler_names=tuple(scheduler_name or ()),
        scheduler_users=frozenset(scheduler_user or (SCHEDULER_USER,)),
        certificates=cert_dir,
        hosts=tuple(host_name or ()),
        leave=drain_seconds,
    )
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_until_stopped(options, kubeconfig, context))


async def _until_stopped(
    options: WebhookOptions, kubeconfig: str | None, context: str | None
) -> None:
    from fourleaf.k8s_bridge.runtime.clock import SystemClock
    from fourleaf.k8s_bridge.runtime.http.listener import AddressTaken
    from fourleaf.webhook.serve import serve

    stop = asyncio.Event()
    on_signal(stop.set)
    async with connected(kubeconfig, context) as cluster:
        try:
            await serve(cluster, SystemClock(), options, stop)
        except AddressTaken as error:
            front = f"{options.host}:{options.port}"
            option = "--listen" if error.where == front else "--metrics-listen"
            raise taken(error, option) from error
