"""Dry run: whether the API would bind a gang, asked where other admission looks at bindings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import structlog

from fourleaf.k8s_bridge.cluster.errors import Ambiguous, ClusterError, NotFound, Throttled
from fourleaf.k8s_bridge.cluster.kinds import (
    MUTATING_POLICIES,
    MUTATING_WEBHOOKS,
    VALIDATING_POLICIES,
    VALIDATING_WEBHOOKS,
)
from fourleaf.k8s_bridge.cluster.protocol import Body, Cluster
from fourleaf.k8s_bridge.ledger.binding import binding
from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.k8s_bridge.runtime.backoff import Backoff
from fourleaf.k8s_bridge.runtime.clock import Clock
from fourleaf.k8s_bridge.runtime.concurrency import patiently, together

ADMISSION_SECONDS = 60.0
"""Seconds for which it is known whether admission covers bindings."""

ADMISSION_PATIENCE_SECONDS = 0.5
"""Seconds for which gangs wait for an answer to that."""

ROLLED_BACK_SECONDS = 600.0
"""Seconds for which the API is asked about the gangs of a namespace of which a commit went back."""

DRY_RUN_ATTEMPTS = 8
"""A dry run that is not answered is sent again so often: ten seconds, if the API asks for none."""

_RESOURCES = ("pods/binding", "pods/*", "*/*", "*/binding", "bindings", "*")


Unsaid = Callable[[ClusterError], None]
"""Hears of each answer that does not say whether the API would bind."""


class Unanswered(Exception):
    """The API did not say whether it would bind: it had too much to do, or was not reached."""


def throttles(error: ClusterError) -> bool:
    """Whether the API server itself has too much to do: webhooks may say 429 as well."""
    return error.status == 429 and "admission webhook" not in str(error)


def unheard(_: ClusterError) -> None:
    """Hears nothing of it."""


class DryRun:
    """Asks the API whether it would bind, before anything is decided, where that is `needed`.

    With `auto` it is needed where admission covers bindings, which is looked up once in
    `ADMISSION_SECONDS` and counts as so where that cannot be found out, and for gangs of a
    namespace of which a commit has been rolled back lately.
    """

    def __init__(
        self, cluster: Cluster, clock: Clock, needed: bool = False, auto: bool = False
    ) -> None:
        self._cluster = cluster
        self._clock = clock
        self._auto = auto
        self._known_until = 0.0
        self._looking: asyncio.Task[None] | None = None
        self._looking_since = 0.0
        self._is_covered = auto
        self._always = needed
        self._went_back: dict[str, float] = {}
        """Namespace -> until when its gangs are asked about, on the monotonic clock."""

    @property
    def needed(self) -> bool:
        """Whether the API is asked before any commit, as it is known now."""
        return self._always or self._is_covered

    def is_due(self, namespace: str, ask: bool = False) -> bool:
        """Whether `refusal` would ask the API anything of a gang of `namespace`."""
        unknown = self._auto and self._clock.monotonic() >= self._known_until
        return self._needed_in(namespace) or unknown or (ask and self._auto)

    def _needed_in(self, namespace: str) -> bool:
        until = self._went_back.get(namespace, 0.0)
        return self.needed or self._clock.monotonic() < until

    async def refusal(
        self, members: Sequence[Member], ask: bool = False, unsaid: Unsaid = unheard
    ) -> str:
        """Why the members cannot be bound, "" where they can or the API is not asked.

        With `ask` it is asked unless dry runs are turned off. Raises `Unanswered`; `unsaid` hears
        long before that why there is no answer.
        """
        if self._auto and not self._always and self._clock.monotonic() >= self._known_until:
            await self._know()
        namespace = members[0].pod.namespace if members else ""
        if not self._needed_in(namespace) and not (ask and self._auto):
            return ""
        answers = await together(self._try_out(member, unsaid) for member in members)
        return next(filter(None, answers), "")

    async def _know(self) -> None:
        """Look up admission, once for all that are tried at the same time.

        What is known counts until the answer has come, and as long as nothing is, each binding is
        tried out: a list that hangs would else keep every gang of the cluster.
        """
        now = self._clock.monotonic()
        if self._looking is None or self._looking.done():
            self._looking = asyncio.ensure_future(self._look())
            self._looking_since = now
        left = self._looking_since + ADMISSION_PATIENCE_SECONDS - now
        await patiently([self._looking], self._clock.sleep(max(0.0, left)))
        if self._looking.done():
            # Raises what has ended it.
            self._looking.result()

    async def _look(self) -> None:
        self._is_covered = await admission_covers_bindings(self._cluster)
        self._known_until = self._clock.monotonic() + ADMISSION_SECONDS

    def rolled_back(self, namespace: str) -> None:
        """A commit was rolled back: what refused its members may refuse others of `namespace`.

        Those of other namespaces are not asked about for it: any tenant can make one go back.
        """
        if self._auto:
            now = self._clock.monotonic()
            self._went_back = {name: at for name, at in self._went_back.items() if at > now}
            self._went_back[namespace] = now + ROLLED_BACK_SECONDS

    async def _try_out(self, member: Member, unsaid: Unsaid) -> str:
        backoff = Backoff(self._clock)
        # Of any version: we write conditions to the pod while the API takes its time.
        pod = replace(member.pod, version="")
        for _ in range(DRY_RUN_ATTEMPTS):
            try:
                await self._cluster.bind(binding("dry-run", member, pod), dry_run=True)
            except (Throttled, Ambiguous) as error:
                last = str(error)
                unsaid(error)
                await backoff.wait(error.retry_after)
            except ClusterError as error:
                return f"{member.pod} would not be bound to {member.node}: {error}"
            else:
                return ""
        raise Unanswered(f"{member.pod}: a dry run of its binding was not answered: {last}")


async def admission_covers_bindings(cluster: Cluster) -> bool:
    """Whether a webhook or an admission policy has a rule for bindings of pods.

    True as well where that cannot be found out.
    """
    for kind in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS, VALIDATING_POLICIES, MUTATING_POLICIES):
        try:
            listing = await cluster.list(kind)
        except NotFound:
            continue
        except ClusterError as error:
            structlog.get_logger(__name__).warning("admission_unknown", why=str(error))
            return True
        if any(_matches(rule) for body in listing.items for rule in _rules(body)):
            return True
    return False


def _rules(body: Body) -> Iterator[dict[str, Any]]:
    """The rules of the webhooks of a configuration, or of a policy."""
    for hook in body.get("webhooks") or ():
        yield from hook.get("rules") or ()
    spec = body.get("spec") or {}
    yield from (spec.get("matchConstraints") or {}).get("resourceRules") or ()


def _matches(rule: dict[str, Any]) -> bool:
    groups = rule.get("apiGroups") or ()
    verbs = rule.get("operations") or ()
    resources = rule.get("resources") or ()
    return (
        any(group in ("", "*") for group in groups)
        and any(verb in ("CREATE", "*") for verb in verbs)
        and any(resource in _RESOURCES for resource in resources)
    )
