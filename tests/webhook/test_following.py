"""The webhook knows the config and the claims as they change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fourleaf.k8s_bridge.cluster.kinds import CONFIG_MAPS, GPU_CLAIMS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster, MemoryStore
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.webhook.cluster_state import CONFIG, follow_claims, follow_config
from fourleaf.webhook.metrics import WebhookMetrics
from fourleaf.webhook.state import State

MAP = Target("kube-system", "topology-scheduler-config")
VALID = "fourleaf_webhook_config_valid"


def config(names: str) -> dict[str, str]:
    """The data of the ConfigMap."""
    head = "apiVersion: topology.scheduler/v1alpha1\nkind: SchedulerConfig\n"
    return {"config.yaml": f"{head}spec: {{schedulerNames: {names}}}\n"}


async def until(true: Callable[[], bool]) -> None:
    """Wait until it is."""
    async with asyncio.timeout(10):
        while not true():
            await asyncio.sleep(0.01)


@asynccontextmanager
async def followed(
    cluster: MemoryCluster, names: tuple[str, ...] = ()
) -> AsyncIterator[tuple[State, WebhookMetrics]]:
    """The state of a webhook that follows both."""
    state, metrics, clock = State(lacking={CONFIG}), WebhookMetrics(), SystemClock()
    work = [
        asyncio.create_task(follow_config(cluster, clock, "kube-system", state, metrics, names)),
        asyncio.create_task(follow_claims(cluster, clock, state)),
    ]
    await until(lambda: not state.lacking)
    try:
        yield state, metrics
    finally:
        for one in work:
            one.cancel()
        await asyncio.gather(*work, return_exceptions=True)


async def test_the_config_counts_while_it_is_good() -> None:
    """Defaults, then the ConfigMap; a bad edit keeps the last good one; then defaults again."""
    cluster = MemoryCluster()
    async with followed(cluster) as (state, metrics):

        def names() -> tuple[str, ...]:
            return state.settings.spec.scheduler_names

        def valid() -> float | None:
            return metrics.registry.get_sample_value(VALID)

        assert names() == ("topology-aware-scheduler", "gpu-scheduler")
        body = {"metadata": {"name": MAP.name}, "data": config("[mine]")}
        await cluster.create(CONFIG_MAPS, "kube-system", body)
        await until(lambda: names() == ("mine",))
        other = {"metadata": {"name": "other"}, "data": config("[other]")}
        await cluster.create(CONFIG_MAPS, "kube-system", other)
        await cluster.patch(CONFIG_MAPS, MAP, {"data": config("nonsense")})
        await until(lambda: valid() == 0)
        assert names() == ("mine",)
        await cluster.delete(CONFIG_MAPS, MAP)
        await until(lambda: names() != ("mine",))
        assert valid() == 1


async def test_a_name_on_the_command_line_wins() -> None:
    """Whatever the ConfigMap says."""
    cluster = MemoryCluster()
    body = {"metadata": {"name": MAP.name}, "data": config("[mine]")}
    await cluster.create(CONFIG_MAPS, "kube-system", body)
    async with followed(cluster, ("given",)) as (state, _):
        assert state.settings.spec.scheduler_names == ("given",)


async def test_claims_come_and_go() -> None:
    """By namespace and name, as they are now."""
    cluster = MemoryCluster()
    name = ("default", "four")
    async with followed(cluster) as (state, _):

        def count() -> int | None:
            body = state.settings.claims.get(name)
            return body["spec"]["devices"]["count"] if body else None

        spec = {"devices": {"count": 4}}
        await cluster.create(GPU_CLAIMS, "default", {"metadata": {"name": "four"}, "spec": spec})
        await until(lambda: count() == 4)
        await cluster.patch(GPU_CLAIMS, Target(*name), {"spec": {"devices": {"count": 8}}})
        await until(lambda: count() == 8)
        await cluster.delete(GPU_CLAIMS, Target(*name))
        await until(lambda: not state.settings.claims)


async def test_a_cluster_without_claims_is_served_too() -> None:
    """Their kind may not be installed."""
    cluster = MemoryCluster(MemoryStore(missing=[GPU_CLAIMS]))
    async with followed(cluster) as (state, _):
        assert state.settings.claims == {}
