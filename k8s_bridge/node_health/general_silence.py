"""General silence: most nodes are silent at once, which says more of the network than of them.

A leader may be on the smaller side of a network that has come apart, beside the API server and one
node, and find all others silent by every witness it has. It holds none of them for dead for that,
as Kubernetes' node controller holds evictions back where most nodes of a zone are lost.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from fourleaf.k8s_bridge.node_health.judge import Judgement, Signs, is_suspect

GENERAL_SILENCE_SHARE = 0.55
"""Of all nodes, what has to be silent; the node controller's `--unhealthy-zone-threshold`."""

FEW_SILENT_NODES = 2
"""So many may fall silent at once whatever share they are."""

FRESH_DEATH_SECONDS = 60.0
"""A node that is dead for longer fell silent before the others, and counts on neither side."""


def is_silence_general(
    signs: Mapping[str, Signs],
    answering: Container[str],
    judgements: Mapping[str, Judgement],
    now: float,
) -> bool:
    """Whether so many nodes have fallen silent at once; `now` in monotonic seconds.

    `answering`: those whose hosts have answered a probe just now.
    """
    silent = heard = 0
    for name, one in signs.items():
        before = judgements.get(name)
        is_old = before is not None and before.dead and now - before.since > FRESH_DEATH_SECONDS
        if not one.there or one.out_of_service or is_old:
            continue
        if is_suspect(one) and name not in answering:
            silent += 1
        else:
            heard += 1
    return silent > FEW_SILENT_NODES and silent / (silent + heard) >= GENERAL_SILENCE_SHARE
