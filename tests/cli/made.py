"""Snapshots and plans made by hand, on which rendering is tested."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from rich.console import Console, RenderableType

from fourleaf.model.fabric import Fabric, Leaf
from fourleaf.model.gang import GangKey
from fourleaf.model.node import Node
from fourleaf.model.plan import Move, Phantom, Placement, Plan, PlanStatus, Stage, Waiting
from fourleaf.model.readers import open_paths, read
from fourleaf.model.reasons.kinds import NearMiss, Reason, ReasonKind
from fourleaf.model.resources import Resources
from fourleaf.model.snapshot import Snapshot

EXAMPLES = Path(__file__).parents[2] / "examples"
GOLDEN = Path(__file__).parent / "golden"


@cache
def example() -> Snapshot:
    """What `examples/` holds."""
    return read(open_paths([EXAMPLES])).snapshot


def text(lines: Iterable[RenderableType], width: int = 80) -> str:
    """`lines` as they look without colours in `width` columns."""
    console = Console(width=width, color_system=None, highlight=False, markup=False)
    with console.capture() as capture:
        for line in lines:
            console.print(line)
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def fabric(spines: int, leaves: int, nodes: int) -> Snapshot:
    """An empty fabric, each leaf of `nodes` nodes with 8 GPUs."""
    made = []
    for spine in range(spines):
        for leaf in range(leaves):
            name = f"leaf-{spine}-{leaf}"
            hosts = tuple(
                Node(f"{name}-{i}", name, f"spine-{spine}", Resources(gpus=8, pods=110))
                for i in range(nodes)
            )
            made.append(Leaf(name, f"spine-{spine}", hosts))
    return Snapshot(Fabric(tuple(made)))


def placed(key: GangKey, hosts: Iterable[str], *terms: tuple[str, int]) -> Placement:
    """A gang with one pod on each of `hosts`."""
    return Placement(key, tuple((f"{key.name}-{i}", host) for i, host in enumerate(hosts)), terms)


def of_example(key: GangKey, hosts: Iterable[str], *terms: tuple[str, int]) -> Placement:
    """A gang of the examples, its members on `hosts` in rank order."""
    gang = next(gang for gang in example().gangs if gang.key == key)
    pods = [pod for role in gang.roles for pod in role.pods]
    return Placement(key, tuple(zip(pods, hosts, strict=True)), terms)


def example_plan() -> Plan:
    """A plan for the examples that shows everything that a plan can hold."""
    mixtral, deepseek = GangKey("ml", "mixtral-sft"), GangKey("serving", "deepseek-0")
    chat = [GangKey("serving", "chat-0"), GangKey("serving", "chat-1")]
    reason = Reason(
        ReasonKind.NO_ADJACENT_LEAVES,
        counts=(("leaves", 4), ("needed", 16), ("free", 50)),
        near=(NearMiss("leaf-02", 3, 4, holders=(("gpu-09", "vision/sam-finetune-0"),)),),
        unblock=("Wait for vision/sam-finetune-0 on gpu-09 to end, or move it.",),
    )
    return Plan(
        status=PlanStatus.OPTIMAL,
        placements=(
            of_example(
                mixtral,
                [f"gpu-{44 + i}" for i in range(8)],
                ("resourceAvailability", 5504),
                ("topologyAlignment", 27392),
                ("domainUtilization", 18240),
                ("historicalPerformance", 6080),
                ("bandwidth", -640),
            ),
            of_example(
                deepseek,
                ("gpu-12", "gpu-13", "gpu-14", "gpu-15"),
                ("resourceAvailability", 8000),
                ("topologyAlignment", 9600),
                ("domainUtilization", 6400),
                ("historicalPerformance", 3200),
            ),
            *(of_example(key, ("gpu-52",), ("resourceAvailability", 1208)) for key in chat),
        ),
        waiting=(Waiting(GangKey("ml", "llama-pretrain"), reason),),
        phantoms=(Phantom(2, 8, ("gpu-00", "gpu-01"), 480), Phantom(2, 8, ("gpu-02",), 480)),
        moves=(Move("serving", "embedder-2", "gpu-61", "gpu-24", "gpu-61 is drained"),),
        stages=(
            Stage("who 100", True, 1024, 1024, 0.004),
            Stage("who 50", True, 576, 576, 0.003),
            Stage("where", True, 12345, 12345, 0.021),
        ),
        objective=12345,
        bound=12345,
        seconds_build=0.012,
        seconds_solve=0.029,
        peak_memory_mib=96,
    )


def within_a_gap(plan: Plan) -> Plan:
    """`plan` as it looks where its places are proven within a gap."""
    stages = (*plan.stages[:-1], replace(plan.stages[-1], bound=12593))
    return replace(plan, stages=stages, bound=12593)


def unproven(plan: Plan) -> Plan:
    """`plan` as it looks when the time ran out in its last stage."""
    stages = (*plan.stages[:-1], replace(plan.stages[-1], proven=False, bound=12593))
    return replace(plan, status=PlanStatus.FEASIBLE, stages=stages, bound=12593)
