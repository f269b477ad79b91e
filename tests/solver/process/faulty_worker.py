"""A solver process that fails as the name of the first gang says; other gangs are seated."""

from __future__ import annotations

import ctypes
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from fourleaf.model.fabric import Fabric
from fourleaf.model.plan import Plan, PlanStatus, Stage
from fourleaf.model.snapshot import Snapshot
from fourleaf.solver.process.framing import HEADER, frame, write_all
from fourleaf.solver.process.messages import Task
from fourleaf.solver.process.worker import Solve, run
from tests.solver.process.stand_ins import seat

EVIL_MARK = "FOURLEAF_TEST_EVIL_MARK"
LOAD_FAULT = "FOURLEAF_TEST_LOAD_FAULT"
FABRICS: list[Fabric] = []


class Evil:
    """Touches a file when it is unpickled."""

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path(os.environ.get(EVIL_MARK, os.devnull)),)


def answer_raw(data: bytes) -> None:
    """Write `data` where an answer belongs."""
    write_all(int(sys.argv[1]), data)


def sleep_for_good() -> NoReturn:
    """Give no further sign of life, and leave the processor alone."""
    while True:
        time.sleep(60)


def stop() -> None:
    """Stop as a debugger would."""
    os.kill(os.getpid(), signal.SIGSTOP)


def spin() -> None:
    """Overrun every limit."""
    while True:
        pass


def say(data: bytes) -> Callable[[], NoReturn]:
    """Answer `data` and hang."""

    def lie() -> NoReturn:
        answer_raw(data)
        sleep_for_good()

    return lie


def close_pipe() -> None:
    """Close the pipe for answers and live on."""
    os.close(int(sys.argv[1]))
    sleep_for_good()


def eat() -> None:
    """Take memory until there is none."""
    hoard = []
    while True:
        hoard.append(bytearray(32 * 2**20))


def eat_and_abort() -> None:
    """Take memory until there is none, and end as C++ does then."""
    try:
        eat()
    except MemoryError:
        os.abort()


def flood(descriptor: int) -> Callable[[], None]:
    """Print without end."""

    def print_on() -> None:
        while True:
            os.write(descriptor, b"presolve " * 1000)

    return print_on


def breed() -> None:
    """Start a process that would outlive this one, tell its id, and hang."""
    heir = subprocess.Popen(["sleep", "600"])
    os.write(2, f"heir={heir.pid}\n".encode())
    sleep_for_good()


def fail() -> None:
    """Raise what a bug would raise."""
    raise ValueError("negative capacity")


FAULTS: dict[str, Callable[[], object]] = {
    "exits": lambda: os._exit(7),
    "aborts": os.abort,
    "segfaults": lambda: ctypes.string_at(0),
    "stops": stop,
    "spins": spin,
    "garbage": say(b"\xff" * 4096),
    "nonsense": say(frame(b"\x00 neither JSON nor anything")),
    "pickles": say(frame(pickle.dumps(Evil(), protocol=5))),
    "wrong-type": say(frame(json.dumps({"call": 1, "plan": [1, 2]}).encode())),
    "half": say(frame(b"x" * 1000)[:500]),
    "endless": say(HEADER.pack(2**60)),
    "stale": say(frame(json.dumps({"call": 999, "nothing": True}).encode())),
    "closes": close_pipe,
    "eats": eat,
    "eats-and-aborts": eat_and_abort,
    "floods-stdout": flood(1),
    "floods-stderr": flood(2),
    "breeds": breed,
    "raises": fail,
}


def solve(
    task: Task, state: Snapshot, enabled: bool, on_stage: Callable[[Stage], None]
) -> Plan | None:
    """Fail, lie or seat, as the first gang's name says. The note counts the fabrics so far."""
    name = state.gangs[0].key.name
    if name in FAULTS:
        FAULTS[name]()
    if name == "finds-nothing":
        return None
    on_stage(Stage("who", True, 1, 1, 0.0))
    if all(state.fabric is not known for known in FABRICS):
        FABRICS.append(state.fabric)
    seconds = state.config.spec.solver.time_limit_seconds
    note = f"fabrics={len(FABRICS)} seconds={seconds:.3f} extensions={enabled}"
    match name:
        case "illegal":
            plan = seat(state, PlanStatus.OPTIMAL, node="nowhere")
        case "misses-one":
            plan = seat(state, PlanStatus.FEASIBLE, skip=1)
        case "false-proof":
            time.sleep(0.5)  # so that the greedy plan is at hand
            plan = seat(state, PlanStatus.OPTIMAL, skip=1)
        case _:
            plan = seat(state, PlanStatus.OPTIMAL)
    return Plan(plan.status, plan.placements, plan.waiting, note=note)


def load() -> Solve:
    """Load at once, unless the environment says otherwise."""
    if os.environ.get(LOAD_FAULT) == "hang":
        sleep_for_good()
    if os.environ.get(LOAD_FAULT) == "raise":
        raise ImportError("no such library")
    return solve


if __name__ == "__main__":
    run(load)
