"""Nodes that fall silent one after the other: none is dead until it is known how many they are."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from structlog.testing import capture_logs

from fourleaf.k8s_bridge.cache.cluster_cache import ClusterCache
from fourleaf.k8s_bridge.cache.node_seen import OUT_OF_SERVICE
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import node
from fourleaf.k8s_bridge.ledger.state_lease import StateLease
from fourleaf.k8s_bridge.node_health.heartbeats import Heartbeats
from fourleaf.k8s_bridge.node_health.monitor import FAILURES_LEASE, NodeMonitor
from fourleaf.k8s_bridge.node_health.probe import KubeletAddress
from fourleaf.k8s_bridge.node_health.spreading_silence import SpreadingSilence
from tests.twins.virtual_clock import VirtualClock

COUNT = 40
NAMES = [f"n{i:02}" for i in range(COUNT)]
RENEW_SECONDS = 10


class Room:
    """Forty nodes on as many leaves, of which some are cut off at some second, and a monitor.

    Kubelets renew every ten seconds, four of them in each second.
    """

    def __init__(self) -> None:
        self.clock = VirtualClock()
        self.cluster = MemoryCluster(clock=self.clock)
        self.heartbeats = Heartbeats()
        self.cache = ClusterCache(self.clock)
        self.monitor = NodeMonitor(
            self.cluster,
            self.cache,
            self.heartbeats,
            self,
            StateLease(self.cluster, "kube-system", FAILURES_LEASE, self.clock),
            self.clock,
            lambda *_: None,
            lambda *_: None,
            asyncio.ensure_future,
        )
        self.cut: set[str] = set()
        self.answering: set[str] = set()
        self.out_of_service: set[str] = set()

    async def answers(self, door: KubeletAddress) -> bool:
        """Whether a host is not cut off, or answers though its kubelet does not."""
        return door.host not in self.cut or door.host in self.answering

    async def deaths(self, cut: Mapping[str, int], seconds: int) -> dict[str, int]:
        """When which node is found dead, where these are cut off at these seconds."""
        for name in NAMES:
            body = node(name, f"leaf-{name}", "s")
            if name in self.out_of_service:
                body["spec"] = {"taints": [{"key": OUT_OF_SERVICE, "effect": "NoExecute"}]}
            await self.cluster.create(NODES, "", body)
        self.cache.take_all(NODES, await self.cluster.list(NODES))
        self._beat(range(RENEW_SECONDS))
        found: dict[str, int] = {}
        for second in range(-RENEW_SECONDS, seconds):
            self.cut |= {name for name, at in cut.items() if at <= second}
            self._beat([second % RENEW_SECONDS])
            await self.monitor.look()
            found |= {name: second for name in self.monitor.dead if name not in found}
            self.clock.spend(1)
        return found

    def _beat(self, turns: range | list[int]) -> None:
        now = self.clock.monotonic()
        for index, name in enumerate(NAMES):
            if index % RENEW_SECONDS in turns and name not in self.cut:
                self.heartbeats.heard(name, str(now), now)


@pytest.mark.parametrize("seconds", [20, 30, 40])
async def test_a_cut_that_spreads_over_all_kills_none(seconds: int) -> None:
    """All but two of forty are cut off, evenly over so many seconds: none is dead after 100 s."""
    cut = {name: index * seconds // COUNT for index, name in enumerate(NAMES[:-2])}
    with capture_logs() as logs:
        assert await Room().deaths(cut, 100) == {}
    assert sum(line["event"] == "nodes_fall_silent" for line in logs) == 1


async def test_a_quarter_that_is_cut_off_at_once_is_dead_in_time() -> None:
    """Ten of forty are: the last was heard a second before, and is silent for 21 s at second 20.

    One became late in each second from 2 to 11. In the five seconds up to second 13 that were
    three, less than a tenth, so the first three die then, which were silent for 21 to 23 s.
    """
    cut = dict.fromkeys(NAMES[:10], 0)
    found = await Room().deaths(cut, 60)
    assert found.keys() == cut.keys()
    assert min(found.values()) == 13
    assert max(found.values()) == 20


async def test_kubelets_that_are_restarted_hold_up_no_death() -> None:
    """Ten of forty are, and are late from second 2 to 11; their hosts answer.

    Another node is without power from second 0 on: heard at -10, it is silent for 21 s at 11.
    """
    room = Room()
    room.answering = set(NAMES[:10])
    assert await room.deaths(dict.fromkeys([*NAMES[:10], NAMES[20]], 0), 60) == {NAMES[20]: 11}


async def test_nodes_that_are_taken_out_hold_up_no_death() -> None:
    """Ten of forty are tainted as out of service and switched off: the other one is dead at 11."""
    room = Room()
    room.out_of_service = set(NAMES[:10])
    found = await room.deaths(dict.fromkeys([*NAMES[:10], NAMES[20]], 0), 60)
    assert found[NAMES[20]] == 11


def test_how_many_spread() -> None:
    """Of forty nodes, four in five seconds do; three do not, nor do two of eight, but three do."""
    one = SpreadingSilence()
    names = [f"s{i}" for i in range(20)]
    assert not one.spreads(set(names[:3]), 40, 0)
    assert one.spreads(set(names[:4]), 40, 4)
    assert not one.spreads(set(names[:4]), 40, 5)
    assert one.spreads(set(names[:7]), 40, 6)
    assert not SpreadingSilence().spreads(set(names[:2]), 8, 0)
    assert SpreadingSilence().spreads(set(names[:3]), 8, 0)


def test_nodes_that_fall_silent_for_ever_are_dead_after_a_minute() -> None:
    """Each second one of forty falls silent and one is heard again; at second 4 five are fresh."""
    one = SpreadingSilence()
    spread = [one.spreads({f"s{at + i}" for i in range(8)}, 40, at) for at in range(100)]
    assert spread[:60] == [True] * 60
    assert not any(spread[60:])


def test_each_silence_that_spreads_has_its_own_minute() -> None:
    """One is over at 10; another begins at 100."""
    one = SpreadingSilence()
    assert one.spreads({f"s{i}" for i in range(8)}, 40, 0)
    assert not one.spreads(set(), 40, 10)
    assert one.spreads({f"s{i}" for i in range(8)}, 40, 100)
