"""Changes to objects of a cluster, all of them or a word about those that were not made."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fourleaf.cli.cluster.connection import refused

if TYPE_CHECKING:
    from fourleaf.cli.cluster.read_cluster import ClusterAccess
    from fourleaf.k8s_bridge.cluster.kinds import Kind
    from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
    from fourleaf.model.problems import Problem


async def patch_all(
    cluster: Cluster, reach: ClusterAccess, kind: Kind, targets: Sequence[Target], patch: Body
) -> None:
    """Apply a JSON merge patch to each of `targets`.

    Raises `BadInput` that names those that were not patched, and why; all others were.
    """
    from fourleaf.k8s_bridge.cluster.errors import ClusterError
    from fourleaf.model.problems import BadInput

    answers = await asyncio.gather(
        *(cluster.patch(kind, target, patch) for target in targets), return_exceptions=True
    )
    problems: dict[Problem, None] = {}
    for target, answer in zip(targets, answers, strict=True):
        if isinstance(answer, ClusterError):
            problem = refused(answer, reach.name, "patch", kind)
            problems[replace(problem, object=f"{kind.name} {target}")] = None
        elif isinstance(answer, BaseException):
            raise answer
    if problems:
        raise BadInput(problems)
