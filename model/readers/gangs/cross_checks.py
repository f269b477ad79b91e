"""What concerns several gangs, or a gang and the fabric, once each gang has been read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fourleaf.model.config.spec import Network
from fourleaf.model.fabric import Fabric
from fourleaf.model.gang import Hold
from fourleaf.model.node import Node
from fourleaf.model.readers.gangs.dialects import Dialect
from fourleaf.model.readers.gangs.drafts import Draft
from fourleaf.model.readers.gangs.exclusive_volumes import take_turns_on_volumes
from fourleaf.model.readers.gangs.mind_others import mind_others
from fourleaf.model.readers.gangs.preference_limits import limit_preferences
from fourleaf.model.readers.gangs.turns import Turns
from fourleaf.model.readers.objects.annotations import BANDWIDTH, PREFERRED_DOMAIN, field_of, stated
from fourleaf.model.readers.objects.few_warnings import FewWarnings
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.neighbours import Neighbours
from fourleaf.model.reasons.kinds import ReasonKind


def side_by_side(
    drafts: Iterable[Draft],
    running: Neighbours,
    fabric: Fabric,
    nodes: Mapping[str, Node],
    report: Report,
    turns: Turns | None = None,
    network: Network | None = None,
    whole: bool = False,
) -> list[Draft]:
    """`drafts`, which are in natural order, with what others do to them and nothing from before.

    `nodes` are all that there are by name, in the fabric or not. `turns` knows which gangs found no
    place lately. `network` is that of the config. A `whole` cluster has tenants, and what one of
    them calls its gang is nothing to another; files are of one author, who has put members of one
    gang into two namespaces.
    """
    turns = turns or Turns()
    turns.begin(fabric)
    found = list(drafts)
    for draft in found:
        draft.begin_anew()
    some = [draft for draft in found if draft.concerns_others]
    if not whole:
        _refuse_split(some, report)
    _hold_back_without_node(some, fabric, nodes)
    mind_others(found, running, nodes, turns)
    limit_preferences(some, report)
    # Who is held for another reason takes no volume from others.
    take_turns_on_volumes(some, running, turns)
    _warn(some, fabric, report)
    if fabric.leaves and not fabric.states_bandwidth:
        _warn_of_unknown_bandwidth(some, network or Network(), report)
    return found


def _refuse_split(drafts: Sequence[Draft], report: Report) -> None:
    """Refuse gangs short of members whose missing ones stand in another namespace."""
    short: dict[tuple[str, str], list[Draft]] = {}
    for draft in drafts:
        hold = draft.gang.hold
        if hold is None or hold.kind is not ReasonKind.MEMBERS_MISSING:
            continue
        _, dialect, name = draft.identity
        if dialect in (Dialect.OURS, Dialect.KUEUE):
            short.setdefault((dialect, name), []).append(draft)
    for (_, name), parts in short.items():
        if len(parts) < 2:
            continue
        for draft in parts[1:]:
            pod = (draft.waiting or draft.bound)[0]
            pod.manifest.on(report).error(
                "metadata.namespace",
                pod.namespace,
                f"holds only part of gang {name}; the rest is in another namespace",
                "Put all members into one namespace; a gang cannot span two.",
            )
        for draft in parts:
            draft.gang = replace(draft.gang, hold=_split(name))


def _hold_back_without_node(
    drafts: Sequence[Draft], fabric: Fabric, nodes: Mapping[str, Node]
) -> None:
    """Say of gangs whose device map names a node that no pod can go to which one that is."""
    for draft in drafts if nodes else ():
        pinned = (pod.pinned for pod in draft.waiting if pod.pinned)
        lost = next((one for one in pinned if one not in fabric.leaf_of), "")
        if not lost or lost in fabric.refused or draft.gang.hold is not None:
            continue
        what = "has no GPU" if lost in nodes else "is no node of the cluster"
        detail = f"its device map names {lost}, which {what}"
        advice = "name another node in its line; `fourleaf map fix` finds one of the same pool"
        hold = Hold(ReasonKind.NO_MATCHING_NODES, detail, (), (advice,))
        draft.gang = replace(draft.gang, hold=hold)


def _split(name: str) -> Hold:
    what = f"gang {name} is spread over several namespaces"
    return Hold(ReasonKind.INVALID, what, (), ("Put all members into one namespace.",))


def _warn(drafts: Sequence[Draft], fabric: Fabric, report: Report) -> None:
    """Say what is legal but probably not meant."""
    warnings = FewWarnings(report)
    for draft in drafts:
        domain = draft.gang.preferred_domain
        if (
            domain is not None
            and fabric.leaves
            and domain not in fabric.leaf_index
            and domain not in fabric.spines
            and draft.waiting
        ):
            pod = draft.waiting[0]
            found = stated(pod.layers, PREFERRED_DOMAIN)
            manifest = found[0] if found else pod.manifest
            warnings.warn(
                manifest,
                field_of(PREFERRED_DOMAIN),
                domain,
                "is no leaf or spine of the fabric",
                "Name a leaf or a spine, or leave it out; it counts for nothing now.",
            )


def _warn_of_unknown_bandwidth(drafts: Sequence[Draft], network: Network, report: Report) -> None:
    """Say of gangs that ask for bandwidth that no node states any, so that they get what comes."""
    if network.node_bandwidth is not None or network.require_stated:
        return
    warnings = FewWarnings(report)
    for draft in drafts:
        if draft.gang.bandwidth is not None and draft.waiting:
            pod = draft.waiting[0]
            found = stated(pod.layers, BANDWIDTH)
            manifest, value = found or (pod.manifest, None)
            warnings.warn(
                manifest,
                field_of(BANDWIDTH),
                value,
                "is held against nothing, since no node states its bandwidth: any node will do",
                f"Label nodes {BANDWIDTH}, or set spec.network.nodeBandwidth; with "
                "spec.network.requireStated such gangs wait.",
            )
