"""Described fabrics and findings as tables, documents, labels and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from fourleaf.cli.output.console import err, show, write

if TYPE_CHECKING:
    from rich.console import RenderableType

    from fourleaf.model.readers.topology.findings import Finding
    from fourleaf.model.topology_import.description import Description
    from fourleaf.model.topology_import.host_names import Match

HOSTLIST_WIDTH = 120
MOST_NAMES_SHOWN = 20
"""How many names a list of what did not match shows in a table."""


def fabric_document(
    one: Description, found: Sequence[Finding], match: Match | None
) -> dict[str, Any]:
    """The fabric as data; `unmatched` where it was matched with nodes."""
    from fourleaf.model.config.spec import API_VERSION

    nodes = [
        {
            "order": order,
            "node": place.node,
            "leaf": place.leaf,
            "spine": place.spine,
            "core": place.core,
            "accelerator": place.accelerator,
        }
        for order, place in enumerate(one.positions)
    ]
    whole: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "FabricDescription",
        "source": one.source,
        "format": one.format.value,
        "nodes": nodes,
        "units": [{"name": unit.name, "switches": list(unit.switches)} for unit in one.units],
        "islands": list(one.islands),
        "findings": finding_list(found),
    }
    if match is not None:
        whole["unmatched"] = {"hosts": list(match.hosts_left), "nodes": list(match.nodes_left)}
    return whole


def finding_list(found: Sequence[Finding]) -> list[dict[str, Any]]:
    """Findings as data, with their sentence and advice."""
    from fourleaf.model.readers.topology.findings_text import advice, sentence

    return [
        {
            "kind": one.kind.value,
            "note": one.is_note,
            "count": one.count,
            "names": list(one.names),
            "numbers": dict(one.numbers),
            "message": sentence(one),
            "advice": advice(one),
        }
        for one in found
    ]


def fabric_lines(one: Description) -> Iterator[RenderableType]:
    """A line for each leaf: core, spine, leaf, how many nodes, and which."""
    from rich.table import Table
    from rich.text import Text

    from fourleaf.model.reasons.text import counted

    leaves: dict[tuple[str, str, str], list[str]] = {}
    for place in one.positions:
        leaves.setdefault((place.core, place.spine, place.leaf), []).append(place.node)
    spines = len({key[:2] for key in leaves})
    total = counted(len(one.positions), "node")
    size = f"{total}, {counted(len(leaves), 'leaf')}, {counted(spines, 'spine')}"
    yield Text(f"{one.source} ({one.format.value}): {size}", style="bold")
    table = Table.grid(padding=(0, 2, 0, 0))
    for _ in range(5):
        table.add_column(overflow="fold")
    table.add_row(*(Text(t, style="dim") for t in ("core", "spine", "leaf", "size", "nodes")))
    for (core, spine, leaf), nodes in leaves.items():
        table.add_row(
            Text(core or "-"), Text(spine or "-"), Text(leaf), str(len(nodes)), Text(_some(nodes))
        )
    yield table


def _some(nodes: Sequence[str]) -> str:
    """`nodes` as a hostlist; the first few where their names have nothing in common."""
    from fourleaf.model.topology_import.hostlist import folded

    whole = folded(nodes)
    if len(whole) <= HOSTLIST_WIDTH:
        return whole
    return f"{folded(nodes[:2])} and {len(nodes) - 2} more"


def finding_lines(found: Sequence[Finding]) -> Iterator[RenderableType]:
    """Each finding, and what to do about it."""
    from rich.text import Text

    from fourleaf.model.readers.topology.findings_text import advice, sentence

    for one in found:
        word = "note" if one.is_note else "finding"
        text = Text(f"{word}: {one.kind.value}: {sentence(one)}\n  {advice(one)}")
        text.stylize("bold cyan" if one.is_note else "bold yellow", 0, len(word))
        yield text


def match_lines(match: Match) -> Iterator[RenderableType]:
    """How many matched, and who did not."""
    from rich.text import Text

    yield Text(f"{len(match.nodes)} hosts are nodes of the cluster")
    for what, names in (("hosts", match.hosts_left), ("nodes", match.nodes_left)):
        if names:
            more = len(names) - MOST_NAMES_SHOWN
            tail = f" and {more} more" if more > 0 else ""
            yield Text(
                f"{len(names)} {what} have no match: {', '.join(names[:MOST_NAMES_SHOWN])}{tail}"
            )


def write_labels(one: Description, preset: str) -> None:
    """A line for each node, as `kubectl label node` takes it: name, then KEY=VALUE pairs."""
    from fourleaf.model.topology_import.labels import preset_levels, wanted_labels

    lines = [
        " ".join((node, *(f"{key}={value}" for key, value in labels.items())))
        for node, labels in wanted_labels(one.positions, preset_levels(preset)).items()
    ]
    write("\n".join(lines))


def write_csv(one: Description) -> None:
    """The columns that `--from csv` reads again."""
    import csv
    import io

    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(("node", "leaf", "spine", "core", "accelerator"))
    rows.writerows((p.node, p.leaf, p.spine, p.core, p.accelerator) for p in one.positions)
    write(text.getvalue())


def show_all(lines: Sequence[Iterator[RenderableType]], to_stderr: bool = False) -> None:
    """Print one part after the other."""
    every = [line for part in lines for line in part]
    if to_stderr:
        console = err()
        for line in every:
            console.print(line, soft_wrap=True)
    elif every:
        show(every)
