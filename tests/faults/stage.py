"""One run of one scenario: two replicas behind proxies, a namespace, and what it takes to act."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, TypeVar

from tests.controlplane.api import Api, ApiError
from tests.controlplane.waiting import eventually
from tests.e2e.checker import breaches, holds
from tests.faults.actor import Actor
from tests.faults.gangs import Gang
from tests.faults.ground import LEASES, ROLES, Ground
from tests.history.check import Expectations, Verdict
from tests.history.watching import watching

LEADER = f"{LEASES}/fourleaf-scheduler"
PATIENCE = 60.0
"""Seconds for what an idle machine does in one or two."""

Answer = TypeVar("Answer")


class Stage:
    """What a scenario acts on. `chance` is all that it may draw from.

    In a `brief` run pauses may be shorter than what is promised. `run` records all versions of
    what is on the cluster, and `expected` is what its history is judged by; a scenario may set
    it, and `verdict` is what it was found to be. To be used as a context.
    """

    def __init__(
        self, ground: Ground, name: str, seed: int, folder: Path, brief: bool = False
    ) -> None:
        self.ground = ground
        self.plane = ground.plane
        self.api: Api = ground.api
        self.seed = seed
        self.brief = brief
        self.chance = random.Random(f"{name}:{seed}")  # noqa: S311 - a seed that repeats a run
        self.folder = folder
        self.gangs: list[Gang] = []
        self.expected = Expectations()
        self.verdict: Verdict | None = None
        self._watching = ExitStack()

    def __enter__(self) -> Stage:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.run = self._watching.enter_context(
            watching(self.plane.kubeconfig(), self.plane.audit_log)
        )
        self.namespace = self.api.new_namespace()
        self.actors = tuple(Actor(self.plane, role, self.folder) for role in ROLES)
        self.a, self.b = self.actors
        return self

    def __exit__(self, *_: object) -> None:
        for actor in self.actors:
            actor.proxy.save(self.folder / f"{actor.role}.requests")
            actor.close()
        (self.folder / "audit.log").write_text(self.audit_text())
        self._watching.close()
        self.ground.clean()
        with suppress(ApiError):
            self.api.delete(f"/api/v1/namespaces/{self.namespace}")

    def lead(self, *arguments: str, prefix: Sequence[str] = ()) -> tuple[Actor, Actor]:
        """Start both replicas; once one leads and the other could, tell which is which.

        `prefix` is of the first replica alone.
        """
        more = (*self.ground.needs.arguments, *arguments)
        first, second = self.chance.sample(self.actors, 2)
        first.start(*more, prefix=prefix)
        self.wait(lambda: first.leads, f"{first.role} leads")
        second.start(*more)
        self.wait(lambda: second.ready, f"{second.role} is ready")
        return first, second

    def submit(self, name: str, pods: int = 8, gpus: int = 8, **annotations: str) -> Gang:
        """Create a gang, whose pods come in any order."""
        gang = Gang(self.namespace, name, pods, gpus)
        self.gangs.append(gang)
        order = self.chance.sample(range(pods), pods)
        path = f"/api/v1/namespaces/{self.namespace}/pods"
        for i in order:
            self.api.create(path, gang.body(i, **annotations))
        return gang

    def pods(self, gang: Gang | None = None) -> list[dict[str, Any]]:
        """The pods of the run, or those of one gang."""
        items = self.api.get(f"/api/v1/namespaces/{self.namespace}/pods")["items"]
        wanted = set(gang.names) if gang else None
        return [one for one in items if wanted is None or one["metadata"]["name"] in wanted]

    def bound(self, gang: Gang) -> int:
        """How many pods of the gang hold their GPUs."""
        return sum(holds(pod) for pod in self.pods(gang))

    def runs(self, gang: Gang, timeout: float = PATIENCE) -> None:
        """Wait until the whole gang is bound."""
        self.wait(lambda: self.bound(gang) == gang.pods, f"all of {gang.name} is bound", timeout)

    def delete(self, gang: Gang) -> None:
        """Delete all pods of the gang."""
        for name in gang.names:
            with suppress(ApiError):
                path = f"/api/v1/namespaces/{self.namespace}/pods/{name}?gracePeriodSeconds=0"
                self.api.delete(path)

    def wait(self, ask: Callable[[], Answer], what: str, timeout: float = PATIENCE) -> Answer:
        """Ask until the answer is true. Raises `AssertionError` after `timeout` seconds."""
        return eventually(ask, what, timeout)

    def leader_lease(self) -> dict[str, Any]:
        """The spec of the Lease that says who leads, {} where it is empty or not there."""
        try:
            return self.api.get(LEADER).get("spec") or {}
        except ApiError as error:
            if error.status != 404:
                raise
            return {}

    def leases(self) -> list[dict[str, Any]]:
        """All Leases of the scheduler's namespace."""
        items: list[dict[str, Any]] = self.api.get(LEASES)["items"]
        return items

    def audit_text(self) -> str:
        """The lines of the audit log that this run has written so far."""
        return self.ground.audit_text(self.run.start)

    def settle(self) -> None:
        """End all faults; then everything has to come to rest, without a breach, under one leader.

        Raises `AssertionError` where it does not.
        """
        for actor in self.actors:
            actor.proxy.clear()
            actor.resume() if actor.running else None
        running = [actor for actor in self.actors if actor.running]
        names = [gang.names for gang in self.gangs]
        with ThreadPoolExecutor(len(self.actors)) as pool:
            if running:
                self.wait(
                    lambda: sum(pool.map(lambda one: one.leads, running)) == 1, "one replica leads"
                )
        try:
            self.wait(lambda: not breaches(self.api, names), "at rest without a breach")
        except AssertionError:
            raise AssertionError(f"not at rest: {breaches(self.api, names)}") from None
        self.verdict = self.run.judge(self.expected)
