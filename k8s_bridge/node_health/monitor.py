"""Node monitor: gathers the signs, judges, remembers failures, names the dead nodes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cluster.errors import ClusterError, NotFound
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster, Target
from fourleaf.k8s_bridge.ledger.state_lease import SavedInTime, StateLease
from fourleaf.k8s_bridge.node_health.failure_rates import FailureRates
from fourleaf.k8s_bridge.node_health.general_silence import general_silence
from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats
from fourleaf.k8s_bridge.node_health.judge import (
    SUSPECT_SECONDS,
    Judgement,
    NodeVerdict,
    Signs,
    SilenceLimits,
    is_suspect,
    judge,
)
from fourleaf.k8s_bridge.node_health.probe import Prober, Probes
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.fabric import Fabric
from fourleaf.model.readers.nodes.nodes import ready_status

JUDGE_SECONDS = 1.0
"""Seconds between two looks."""
FAILURES_LEASE = "fourleaf-node-failures"
"""The Lease that keeps the failures."""
GONE_SECONDS = 40.0
"""Seconds that a Node object has to be gone before its node counts as deleted; what Kubernetes'
own garbage collection of pods waits for. A kubelet that restarts makes its object anew."""
OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
HOUR_SECONDS = 3600.0
RATE_GRAIN_PERMILLE = 10
"""Failure rates are rounded to so many thousandths: a finer one would give a new fabric often."""


@dataclass(slots=True, eq=False)
class NodeMonitor:
    """The judgements of one term. `died` is set when another node is found dead.

    `on_judged` gets every node that is found dead, is heard again, or is well again, `on_general`
    how many of how many nodes are silent when these are most, and 0 when they are so no longer.
    Failures are `kept`.
    """

    cluster: Cluster
    cache: ClusterCache
    heartbeats: Heartbeats
    prober: Prober
    kept: StateLease
    clock: Clock
    on_judged: Callable[[str, Judgement], None]
    on_general: Callable[[int, int], None]
    died: asyncio.Event = field(default_factory=asyncio.Event)
    judgements: dict[str, Judgement] = field(default_factory=dict)
    failures: FailureRates = field(default_factory=lambda: FailureRates(HOUR_SECONDS))
    _leaf_of: dict[str, str] = field(default_factory=dict)
    _gone_since: dict[str, float] = field(default_factory=dict)
    _deleted: set[str] = field(default_factory=set)
    _probes: Probes = field(init=False)
    _saved: SavedInTime = field(init=False)
    _fallen: frozenset[str] = frozenset()
    _heard: set[str] = field(default_factory=set)
    """Nodes that were heard in this term, by their kubelet or by their host."""
    _general: frozenset[str] = frozenset()
    """Nodes that were silent as most were when last looked at."""
    _dead: tuple[dict[str, Judgement] | None, frozenset[str]] = (None, frozenset())
    """The judgements that were looked at last, and the nodes that are dead by them."""
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self._probes = Probes(self.prober)
        self._saved = SavedInTime(self.kept)

    @property
    def verdicts(self) -> Mapping[NodeVerdict, int]:
        """How many nodes are taken for what."""
        return Counter(one.verdict for one in self.judgements.values())

    @property
    def dead(self) -> frozenset[str]:
        """The nodes of which all that runs there is lost."""
        judged, dead = self._dead
        if judged is not self.judgements:
            # Asked for many times a second, while judgements are made anew once.
            dead = frozenset(node for node, one in self.judgements.items() if one.dead)
            self._dead = self.judgements, dead
        return dead

    def silent_for(self, node: str) -> float | None:
        """Seconds since the last heartbeat of a silent node, None where it is heard."""
        silence = self.heartbeats.silence(node, self.clock.monotonic())
        return None if silence is None or silence <= SUSPECT_SECONDS else silence

    async def run(self) -> None:
        """Look again and again, until cancelled."""
        text = await self.kept.load()
        if text and not self.failures.read(text):
            self.kept.unreadable()
        while True:
            await self.look()
            await self.clock.sleep(JUDGE_SECONDS)

    async def keep(self) -> None:
        """Save how often nodes have failed, until cancelled.

        Beside the judging: a Lease about which the API does not answer makes no death late.
        """
        while True:
            await self._saved.save(lambda: self.failures.content(self.clock.wall()))
            await self.clock.sleep(JUDGE_SECONDS)

    async def look(self) -> None:
        """Judge every node once."""
        nodes = self._nodes()
        fabric = self.cache.reading().snapshot.fabric
        known = {name: self._leaf_of[name] for name in self.judgements if name in self._leaf_of}
        self._leaf_of = known | {n.name: leaf.name for leaf in fabric.leaves for n in leaf.nodes}
        await self._confirm_deletions(nodes)
        signs = self._signs(nodes)
        suspects = [name for name, one in signs.items() if is_suspect(one)]
        well = [name for name, one in signs.items() if one.there and not is_suspect(one)]
        answers = await self._probes.answers(nodes, suspects, well)
        self._heard = (self._heard & signs.keys()) | self._probes.answering | set(well)
        before = self.dead
        self._judge(signs, answers)
        fresh = self.dead - before
        if fresh:
            self._remember(fresh, fabric)
        self._tell_observed(nodes, fabric)
        if fresh:
            self.died.set()

    def _nodes(self) -> Mapping[str, Body]:
        return {name: body for (_, name), body in self.cache.objects.get(NODES, {}).items()}

    def _limits(self) -> SilenceLimits:
        failures = self.cache.config.spec.failures
        return SilenceLimits(failures.silent_seconds, failures.well_seconds)

    def _signs(self, nodes: Mapping[str, Body]) -> dict[str, Signs]:
        """What is known without a probe, of nodes that are there or hold pods of ours."""
        now = self.clock.monotonic()
        conditions = frozenset(self.cache.config.spec.failures.conditions)
        leaves = {self._leaf_of.get(node) for node in self.dead} - {None}
        found = {
            name: _signs_of(
                body,
                self.heartbeats.silence(name, now),
                conditions,
                self._leaf_of.get(name) in leaves,
            )
            for name, body in nodes.items()
        }
        deleted = self._deleted
        return found | {
            name: Signs(there=False, deleted=name in deleted) for name in self._gone_since
        }

    async def _confirm_deletions(self, nodes: Mapping[str, Body]) -> None:
        """Ask the API server for nodes that hold pods of ours and are gone from the cache.

        The cache of a leader that has just taken over may be old, and a node may be made anew.
        """
        now = self.clock.monotonic()
        running = self.cache.reading().snapshot.running
        gone = {pod.node for pod in running if pod.ours and pod.node not in nodes}
        self._gone_since = {name: self._gone_since.get(name, now) for name in gone}
        self._deleted &= gone
        for name in sorted(gone - self._deleted):
            if now - self._gone_since[name] < GONE_SECONDS:
                continue
            try:
                await self.cluster.get(NODES, Target("", name))
            except NotFound:
                self._deleted.add(name)
            except ClusterError as error:
                self._log.info("node_not_read", node=name, why=str(error))
            else:
                self._gone_since[name] = now

    def _judge(self, signs: Mapping[str, Signs], answers: Mapping[str, bool | None]) -> None:
        now, limits = self.clock.monotonic(), self._limits()
        general = self._silent_as_most(signs, now)
        new = {}
        for name, one in signs.items():
            before = self.judgements.get(name, Judgement())
            seen = replace(one, answers=answers[name]) if name in answers else one
            if name in general:
                seen = replace(seen, general=True)
            new[name] = after = judge(before, seen, limits, now)
            grave = {before.verdict, after.verdict} - {NodeVerdict.WELL, NodeVerdict.SILENT}
            if after.verdict is not before.verdict and grave:
                self._log.info("node_judged", node=name, verdict=after.verdict, cause=after.cause)
                self.on_judged(name, after)
        self.judgements = new

    def _silent_as_most(self, signs: Mapping[str, Signs], now: float) -> frozenset[str]:
        """The nodes that are silent as most are, which is told when it begins and when it ends."""
        before, answering = self._general, self._probes.answering
        self._general = general_silence(signs, answering, self._heard, self.judgements, now)
        count = len(self._general)
        if self._general and not before:
            self._log.warning("most_nodes_silent", silent=count, nodes=len(signs))
        elif before and not self._general:
            self._log.info("most_nodes_heard_again", nodes=len(signs))
        if bool(before) is not bool(count):
            self.on_general(count, len(signs))
        return self._general

    def _remember(self, fresh: frozenset[str], fabric: Fabric) -> None:
        """Count the failures, a leaf once when the last of its nodes falls."""
        count = Counter(self._leaf_of.get(node) for node in self.dead)
        sizes = {leaf.name: len(leaf.nodes) for leaf in fabric.leaves}
        fallen = frozenset(
            leaf for leaf, dead in count.items() if leaf and dead >= max(2, sizes.get(leaf, dead))
        )
        self._half_life()
        self.failures.failed(fresh, fallen - self._fallen, self.clock.wall())
        self._fallen = fallen
        self._saved.changed()

    def _half_life(self) -> None:
        self.failures.half_life = self.cache.config.spec.failures.half_life_hours * HOUR_SECONDS

    def _tell_observed(self, nodes: Mapping[str, Body], fabric: Fabric) -> None:
        self._half_life()
        now = self.clock.wall()
        rates = {
            node.name: RATE_GRAIN_PERMILLE
            * round(self.failures.permille(node.name, leaf.name, now) / RATE_GRAIN_PERMILLE)
            for leaf in fabric.leaves
            for node in leaf.nodes
            if node.name in self.failures.nodes or leaf.name in self.failures.leaves
        }
        withheld = frozenset(
            name for name, one in self.judgements.items() if name in nodes and not one.usable
        )
        self.cache.judge(withheld, {name: rate for name, rate in rates.items() if rate})


def _signs_of(
    body: Body, silence: float | None, conditions: frozenset[str], leaf_dead: bool
) -> Signs:
    broken = ""
    for one in (body.get("status") or {}).get("conditions") or ():
        if one.get("type") in conditions and one.get("status") == "True":
            broken = str(one.get("type"))
    taints = (body.get("spec") or {}).get("taints") or ()
    return Signs(
        ready=ready_status(body),
        silence=silence,
        out_of_service=any(taint.get("key") == OUT_OF_SERVICE for taint in taints),
        broken=broken,
        leaf_dead=leaf_dead,
    )
