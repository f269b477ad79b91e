"""`fourleaf topology`: import a description of the fabric, check it, label nodes by it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.help import Subverbs, VerbHelp
from fourleaf.cli.options import Context, Kubeconfig, SchedulerNamespace
from fourleaf.cli.output.console import EXIT_BAD_INPUT, EXIT_OK, EXIT_PENDING, write
from fourleaf.cli.output.documents import write_document
from fourleaf.cli.topology.options import (
    CheckFormat,
    FabricFormat,
    From,
    MaybePreset,
    MaybeSource,
    NodesOption,
    Preset,
    PresetOption,
    SourcePath,
)

if TYPE_CHECKING:
    from fourleaf.model.readers.topology.findings import Finding
    from fourleaf.model.topology_import.description import Description
    from fourleaf.model.topology_import.host_names import Match

app = typer.Typer(
    cls=Subverbs, help="Import, check and apply descriptions of the fabric.", no_args_is_help=True
)


@app.command("import", cls=VerbHelp)
def import_(
    source: SourcePath,
    from_: From = None,
    nodes: NodesOption = None,
    preset: PresetOption = Preset.PLAIN,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    output: Annotated[
        FabricFormat, typer.Option("-o", "--output", help="How to print the fabric.")
    ] = FabricFormat.TABLE,
) -> None:
    """Read where nodes stand from ibnetdiscover, Slurm, topograph, Kueue, node labels or CSV.

    Nothing is changed. `-o labels` prints what `kubectl label node` takes, `-o csv` what this
    command reads again. What is odd about the fabric is told as well.

    Exit code: 0 read, 2 bad input, 3 hosts or nodes that do not match (with --nodes).
    """
    from fourleaf.cli.topology.show import (
        fabric_document,
        fabric_lines,
        finding_lines,
        match_lines,
        show_all,
        write_csv,
        write_labels,
    )
    from fourleaf.cli.topology.source import description_of, matched, nodes_of
    from fourleaf.model.topology_import.check import check_description

    one = description_of(source, from_)
    found = check_description(one)
    match: Match | None = None
    if nodes is not None:
        one, match = matched(one, nodes_of(nodes, ClusterAccess(kubeconfig, context)))
    said = [finding_lines(found), *([match_lines(match)] if match else ())]
    match output:
        case FabricFormat.TABLE:
            show_all([fabric_lines(one), *said])
        case FabricFormat.LABELS:
            write_labels(one, preset.value)
            show_all(said, to_stderr=True)
        case FabricFormat.CSV:
            write_csv(one)
            show_all(said, to_stderr=True)
        case _:
            write_document(fabric_document(one, found, match), output)
    left = match is not None and (match.hosts_left or match.nodes_left)
    raise typer.Exit(EXIT_PENDING if left else EXIT_OK)


@app.command(cls=VerbHelp)
def check(
    source: MaybeSource = None,
    from_: From = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: Annotated[
        CheckFormat, typer.Option("-o", "--output", help="How to print findings.")
    ] = CheckFormat.TABLE,
) -> None:
    """Say what is odd about a fabric: leaves, names, labels, links, islands.

    Exit code: 0 nothing, 2 bad input, 3 findings; notes alone are nothing.
    """
    from fourleaf.cli.topology.show import finding_lines, finding_list, show_all
    from fourleaf.cli.topology.source import description_of, live_description
    from fourleaf.model.config.spec import API_VERSION
    from fourleaf.model.topology_import.check import check_description

    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
    one = description_of(source, from_, flat=True) if source else live_description(reach)
    found = check_description(one)
    if output is CheckFormat.TABLE:
        show_all([finding_lines(found)])
        write(_summary(one, found))
    else:
        document = {
            "apiVersion": API_VERSION,
            "kind": "FabricCheck",
            "source": one.source,
            "format": one.format.value,
            "nodes": len(one.positions),
            "findings": finding_list(found),
        }
        write_document(document, output)
    raise typer.Exit(EXIT_OK if all(each.is_note for each in found) else EXIT_PENDING)


@app.command(cls=VerbHelp)
def apply(
    source: SourcePath,
    from_: From = None,
    preset: MaybePreset = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    prune: Annotated[
        bool,
        typer.Option("--prune", help="Remove labels of the preset that the source does not give."),
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: Annotated[
        CheckFormat, typer.Option("-o", "--output", help="How to print the change.")
    ] = CheckFormat.TABLE,
) -> None:
    """Label the nodes of the cluster by a description: only nodes that change.

    Shows the difference first and asks; --yes answers. Labels are added and changed, and removed
    by --prune alone, which is refused where the description is cut off.

    Exit code: 0 done or nothing to do, 2 bad input or not confirmed, 3 hosts or nodes that do
    not match; those that match are labelled.
    """
    from fourleaf.cli.topology.labels import (
        diff_document,
        diff_lines,
        put_labels,
        refuse_to_prune,
        rival_lines,
        target_levels,
    )
    from fourleaf.cli.topology.show import finding_lines, match_lines, show_all
    from fourleaf.cli.topology.source import description_of, live_inventory, matched
    from fourleaf.model.readers.config import read_config
    from fourleaf.model.topology_import.kubernetes import known_nodes
    from fourleaf.model.topology_import.labels import difference, wanted_labels

    described = description_of(source, from_)
    if prune:
        refuse_to_prune(described)
    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
    inventory = live_inventory(reach)
    nodes, config = known_nodes(inventory), read_config(inventory).config.spec.topology
    one, match = matched(described, nodes)
    name, levels = target_levels(nodes, config, preset.value if preset else None)
    diff = difference(nodes, wanted_labels(one.positions, levels), levels, prune)
    if output is CheckFormat.TABLE:
        cut = finding_lines([described.cut_off] if described.cut_off else [])
        rivals = rival_lines(name, nodes, config)
        show_all([diff_lines(diff), match_lines(match), cut, rivals])
    going = bool(diff.changes) and not dry_run
    if going:
        _confirm(len(diff.changes), yes)
        put_labels(reach, diff)
    if output is not CheckFormat.TABLE:
        write_document(diff_document(diff, going), output)
    elif going:
        write(f"{len(diff.changes)} nodes are labelled")
    raise typer.Exit(EXIT_PENDING if match.hosts_left or match.nodes_left else EXIT_OK)


def _confirm(many: int, yes: bool) -> None:
    """Go on after a yes; end with 2 where none can be given."""
    if yes:
        return
    if not sys.stdin.isatty():
        typer.echo(f"{many} nodes would change. Say --yes, or --dry-run to look only.", err=True)
        raise typer.Exit(EXIT_BAD_INPUT)
    if not typer.confirm(f"Label {many} nodes?", err=True):
        raise typer.Exit(EXIT_BAD_INPUT)


def _summary(one: Description, found: tuple[Finding, ...]) -> str:
    from fourleaf.model.reasons.text import counted

    many = sum(not each.is_note for each in found)
    said = "1 finding" if many == 1 else f"{many or 'no'} findings"
    leaves = len({(p.core, p.spine, p.leaf) for p in one.positions})
    size = f"{counted(len(one.positions), 'node')}, {counted(leaves, 'leaf')}"
    return f"{one.source} ({one.format.value}): {size}: {said}"
