"""The page about annotations and labels: who writes each, on what, and what it means."""

from __future__ import annotations

from dataclasses import dataclass

from docs.reference.markdown import code, table
from fourleaf.k8s_bridge.cache.config_watcher import DEFRAGMENT
from fourleaf.k8s_bridge.ledger.names import COMMIT, CONTENT, FENCE, RECORD
from fourleaf.k8s_bridge.relocation.evictions.drain_marks import END_JOBS
from fourleaf.model.config.topology_presets import PRESETS
from fourleaf.model.crds.claim import CLAIM
from fourleaf.model.devices.held_devices import DEVICES
from fourleaf.model.gang import Strategy
from fourleaf.model.node import GPU_SOURCE_LABEL
from fourleaf.model.readers.nodes.nodes import FAILURE_RATE
from fourleaf.model.readers.objects import annotations as names
from fourleaf.model.readers.objects.annotations import DRAIN
from fourleaf.model.readers.objects.snapshot_mark import SNAPSHOT
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from fourleaf.model.readers.pods.volumes import SELECTED_BY_US
from fourleaf.model.running_gang import RepairPolicy
from fourleaf.webhook.names import DEFAULT_SCHEDULER, ENFORCE
from fourleaf.webhook.tls.bundles import GENERATION

FILE = "annotations.md"


@dataclass(frozen=True, slots=True)
class Key:
    """An annotation or a label: its key, what carries it, and what it says."""

    name: str
    on: str
    meaning: str


POD = "pod or its owner"
WISHES = (
    Key(names.GANG, POD, "Name of the gang."),
    Key(names.GANG_SIZE, POD, "How many members it has."),
    Key(
        names.GPU_COUNT,
        POD,
        "GPUs of the whole gang, shared out where its containers ask for none.",
    ),
    Key(names.PREFERRED_DOMAIN, POD, "Leaf or spine that it prefers."),
    Key(names.BANDWIDTH, f"{POD}, node", "Least bandwidth of a node; on a node, what it has."),
    Key(names.LATENCY, POD, "`true`: fewer hops count more."),
    Key(names.STRATEGY, POD, f"One of {', '.join(Strategy)}, or of the config's `strategies`."),
    Key(names.POLICY, POD, "`Required` (the leaf rule holds) or `Preferred` (it is a cost)."),
    Key(names.MOVABLE, POD, "`true`: the gang may be moved for others."),
    Key(
        names.MOVE_COST,
        POD,
        "What a move costs beside others of its namespace, in lost GPU-minutes for example.",
    ),
    Key(
        names.REPAIR_POLICY,
        POD,
        f"What happens when it loses members: {', '.join(RepairPolicy)}.",
    ),
    Key(
        names.NODE_FEATURES,
        POD,
        f"What each of its nodes must have, by commas: {', '.join(names.FEATURES)}.",
    ),
    Key(names.DURATION, POD, "How long it is expected to run."),
    Key(CLAIM, "pod", "Name of the GpuClaim that says what devices it needs."),
    Key(DEVICE_MAP, POD, "Which pod gets which node and devices."),
)
OPERATORS = (
    Key(FAILURE_RATE, "node", "Share of failures that is known of it, 0 to 1."),
    Key(DRAIN, "node", "`true`: empty it. It takes no new pods, cordoned or not."),
    Key(END_JOBS, "node", "`true`, beside that: Jobs with pods there may end of it."),
    Key(DEFRAGMENT, "ConfigMap", "When a defragmentation was asked for, in RFC 3339."),
    Key(ENFORCE, "namespace", "`true`: without an answer of the webhook, its pods are refused."),
    Key(DEFAULT_SCHEDULER, "namespace", "`true`: its GPU pods that name no scheduler get ours."),
    *(Key(name, "node", "Label of the level; see topology.md.") for name in PRESETS["plain"][0]),
)
OURS = (
    Key(DEVICES, "pod", "The devices that it was given."),
    Key(COMMIT, "pod", "The commit that bound it."),
    Key(FENCE, "pod", "The epoch that rolled its commit back."),
    Key(RECORD, "Lease", "What the Lease records."),
    Key(CONTENT, "Lease", "The record, as JSON."),
    Key(
        SELECTED_BY_US,
        "PersistentVolumeClaim",
        "The node that was selected for a gang of ours, which may select another.",
    ),
    Key(SNAPSHOT, "List of `fourleaf snapshot`", "`true`: read it as the cluster that it was."),
    Key(GENERATION, "webhook configuration", "Which change of its certificates it has seen."),
    Key(GPU_SOURCE_LABEL, "node, in the model alone", "What names its GPUs, where nodes differ."),
)


def page() -> str:
    """The page."""
    parts = ["# Annotations and labels\n"]
    for title, keys in (
        ("Wishes of workloads", WISHES),
        ("For operators", OPERATORS),
        ("Written by Fourleaf alone", OURS),
    ):
        parts.append(f"## {title}\n")
        rows = ((code(one.name), one.on, one.meaning) for one in keys)
        parts.append(table(("key", "on", "meaning"), rows))
    return "\n".join(parts)
