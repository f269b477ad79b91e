"""A gang of whole nodes stands on the leaves that its size demands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.history import pods
from tests.history.fabric import Fabric, misplaced
from tests.history.gangs import Gang, stages
from tests.history.history import History
from tests.history.records import GangLease, Page, record_of
from tests.history.versions import Version

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Topology:
    """Judges the nodes on which a gang became whole for the first time.

    Where one commit gave them, those count too that it gave to members who went away before.
    `sizes` are those of gangs whose pods do not say it. Gangs that only prefer their leaves
    are free.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    name: str = "the right leaves"

    def breaches(self, history: History) -> list[str]:
        """Every gang of one whole node a member that stands where it must not."""
        found = []
        judged: set[str] = set()
        for version, gang in stages(history, self.sizes):
            if gang.name in judged or not gang.whole:
                continue
            judged.add(gang.name)
            trouble = _trouble(history, gang, version)
            if trouble:
                found.append(f"revision {version.revision}: gang {gang.name} {trouble}")
        return found


def _trouble(history: History, gang: Gang, version: Version) -> str:
    members = gang.started
    nodes = {pods.node(pod) for pod in members}
    whole_nodes = len(nodes) == len(members)
    commits = {pods.annotation(pod, pods.COMMIT) for pod in members}
    if len(commits) == 1:
        nodes |= _planned(history, commits.pop())
    if any(pods.annotation(pod, pods.POLICY) == "Preferred" for pod in members):
        return ""
    born = min(_revision_of_birth(history, pod) for pod in members)
    fabric, missing = _ground(history, born, version.revision)
    whole = all(pods.gpus(pod) == fabric.gpus.get(pods.node(pod)) for pod in members)
    if not whole or not whole_nodes:
        return ""
    return misplaced(nodes, fabric, missing)


def _planned(history: History, commit: str) -> set[str]:
    """Every node that a record of the commit has ever named."""
    found: set[str] = set()
    for version in history.of("leases"):
        record = record_of(version.body)
        if isinstance(record, GangLease) and record.commit == commit:
            found |= {row.node for row in record.rows}
        elif isinstance(record, Page):
            entries = [entry for entry in record.entries if entry.commit == commit]
            found |= {row.node for entry in entries for row in entry.rows}
    return found


def _revision_of_birth(history: History, pod: Body) -> int:
    uid = pods.uid(pod)
    return next(one.revision for one in history.of("pods") if pods.uid(one.body) == uid)


def _ground(history: History, since: int, until: int) -> tuple[Fabric, set[str]]:
    """The fabric by its latest labels until then, and the nodes that were out at some time.

    A plan is made of what stood at some revision between the gang's birth and its binding, so
    a node that was out then need not be part of a complete leaf.
    """
    latest: dict[str, Body] = {}
    out: set[str] = set()
    for version in history.of("nodes"):
        name = version.body["metadata"]["name"]
        if version.revision > until:
            break
        latest[name] = version.body
        if version.deleted or not _schedulable(version.body):
            out.add(name)
        elif version.revision <= since:
            out.discard(name)
    return Fabric.of(latest.values()), out


def _schedulable(node: Body) -> bool:
    conditions = (node.get("status") or {}).get("conditions") or ()
    ready = any(one["type"] == "Ready" and one["status"] == "True" for one in conditions)
    taints = node["spec"].get("taints") or ()
    kept_out = any(taint["effect"] in ("NoSchedule", "NoExecute") for taint in taints)
    return ready and not node["spec"].get("unschedulable") and not kept_out
