"""One run of one story, as far as it has got."""

from __future__ import annotations

from collections.abc import Iterator

from tests.explorer.code.door import Fate
from tests.explorer.code.ground import Ground
from tests.explorer.code.leader import Leader
from tests.explorer.code.live import Choice, Live
from tests.explorer.relocation.leader import TermLeader
from tests.explorer.relocation.others import do, due

SIGNAL = "signal"


class LiveStory(Live):
    """Two leaders over one store, kubelets, and the controllers that make up for members.

    Whatever these do while the leader that went last could go on counts as an interruption,
    and so does a request of its own that overtakes an older one.
    """

    def go(self, choice: Choice) -> str:
        """Let that happen, and all that follows without asking; in words."""
        if choice.who in self.leaders or choice.who == "network":
            # Who is refused for good has no claim to a place.
            self.store.excused = self.store.excused or choice.fate is Fate.REFUSED
            return super().go(choice)
        self.preemptions += self._interrupts(choice)
        if choice.who == SIGNAL:
            old = self.leaders["old"]
            old.view.lose(frozenset({*old.view.dead, choice.name}))
            old.note(choice.name.encode())
            return f"signal: the old leader holds {choice.name} for unusable"
        return do(self.store, self.scenario, choice.who, choice.name)

    def _leader(self, name: str, ground: Ground) -> Leader:
        return TermLeader(self.scenario, name, self.store, self.loop, self.late, ground.layout)

    def _others(self) -> Iterator[Choice]:
        for who, name in due(self.store, self.scenario):
            yield Choice(who, name=name)
        doubted, old, new = self.scenario.doubted, self.leaders["old"], self.leaders["new"]
        if doubted and new.leads and doubted not in old.view.dead:
            yield Choice(SIGNAL, name=doubted)

    def _interrupts(self, choice: Choice) -> bool:
        """Whether the leader that went last could have gone on, with its oldest request."""
        calls = self._calls(self.last) if self.last else []
        return bool(calls) and (choice.who, choice.number) != (self.last, calls[0].number)
