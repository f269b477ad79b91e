"""The demo on a terminal: the fabric, the queue, what happens, and what is proven."""

from __future__ import annotations

import asyncio

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from fourleaf.cli.demo.diary import Diary, Note
from fourleaf.cli.demo.observers import DemoObserver, lines_of, proof
from fourleaf.cli.render.fabric_map import fabric_map
from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.k8s_bridge.scheduler import Scheduler
from fourleaf.model.gang import GangKey
from fourleaf.model.plan import Placement, Plan, PlanStatus
from fourleaf.model.snapshot import Snapshot

PICTURE_SECONDS = 0.125
"""Seconds between two pictures."""
MOST_WAITING_SHOWN = 3
"""How many waiting gangs are shown with their reasons."""

STYLES = {
    "bound": "green",
    "waits": "yellow",
    "cordoned": "red",
    "planned": "cyan",
}
_NOBODY = GangKey("", "")


class Screen:
    """Draws on a terminal while its block runs; elsewhere it keeps the last picture alone."""

    def __init__(
        self,
        console: Console,
        glyphs: Glyphs,
        scheduler: Scheduler,
        witness: DemoObserver,
        diary: Diary,
    ) -> None:
        self._console = console
        self._glyphs = glyphs
        self._scheduler = scheduler
        self._witness = witness
        self._diary = diary
        self._slots: list[GangKey] = []
        self._live = Live(console=console, auto_refresh=False)

    def __enter__(self) -> Screen:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    async def run(self) -> None:
        """Draw again and again, until cancelled."""
        while True:
            self.draw()
            await asyncio.sleep(PICTURE_SECONDS)

    def draw(self) -> None:
        """Draw what there is now."""
        if self._console.is_terminal:
            self._live.update(Group(*self._picture()), refresh=True)

    def keep(self) -> None:
        """Print the fabric as it stands in the end, where no screen has shown it."""
        if not self._console.is_terminal:
            snapshot = self._scheduler.cache.reading().snapshot
            self._console.print()
            for one in self._fabric(snapshot):
                self._console.print(one, soft_wrap=True)

    def _fabric(self, snapshot: Snapshot) -> list[RenderableType]:
        shown = self._as_placed(snapshot)
        width = self._console.width - 1
        return [
            self._head(snapshot),
            *fabric_map(snapshot, shown, width, self._glyphs, "a gang"),
        ]

    def _picture(self) -> list[RenderableType]:
        snapshot = self._scheduler.cache.reading().snapshot
        lines = self._fabric(snapshot) + self._queue()
        room = max(4, self._console.height - len(lines) - 3)
        lines += [Text(), Text("events", style="bold")]
        lines += [_cut(line(note)) for note in self._diary.notes[-room:]]
        return lines

    def _head(self, snapshot: Snapshot) -> Text:
        total = sum(node.allocatable.gpus for node in snapshot.fabric.nodes.values())
        used = sum(held.gpus for held in snapshot.used.values())
        text = Text(f"fourleaf demo  {self._diary.now:4.1f} s  ", style="bold")
        text.append(f"{used} of {total} GPUs busy  ", style="not bold")
        if self._witness.plan is not None:
            text.append(f"last plan {proof(self._witness.plan)}", style="not bold green")
        return _cut(text)

    def _queue(self) -> list[RenderableType]:
        waiting = self._witness.waiting
        gangs = "1 gang" if len(waiting) == 1 else f"{len(waiting)} gangs"
        lines: list[RenderableType] = [Text(), Text(f"waiting: {gangs}", style="bold")]
        for one in waiting[:MOST_WAITING_SHOWN]:
            lines.append(_cut(Text(f"  {one.gang}  {one.reason.kind.value}", style="yellow")))
            lines += [_cut(Text(f"    {text}")) for text in lines_of(one)]
        return lines

    def _as_placed(self, snapshot: Snapshot) -> Plan:
        """What runs, as a plan: the map gives each gang of a plan a letter by its position.

        A gang keeps its position for as long as it runs, and with it letter and colour.
        """
        nodes: dict[GangKey, list[tuple[str, str]]] = {}
        for pod in snapshot.running:
            if pod.gang is not None and pod.ours:
                nodes.setdefault(pod.gang, []).append((pod.name, pod.node))
        self._slots = [key if key in nodes else _NOBODY for key in self._slots]
        for key in nodes:
            if key not in self._slots:
                if _NOBODY in self._slots:
                    self._slots[self._slots.index(_NOBODY)] = key
                else:
                    self._slots.append(key)
        placements = tuple(Placement(key, tuple(nodes.get(key, ()))) for key in self._slots)
        return Plan(PlanStatus.GREEDY, placements)


def line(note: Note) -> Text:
    """A note on one line."""
    text = Text(f"{note.at:6.1f} s  ", style="dim")
    text.append(f"{note.word:10}  ", style=f"not dim {STYLES.get(note.word, 'default')}")
    text.append(note.text, style="not dim")
    return text


def _cut(text: Text) -> Text:
    text.no_wrap, text.overflow = True, "ellipsis"
    return text
