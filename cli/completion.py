"""What a shell may offer next: names of gangs, namespaces, places, contexts and terms.

Asked at every press of a key, so all of it is quick, and silent where anything goes wrong.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from fourleaf.cli.cluster.connection import connected
from fourleaf.cli.cluster.read_cluster import ClusterAccess, read_live

if TYPE_CHECKING:
    from fourleaf.model.snapshot import Snapshot

CLUSTER_SECONDS = 2.0
"""Seconds that a cluster has for its answer."""


def _quietly(
    found: Callable[[typer.Context], Iterable[str]],
) -> Callable[[typer.Context, str], list[str]]:
    """The names among `found` that begin with what is there, none where it fails."""

    def offered(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            with redirect_stderr(StringIO()):
                return sorted({name for name in found(ctx) if name.startswith(incomplete)})
        except Exception:  # noqa: BLE001 - a shell that completes has no use for an error
            return []

    return offered


def _snapshot(ctx: typer.Context) -> Snapshot:
    """What the files on the command line hold, else the cluster."""
    import asyncio

    from fourleaf.model.readers import open_paths, read

    given = ctx.params
    files = given.get("files")
    if files:
        return read(open_paths(files), strict=False).snapshot
    reach = ClusterAccess(given.get("kubeconfig"), given.get("context"))

    async def observed() -> Snapshot:
        async with connected(reach.kubeconfig, reach.context) as cluster:
            return (await read_live(cluster, reach)).reading().snapshot

    return asyncio.run(asyncio.wait_for(observed(), CLUSTER_SECONDS))


def _gangs(ctx: typer.Context) -> Iterator[str]:
    """Each as namespace/name, and by its name alone where `-n` says the namespace."""
    snapshot = _snapshot(ctx)
    space = ctx.params.get("namespace")
    keys = {gang.key for gang in snapshot.gangs}
    keys |= {pod.gang for pod in snapshot.running if pod.ours and pod.gang is not None}
    for key in keys:
        if space is None:
            yield str(key)
        elif key.namespace == space:
            yield key.name


def _namespaces(ctx: typer.Context) -> Iterator[str]:
    for gang in _gangs(ctx):
        yield gang.partition("/")[0]


def _places(ctx: typer.Context) -> Iterator[str]:
    fabric = _snapshot(ctx).fabric
    yield from fabric.nodes
    yield from fabric.spines
    yield from (leaf.name for leaf in fabric.leaves)


def _contexts(ctx: typer.Context) -> Iterator[str]:
    import yaml

    usual = str(Path.home() / ".kube" / "config")
    named = ctx.params.get("kubeconfig") or os.environ.get("KUBECONFIG") or usual
    for path in named.split(os.pathsep):
        known: Any = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        yield from (one["name"] for one in known["contexts"])


def _weights(_: typer.Context) -> Iterator[str]:
    from fourleaf.model.config.spec import BUILT_IN_TERMS
    from fourleaf.model.extensions import load

    own = load()
    yield from (f"{name}=" for name in BUILT_IN_TERMS)
    yield from (f"{term.name}=" for term in own.node_terms)
    yield from (f"{term.name}=" for term in own.leaf_terms)


gangs = _quietly(_gangs)
namespaces = _quietly(_namespaces)
places = _quietly(_places)
contexts = _quietly(_contexts)
weights = _quietly(_weights)
