"""Options of the verbs that replay: what arrives, on which fabric, and how fast time goes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

TraceName = Annotated[
    str | None,
    typer.Argument(metavar="TRACE", help="bundled, kalos, philly, openb, or DIR of `record`."),
]
Duration = Annotated[
    int, typer.Option(metavar="SECONDS", min=1, help="Of gangs of a snapshot that state none.")
]
FabricName = Annotated[
    str | None,
    typer.Option(metavar="NAME[:N]", help="lingjun, openb or regular, with N nodes."),
]
Load = Annotated[
    float | None,
    typer.Option(metavar="PERCENT", min=1, max=1000, help="Space arrivals to offer this load."),
]
Days = Annotated[
    int | None,
    typer.Option(metavar="DAYS", min=1, help="Only so many days, those with most arrivals."),
]


def sizes_option() -> Any:
    """The option `--sizes`."""
    said = "asked, whole-nodes (rounded up), or node-per-gpu (scaled up)."
    return typer.Option(metavar="WHICH", help=said)


Period = Annotated[int, typer.Option(metavar="SECONDS", min=1, help="Seconds between cycles.")]
WindowSlack = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, max=1, help="Leaves beyond the fewest; as the config has."),
]
