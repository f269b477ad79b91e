"""All about one gang, for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from fourleaf.cli.render.gangs import asked_gpus
from fourleaf.cli.render.glyphs import Glyphs
from fourleaf.cli.render.layout import indented, plain_table
from fourleaf.cli.render.proof import proven
from fourleaf.cli.render.queue import age
from fourleaf.cli.render.waiting import waiting_lines
from fourleaf.cli.render.where import Where
from fourleaf.model.reasons.pod_condition import UNBLOCK
from fourleaf.model.reasons.text import counted, listed
from fourleaf.model.running_gang import RepairPolicy
from fourleaf.model.snapshot import Snapshot

if TYPE_CHECKING:
    from fourleaf.cli.answers import Failing, RunningMember, WhyAnswer
    from fourleaf.model.plan import Waiting
    from fourleaf.model.reasons.pod_condition import ConditionReason


_FOLLOWS = {
    None: "nothing moves: repair.enabled is false",
    RepairPolicy.PATCH: "its lost pods go elsewhere",
    RepairPolicy.SHIFT: "its lost pods go elsewhere, and others move for them in its spines",
    RepairPolicy.MOVE: "its lost pods go elsewhere, and others move with them where need be",
    RepairPolicy.WAIT: "the gang waits for it: its repair-policy is wait",
    RepairPolicy.RESTART: "what is left of the gang starts over in the queue",
}
"""What comes of a gang once a node is dead, by its repair policy, None where none is repaired."""


def why_lines(
    answer: WhyAnswer, snapshot: Snapshot, now: float, glyphs: Glyphs
) -> Iterator[RenderableType]:
    """Where the gang stands, and what planning it now comes to."""
    where = Where(snapshot.fabric, glyphs)
    if answer.standing:
        stays = [one for one in answer.standing if not one.ends]
        away = any(one.away for one in stays)
        runs, style = ("runs as far as is known", "yellow") if away else ("runs", "green")
        if not stays:
            runs, style = "ends", "yellow"
        leaves = where.leaves(one.node for one in stays or answer.standing)
        pods = counted(len(stays or answer.standing), "pod")
        ending = len(answer.standing) - len(stays)
        beside = f", and {counted(ending, 'pod')} to end" if stays and ending else ""
        yield _head(answer, f"{runs}: {pods} on {leaves}{beside}", style)
        yield indented(_table(answer.standing))
        yield from map(indented, _troubles(answer.standing))
        if away and answer.failing and not answer.stays:
            yield indented(_what_comes(answer.failing))
        if answer.stays:
            yield _head(answer, "stays as it is, says the scheduler", "yellow")
            yield from _stays(answer, answer.stays)
    gang = answer.gang
    if gang is None:
        return
    if answer.standing:
        yield Text()
    if answer.leaderless:
        yield _head(answer, "no scheduler leads, and nothing starts until one does", "yellow")
        step = "unblock: start a replica; `fourleaf status` says who led last"
        yield indented(Text(step, style="green"))
    facts = f"priority {gang.priority}, {asked_gpus(gang, glyphs)}, {age(now - gang.created)} old"
    if answer.placement:
        nodes = where.nodes(node for _, node in answer.placement.pods)
        leaves = where.leaves(node for _, node in answer.placement.pods)
        yield _head(answer, "would be placed now", "green")
        yield indented(Text(facts, style="dim"))
        yield indented(Text(f"leaves: {leaves}"))
        yield indented(Text(f"nodes in rank order: {nodes}"))
        if answer.status:
            yield indented(Text("plan: ").append(proven(answer.status, answer.gap)))
    elif answer.waiting:
        yield from _waits(answer, answer.waiting, facts)
    elif answer.told and answer.told.kind:
        yield _head(answer, answer.told.kind.value, "yellow")
        yield indented(Text(facts, style="dim"))
        yield from _said(answer.told)
        yield from _not_yielding(answer)
        yield indented(Text("as the scheduler says; --plan plans anew", style="dim"))


def _waits(answer: WhyAnswer, waiting: Waiting, facts: str) -> Iterator[RenderableType]:
    """What a plan says of a gang that waits, and what made its pods of those that are missing."""
    head, *lines = waiting_lines([waiting])
    yield head
    yield indented(Text(facts, style="dim"))
    yield from lines
    yield from _not_yielding(answer)
    if answer.not_created:
        yield indented(Text(f"not created: {answer.not_created}", style="yellow"))


def _not_yielding(answer: WhyAnswer) -> Iterator[RenderableType]:
    """Why no gang of lower priority makes way, taken apart as other words of the scheduler."""
    if answer.not_yielding:
        sentence, _, step = answer.not_yielding.partition(UNBLOCK)
        if step:
            yield indented(Text(f"unblock: {step.rstrip('.')}", style="green"))
        yield indented(Text(f"no preemption: {sentence.rstrip('.')}", style="yellow"))


def _stays(answer: WhyAnswer, told: ConditionReason) -> Iterator[RenderableType]:
    """Why a gang that has lost members is not repaired; places are of use where none is known."""
    yield from _said(told)
    node = next((one.node for one in answer.standing if one.trouble), "")
    if told.kind and node:
        yield indented(Text(f"`fourleaf drain {node}` plans its places anew", style="dim"))


def _said(told: ConditionReason) -> Iterator[RenderableType]:
    """What the scheduler has said, in the order of a plan's own words."""
    for step in told.unblock:
        yield indented(Text(f"unblock: {step}", style="green"))
    sentence, near, miss = told.sentence.partition("; nearest: ")
    yield indented(Text(sentence))
    if near:
        yield indented(Text(f"nearest: {miss}"))


def _troubles(standing: tuple[RunningMember, ...]) -> Iterator[Text]:
    """A line for each trouble, with the pods that have it."""
    of: dict[str, list[str]] = {}
    for one in standing:
        if one.trouble:
            since = "" if one.silent is None else f" for {one.silent:.0f} s"
            of.setdefault(one.trouble, []).append(f"{one.pod} on {one.node}{since}")
    for trouble, pods in of.items():
        yield Text(f"{trouble}: {listed(pods)}", style="yellow")


def _what_comes(failing: Failing) -> Text:
    """What the scheduler makes of a node that sends no heartbeats."""
    if failing.most_away is not None:
        away, nodes = failing.most_away
        return Text(
            f"{away} of {nodes} nodes are silent or not ready: where most fell silent together, "
            "none of them is dead and nothing moves; bring the network back, or delete the nodes "
            "that are surely off",
            style="yellow",
        )
    return Text(
        f"a node is dead after {failing.after_seconds:g} s if its host does not answer the "
        f"scheduler either, or once the API has it for not ready; then {_FOLLOWS[failing.policy]}",
        style="dim",
    )


def _head(answer: WhyAnswer, text: str, style: str) -> Text:
    line = Text(str(answer.key), style="bold")
    line.append(f"  {text}", style=f"not bold {style}")
    return line


def _table(standing: tuple[RunningMember, ...]) -> Table:
    table = plain_table("pod", "node", "leaf", "devices")
    for one in standing:
        devices = ",".join(map(str, one.devices))
        table.add_row(Text(one.pod), Text(one.node), Text(one.leaf), devices)
    return table
