"""Node monitor: gathers the signs, judges, remembers failures, names the dead nodes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import structlog

from fourleaf.k8s_bridge.cache.catch_up import catch_up
from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cache.node_seen import NodeSeen
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.ledger.binding_trials import Spawn
from fourleaf.k8s_bridge.ledger.state_lease import SavedInTime, StateLease
from fourleaf.k8s_bridge.node_health.deleted_nodes import DeletedNodes
from fourleaf.k8s_bridge.node_health.failure_rates import FailureRates
from fourleaf.k8s_bridge.node_health.general_silence import GeneralSilence
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
from fourleaf.k8s_bridge.node_health.spreading_silence import SpreadingSilence
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.model.fabric import Fabric

JUDGE_SECONDS = 1.0
"""Seconds between two looks."""
FAILURES_LEASE = "fourleaf-node-failures"
"""The Lease that keeps the failures."""
HOUR_SECONDS = 3600.0
RATE_GRAIN_PERMILLE = 10
"""Failure rates are rounded to so many thousandths: a finer one would give a new fabric often."""


@dataclass(slots=True, eq=False)
class NodeMonitor:
    """The judgements of one term. `died` is set when another node is found dead.

    `on_judged` gets every node that is found dead, is heard again, or is well again, `on_general`
    how many of how many nodes are silent when these are most, and 0 when that is over.
    Failures are `kept`. `spawn` runs what asks the API server for nodes that are gone.
    """

    cluster: Cluster
    cache: ClusterCache
    heartbeats: Heartbeats
    prober: Prober
    kept: StateLease
    clock: Clock
    on_judged: Callable[[str, Judgement], None]
    on_general: Callable[[int, int], None]
    spawn: Spawn
    died: asyncio.Event = field(default_factory=asyncio.Event)
    judgements: dict[str, Judgement] = field(default_factory=dict)
    failures: FailureRates = field(default_factory=lambda: FailureRates(HOUR_SECONDS))
    _leaf_of: dict[str, str] = field(default_factory=dict)
    _laid_out: Fabric | None = None
    """The fabric whose leaves these are."""
    _gone: DeletedNodes = field(init=False)
    _probes: Probes = field(init=False)
    _saved: SavedInTime = field(init=False)
    _fallen: frozenset[str] = frozenset()
    _is_loaded: bool = False
    _fresh: frozenset[str] = frozenset()
    """Nodes whose failure is not counted yet, as the kept ones are not loaded."""
    _inherited: frozenset[str] = frozenset()
    """Nodes whose failure an earlier leader has counted, as far as they were not well since."""
    _general: GeneralSilence = field(default_factory=GeneralSilence)
    _spreading: SpreadingSilence = field(default_factory=SpreadingSilence)
    _spread: bool = False
    _dead: tuple[dict[str, Judgement] | None, frozenset[str]] = (None, frozenset())
    """The judgements that were looked at last, and the nodes that are dead by them."""
    _log: structlog.stdlib.BoundLogger = field(default_factory=structlog.get_logger)

    def __post_init__(self) -> None:
        self._probes = Probes(self.prober)
        self._gone = DeletedNodes(self.cluster, self.clock, self.spawn)
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
        while True:
            await self.look()
            await self.clock.sleep(JUDGE_SECONDS)

    async def keep(self) -> None:
        """Load how often nodes have failed, and save it from then on, until cancelled.

        Beside the judging: a Lease about which the API does not answer makes no death late.
        """
        text = await self.kept.load(float("inf"))
        self._half_life()
        if text and not self.failures.read(text):
            self.kept.unreadable()
        self._inherit()
        while True:
            await self._saved.save(lambda: self.failures.content(self.clock.wall()))
            await self.clock.sleep(JUDGE_SECONDS)

    def _inherit(self) -> None:
        """Go on with the nodes that were lost under the leader before: none is well at once."""
        self._is_loaded, self._inherited = True, self.failures.lost
        returning = Judgement(NodeVerdict.RETURNING, since=self.clock.monotonic())
        self.judgements = self.judgements | dict.fromkeys(self._inherited - self.dead, returning)

    async def look(self) -> None:
        """Judge every node once."""
        await catch_up(self.cache, self.clock)
        nodes = self._nodes()
        signs = self._signs(nodes)
        lost = frozenset(name for name, one in self.judgements.items() if not one.usable)
        suspects = [
            name
            for name, one in signs.items()
            # Where no kubelet is heard, only its host can tell that a lost node is back.
            if is_suspect(one) or (one.hushed and one.there and name in lost)
        ]
        asked = frozenset(suspects)
        well = [name for name, one in signs.items() if one.there and name not in asked]
        answers = await self._probes.answers(nodes, suspects, well)
        if suspects:
            # Many probes take many seconds, in which who was silent may have been heard.
            nodes = self._nodes()
            signs = self._signs(nodes)
            late = {name for name, one in signs.items() if is_suspect(one)}
            answers |= dict.fromkeys(late - asked, True)
        fabric = self.cache.reading().snapshot.fabric
        before = self.dead
        self._judge(signs, answers)
        fresh = self.dead - before
        self._fresh |= fresh
        if self._is_loaded:
            self._remember(fabric)
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
        now, snapshot = self.clock.monotonic(), self.cache.reading().snapshot
        if snapshot.fabric is not self._laid_out:
            self._laid_out = snapshot.fabric
            known = {name: self._leaf_of[name] for name in self.judgements if name in self._leaf_of}
            listed = {one.name: leaf.name for leaf in snapshot.fabric.leaves for one in leaf.nodes}
            self._leaf_of = known | listed
        self._gone.see({pod.node for pod in snapshot.running if pod.ours} - nodes.keys())
        conditions = frozenset(self.cache.config.spec.failures.conditions)
        hushed = self.heartbeats.hushed(now)
        leaves = {self._leaf_of.get(node) for node in self.dead} - {None}
        found = {
            name: _signs_of(
                seen,
                self.heartbeats.silence(name, now),
                self.heartbeats.renewed(name),
                conditions,
                bool(leaves) and self._leaf_of.get(name) in leaves,
                hushed,
            )
            for name, seen in self.cache.nodes.items()
        }
        confirmed = self._gone.confirmed
        return found | {
            name: Signs(there=False, deleted=name in confirmed) for name in self._gone.gone
        }

    def _judge(self, signs: Mapping[str, Signs], answers: Mapping[str, bool | None]) -> None:
        now, limits = self.clock.monotonic(), self._limits()
        self._see_general_silence(signs, now, limits.silent)
        spared = self._general.exempt | self._undecided(signs, now)
        new = {}
        for name, one in signs.items():
            before = self.judgements.get(name, Judgement())
            seen = one
            if name in answers:
                answered = name in self._probes.answering
                seen = replace(one, answers=answers[name], answered=answered)
            if name in spared:
                seen = replace(seen, general=True)
            new[name] = after = judge(before, seen, limits, now)
            grave = {before.verdict, after.verdict} - {NodeVerdict.WELL, NodeVerdict.SILENT}
            if after.verdict is not before.verdict and grave:
                self._log.info("node_judged", node=name, verdict=after.verdict, cause=after.cause)
                self.on_judged(name, after)
        self.judgements = new

    def _see_general_silence(self, signs: Mapping[str, Signs], now: float, hold: float) -> None:
        """Look whether most nodes are silent, which is told when it begins and when it is over."""
        before = self._general.exempt
        self._general.see(signs, self._probes.answering, self.judgements, now, hold)
        count = len(self._general.exempt)
        if count and not before:
            self._log.warning("most_nodes_silent", silent=count, nodes=len(signs))
        elif before and not count:
            self._log.info("most_nodes_heard_again", nodes=len(signs))
        if bool(before) is not bool(count):
            self.on_general(count, len(signs))

    def _undecided(self, signs: Mapping[str, Signs], now: float) -> frozenset[str]:
        """Silent nodes of which others fall silent one after the other right now."""
        there = [name for name, one in signs.items() if one.there and not one.out_of_service]
        silent = frozenset(
            name for name in there if is_suspect(signs[name]) and name not in self._probes.answering
        )
        before = self._spread
        self._spread = self._spreading.spreads(silent, len(there), now)
        if self._spread and not before:
            self._log.warning("nodes_fall_silent", silent=len(silent), nodes=len(there))
        return silent if self._spread else frozenset()

    def _remember(self, fabric: Fabric) -> None:
        """Note which nodes are lost, and count those that have failed since the last look."""
        lost = frozenset(name for name, one in self.judgements.items() if not one.usable)
        self._inherited &= lost
        if lost != self.failures.lost:
            self.failures.lost = lost
            self._saved.changed()
        # A leaf of which nodes are back may fall as a whole once more.
        self._fallen &= frozenset(self._leaf_of.get(one, "") for one in self.dead)
        if self._fresh:
            self._count(self._fresh - self._inherited, fabric)
            self._fresh = frozenset()

    def _count(self, fresh: frozenset[str], fabric: Fabric) -> None:
        """Count the failures, a leaf once when the last of its nodes falls."""
        count = Counter(self._leaf_of.get(node) for node in self.dead)
        sizes = {leaf.name: len(leaf.nodes) for leaf in fabric.leaves}
        fallen = frozenset(
            leaf for leaf, dead in count.items() if leaf and dead >= max(2, sizes.get(leaf, dead))
        )
        self._half_life()
        leaves = frozenset(self._leaf_of.get(node) for node in fresh)
        self.failures.failed(fresh, (fallen - self._fallen) & leaves, self.clock.wall())
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
        # Where most are silent a pod may never start, and its gang would not be repaired.
        silent = self._general.exempt
        withheld = frozenset(
            name
            for name, one in self.judgements.items()
            if name in nodes and (name in silent or not one.usable)
        )
        doubted = frozenset(name for name in silent & withheld if self.judgements[name].usable)
        rates = {name: rate for name, rate in rates.items() if rate}
        self.cache.judge(withheld, rates, doubted)


def _signs_of(
    seen: NodeSeen,
    silence: float | None,
    renewed: str,
    conditions: frozenset[str],
    leaf_dead: bool,
    hushed: bool,
) -> Signs:
    return Signs(
        ready=seen.ready,
        silence=silence,
        out_of_service=seen.out_of_service,
        broken=next((one for one in reversed(seen.true) if one in conditions), ""),
        leaf_dead=leaf_dead,
        renewed=renewed,
        hushed=hushed,
    )
