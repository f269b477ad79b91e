"""General silence: most nodes are silent at once, which says more of the network than of them.

A leader may be on the smaller side of a network that has come apart, beside the API server and one
node, and find all others silent by every witness it has. It holds none of them for dead for that,
as Kubernetes' node controller holds evictions back where most nodes of a zone are lost.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Set

from fourleaf.k8s_bridge.node_health.judge import Judgement, Signs, is_suspect

GENERAL_SILENCE_SHARE = 0.55
"""What has to be silent; the node controller's `--unhealthy-zone-threshold`."""

FEW_SILENT_NODES = 2
"""So many may fall silent at once whatever share they are."""

FRESH_DEATH_SECONDS = 60.0
"""A node that is dead for longer fell silent before the others, and counts on neither side."""


def general_silence(
    signs: Mapping[str, Signs],
    answering: Container[str],
    heard: Set[str],
    judgements: Mapping[str, Judgement],
    now: float,
) -> frozenset[str]:
    """The nodes that are silent as most are; `now` in monotonic seconds.

    Of nodes that have been `heard` in this term, most of these; of the others, most of all. So
    nodes that were switched off before it began say nothing of one that falls silent now.
    `answering`: those whose hosts have answered a probe just now.
    """
    counted, silent = set(), set()
    for name, one in signs.items():
        before = judgements.get(name)
        is_old = before is not None and before.dead and now - before.since > FRESH_DEATH_SECONDS
        if not one.there or one.out_of_service or is_old:
            continue
        counted.add(name)
        if is_suspect(one) and name not in answering:
            silent.add(name)
    late, never = silent & heard, silent - heard
    found = late if are_most(len(late), len(counted & heard)) else set()
    return frozenset(found | never if are_most(len(never), len(counted)) else found)


def are_most(some: int, of_all: int) -> bool:
    """Whether so many silent nodes are most of all."""
    return some > FEW_SILENT_NODES and some / of_all >= GENERAL_SILENCE_SHARE
