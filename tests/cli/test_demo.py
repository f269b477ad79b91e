"""`fourleaf demo`, as people and pipes see it, and the check at its end."""

from __future__ import annotations

import asyncio
import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.console import Console

from fourleaf.cli.demo import show
from fourleaf.cli.demo.cluster import DemoGang, Twin
from fourleaf.cli.demo.final_check import breaches
from fourleaf.cli.demo.show import Show, play
from fourleaf.cli.demo.story import Script
from fourleaf.cli.render.glyphs import UNICODE
from fourleaf.k8s_bridge.cluster.memory.actors import target
from fourleaf.k8s_bridge.cluster.protocol import Binding
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.model.gang import GangKey
from fourleaf.solver.process.client import SolverClient
from tests.cli.conftest import Run

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from fourleaf.cli.main import main; main()", "demo"]
SHORT = ["--seconds", "6", "--seed", "3", "--nodes", "32"]
WITHIN = 120


def test_the_story_as_a_log(run: Run) -> None:
    """In a pipe: the big gang waits for a reason, then stands on four leaves; nothing is broken."""
    done = run("demo", *SHORT)
    assert done.exit_code == 0, done.output
    log = done.stdout
    assert "\x1b" not in log
    why = r"waits +ml/llama-pretrain: No\w+\n +unblock: .*(?:\n +\S.*)*?needs 16 nodes"
    waits = re.search(why, log)
    ended = re.search(r"research/notebook-\d on leaf-\d+ gives back its GPU", log)
    bound = re.search(r"ml/llama-pretrain: 16 pods on leaf-(\d+) – leaf-(\d+)", log)
    assert waits
    assert ended
    assert bound
    assert waits.start() < ended.start() < bound.start()
    assert int(bound[2]) - int(bound[1]) == 3
    partial = log.index("speech/conformer: MembersMissing")
    assert partial < log.index("the last pod of speech/conformer")
    assert "speech/conformer: 4 pods on leaf-" in log
    assert "cordoned" in log
    assert re.search(r"OPTIMAL, proven best, \d+ ms", log)
    rows = [line.split() for line in log.splitlines() if re.match(r" *spine-\d ", line)]
    assert rows, log
    # 32 nodes in leaves of 4 stand in the map, once, each drawn as one character.
    assert sum(len(word) for row in rows for word in row[1:] if len(word) == 4) == 32
    assert log.endswith("  0 breaches\n")


def on_a_terminal(command: list[str], rows: int, columns: int) -> tuple[int, str]:
    """Run `command` with a terminal of its own; its exit code and all that it wrote."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=follower, stdout=follower, stderr=follower
    )
    os.close(follower)
    written = bytearray()
    try:
        while data := os.read(leader, 65536):
            written += data
    except OSError:
        # what Linux says once the other side is closed
        pass
    finally:
        os.close(leader)
    return process.wait(WITHIN), written.decode(errors="replace")


def test_the_story_on_a_terminal() -> None:
    """A terminal gets the map of the fabric in colours, drawn again and again, and the end."""
    code, written = on_a_terminal([*COMMAND, *SHORT], 30, 90)
    assert code == 0, written[-2000:]
    assert written.count("fourleaf demo") > 10
    assert "spine-0" in written
    assert "\x1b[" in written
    assert "0 breaches" in written
    assert "Traceback" not in written


def test_a_breach_is_told_and_ends_with_one(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What does not hold in the end stands in place of the numbers."""
    monkeypatch.setattr(show, "REST_SECONDS", 0.0)
    monkeypatch.setattr(show, "breaches", lambda twin: ["gang ml/x: 1 of 2 pods stand"])
    done = run("demo", "--seconds", "2", "--nodes", "32")
    assert done.exit_code == 1, done.output
    assert done.stdout.endswith("\n\n  gang ml/x: 1 of 2 pods stand\n  1 breach\n")


def test_the_picture() -> None:
    """The last picture has the fabric, the queue and the events in 90 columns, and 0 breaches."""
    buffer = io.StringIO()
    console = Console(file=buffer, force_terminal=True, width=90, height=30, highlight=False)
    client = SolverClient()
    client.start()
    found = asyncio.run(play(Script(32, 5, 2.0), Show(console, UNICODE), client))
    assert found == []
    frames = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", buffer.getvalue()).split("fourleaf demo  ")
    lines = frames[-1].splitlines()
    assert len(frames) > 5
    assert re.match(r" *\d+\.\d s  \d+ of 256 GPUs busy  last plan OPTIMAL", lines[0])
    assert re.match(r"spine-0  (\S{4} ){8} leaf-00 – leaf-07", lines[1])
    assert any(line.startswith("waiting: ") for line in lines)
    assert lines[-1] == "  0 breaches"
    assert max(map(len, lines[: lines.index("events")])) <= 90
    # one gang of the first frames waits, with a reason, in at least one of them
    assert any("MembersMissing\n" in frame.replace(" ", "") for frame in frames)


async def staged() -> Twin:
    """Two leaves with a gang of two pods that nobody has placed."""
    twin = Twin(SystemClock(), 8, 0)
    await twin.build()
    await twin.submit(DemoGang(GangKey("ml", "pair"), 2))
    return twin


async def bind(twin: Twin, pod: int, node: str, devices: str) -> None:
    """Bind a pod of the pair, with no record of it."""
    body = list(twin.pods(GangKey("ml", "pair")))[pod]
    said = {"alloc.gpu.scheduling/devices": devices}
    await twin.cluster.bind(Binding(target(body), node, said))


async def test_nothing_placed_is_no_breach() -> None:
    """A gang of which nothing stands is none the worse."""
    assert breaches(await staged()) == []


async def test_half_a_gang_is_a_breach() -> None:
    """One bound pod of two is said, and so is that no page knows of it."""
    twin = await staged()
    await bind(twin, 0, "gpu-000", "0,1")
    found = breaches(twin)
    assert found[0] == "gang ml/pair: 1 of 2 pods stand"
    assert [one for one in found if one.endswith("is on no page")] == found[1:]


@pytest.mark.parametrize(
    ("node", "devices", "said"),
    [
        ("gpu-000", "1,2", "node gpu-000: device 1 is held 2 times"),
        ("gpu-004", "0", "gang ml/pair of 2 nodes stands on leaves [0, 1]"),
    ],
)
async def test_shared_devices_and_scattered_gangs(node: str, devices: str, said: str) -> None:
    """A device with two pods, and a pair on two leaves, are found."""
    twin = await staged()
    await bind(twin, 0, "gpu-000", "0,1")
    await bind(twin, 1, node, devices)
    assert said in breaches(twin)
