"""One run of one scenario, as far as it has got."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

import orjson

from fourleaf.k8s_bridge.cluster.kinds import PODS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.memory.actors import gang
from fourleaf.k8s_bridge.cluster.memory.requests import ApiRequest
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.k8s_bridge.ledger.formats.codec import KNOWN
from fourleaf.k8s_bridge.ledger.record_store import Formats
from tests.explorer.code.door import Call, Fate, arrive
from tests.explorer.code.ground import Ground
from tests.explorer.code.leader import Leader
from tests.explorer.code.scenario import Bounds, Scenario
from tests.explorer.code.turns import Turns
from tests.k8s_bridge.ledger.harness import TEAM


@dataclass(frozen=True, slots=True)
class Choice:
    """What happens next: `who` is a leader, or `kubelet`, `network` or `owner`.

    `number` is that of the leader's request, or of the late request; `name` a pod.
    """

    who: str
    number: int = 0
    fate: Fate = Fate.DONE
    name: str = ""


class Live:
    """Two leaders over one store; nothing moves but by `go`."""

    def __init__(self, scenario: Scenario, ground: Ground, bounds: Bounds) -> None:
        self.scenario = scenario
        self.bounds = bounds
        self.store = ground.store.copy()
        self.loop = Turns()
        self.late: list[ApiRequest] = []
        self.leaders = {name: self._leader(name, ground) for name in ("old", "new")}
        self.faults = 0
        self.preemptions = 0
        self.last = ""
        self.replaced = not scenario.replaced
        self.leaders["old"].know(ground.pages)
        self.leaders["old"].start(scenario.old)
        self.leaders["new"].start(scenario.new)
        self.loop.settle()
        for leader in self.leaders.values():
            leader.check()

    def choices(self) -> Iterator[Choice]:
        """All that may happen next, first what goes on without a fault or an interruption."""
        names = sorted(self.leaders, key=lambda name: name != self.last)
        for name in names:
            for call in self._calls(name):
                if self._may(choice := Choice(name, call.number)):
                    yield choice
        yield from filter(self._may, self._others())
        for number in range(len(self.late)):
            yield Choice("network", number)
        if self.faults < self.bounds.faults:
            for name in names:
                for call in self._calls(name):
                    if self._may(Choice(name, call.number)):
                        yield from (Choice(name, call.number, fate) for fate in call.fates[1:])

    def go(self, choice: Choice) -> str:
        """Let that happen, and all that follows without asking; in words."""
        match choice.who:
            case "kubelet":
                self.store.finish(TEAM, choice.name)
                return f"kubelet: {choice.name} has stopped"
            case "network":
                request = self.late.pop(choice.number)
                self.loop.create_task(self._arrive(request))
                self.loop.settle()
                return f"network: a late {request.verb} {request.target.name} arrives"
            case "owner":
                return self._own(choice.name)
        return self._let(choice)

    def _leader(self, name: str, ground: Ground) -> Leader:
        leader = Leader(name, self.store, self.loop, self.late, ground.layout)
        if name == "new" and self.scenario.raised:
            leader.records.formats = Formats(configured=lambda: KNOWN[-1])
        return leader

    def _others(self) -> Iterator[Choice]:
        """What those may do who are no leaders."""
        for record in self.store.pods():
            if "deletionTimestamp" in record.metadata:
                yield Choice("kubelet", name=record.metadata["name"])
            elif not self.replaced and record.metadata["name"] == self.scenario.replaced:
                yield Choice("owner", name=record.metadata["name"])

    @property
    def key(self) -> bytes:
        """Tells this moment from all others from which something else may follow."""
        late = [self._request(request) for request in self.late]
        state = (
            self.store.digest(),
            [leader.key for leader in self.leaders.values()],
            late,
            self.faults,
            (self.preemptions, self.last) if self.bounds.preemptions is not None else None,
            self.replaced,
        )
        return hashlib.blake2b(repr(state).encode(), digest_size=16).digest()

    @property
    def at_rest(self) -> bool:
        """Whether nobody wants anything, nothing is on its way, and the new leader lives."""
        return not self.late and not self.leaders["new"].end and not any(self.choices())

    def _calls(self, name: str) -> list[Call]:
        leader = self.leaders[name]
        calls = [call for _, call in sorted(leader.door.waiting.items())]
        return [call for call in calls if call.request is not None or not leader.idle]

    def _may(self, choice: Choice) -> bool:
        bound = self.bounds.preemptions
        return bound is None or self.preemptions + self._interrupts(choice) <= bound

    def _interrupts(self, choice: Choice) -> bool:
        """Whether the leader that went last could have gone on."""
        if choice.who not in self.leaders:
            return False
        return self.last not in ("", choice.who) and bool(self._calls(self.last))

    def _let(self, choice: Choice) -> str:
        leader = self.leaders[choice.who]
        call = leader.door.waiting[choice.number]
        self.preemptions += self._interrupts(choice)
        self.last = choice.who
        self.faults += choice.fate is not Fate.DONE
        leader.asked = leader.asked or call.request is not None
        leader.note(f"{choice.number} {choice.fate}".encode(), self._answer(call.request))
        call.fate.set_result(choice.fate)
        self.loop.settle()
        leader.note(self.store.digest_of_pods())
        leader.check()
        fate = "" if choice.fate is Fate.DONE else f" ({choice.fate.upper()})"
        end = f", and ends: {leader.end}" if leader.end else ""
        return f"{choice.who}: {call}{fate}{end}"

    def _answer(self, request: ApiRequest | None) -> bytes:
        """What the answer depends on, beside the request itself."""
        if request is None:
            return b""
        if request.verb == "list":
            return b"".join(map(self.store.digest_of, self.store.records(request.kind)))
        for record in self.store.records(request.kind, request.target.namespace):
            if record.metadata["name"] == request.target.name:
                return self.store.digest_of(record)
        return b"none"

    def _request(self, request: ApiRequest) -> str:
        body = request.body
        text = orjson.dumps(body).decode() if isinstance(body, dict) else repr(body)
        return f"{request.verb} {request.subresource} {request.target!r} {text}"

    async def _arrive(self, request: ApiRequest) -> None:
        await arrive(MemoryCluster(self.store, identity=request.identity), request)

    def _own(self, name: str) -> str:
        self.replaced = True
        record = self.store.find(PODS, Target(TEAM, name))
        self.store.remove(record)
        if any(r.metadata["name"] == name for r in self.store.pods()):
            self.store.finish(TEAM, name)
        title, _, number = name.rpartition("-")
        size = self.scenario.gangs[title]
        self.store.create(PODS, TEAM, gang(title, size, gpus=1)[int(number)])
        return f"owner: deletes {name} and creates another of that name"
