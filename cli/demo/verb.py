"""`fourleaf demo`: the whole loop, live, with nothing but Python."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from fourleaf.cli.output.console import EXIT_BREACHES, EXIT_OK, glyphs, out

SMALLEST = 32
LARGEST = 1024


def demo(
    seconds: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=2, max=600, help="How long new gangs come and go."),
    ] = 18.0,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2147483647, help="Which gangs come, and when.")
    ] = 1,
    nodes: Annotated[
        int,
        typer.Option(metavar="N", min=SMALLEST, max=LARGEST, help="Nodes of 8 GPUs, 4 to a leaf."),
    ] = 64,
    speed: Annotated[
        float,
        typer.Option(metavar="FACTOR", min=0.1, max=10, help="How much faster gangs come and end."),
    ] = 1.0,
) -> None:
    """Watch the scheduler work, on a cluster in memory.

    Scheduler, solver and commit protocol are the real ones; nodes and teams are played. On a
    terminal it draws the fabric; elsewhere it prints a log. Afterwards it checks what is left.

    Exit code: 0 everything holds, 1 something does not.
    """
    from fourleaf.cli.logs import log_to_stderr
    from fourleaf.solver.process.client import SolverClient

    log_to_stderr("error")
    client = SolverClient()
    # The solver process loads OR-tools while this one loads the rest.
    client.start()
    from fourleaf.cli.demo.show import Show, play
    from fourleaf.cli.demo.story import Script

    script = Script(nodes - nodes % 4, seed, seconds, speed)
    breaches = asyncio.run(play(script, Show(out(), glyphs()), client))
    raise typer.Exit(EXIT_BREACHES if breaches else EXIT_OK)
