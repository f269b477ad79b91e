"""`fourleaf map`: make a device map from nodes, check one in use, replace nodes that are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.help import Subverbs, VerbHelp
from fourleaf.cli.maps.show import MapFormat, check_lines, show_map
from fourleaf.cli.maps.source import need_maps, need_nodes, put_map, scene_of, wanted_of
from fourleaf.cli.options import (
    Apply,
    Context,
    Kubeconfig,
    Output,
    OutputFormat,
    PlanFiles,
    SchedulerNamespace,
)
from fourleaf.cli.output.console import (
    EXIT_BAD_INPUT,
    EXIT_OK,
    EXIT_PENDING,
    print_problems,
    show,
    write,
)
from fourleaf.cli.output.documents import for_people, problem_document, write_document

if TYPE_CHECKING:
    from fourleaf.cli.maps.source import MapInput
    from fourleaf.model.device_maps.fix import Fixed
    from fourleaf.model.device_maps.map_annotations import AnnotatedMap
    from fourleaf.model.problems import Problem

app = typer.Typer(cls=Subverbs, help="Make, check and mend device maps.", no_args_is_help=True)

Object = Annotated[
    str | None,
    typer.Argument(
        metavar="KIND/NAME", help="What carries the map: a pod, StatefulSet, Deployment or Job."
    ),
]
Where = Annotated[
    str | None, typer.Option("-n", "--namespace", metavar="NAMESPACE", help="Its namespace.")
]
Pool = Annotated[str, typer.Option(metavar="NAME", help="Only nodes of this pool.")]
MapOutput = Annotated[MapFormat, typer.Option("-o", "--output", help="How to print the map.")]


@app.command(cls=VerbHelp)
def generate(
    files: PlanFiles = None,
    devices: Annotated[
        int, typer.Option("--devices", metavar="N", min=1, max=1024, help="Devices of each pod.")
    ] = 1,
    pods: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, max=100_000, help="Pods; without it, as many as there is room for."
        ),
    ] = None,
    pool: Pool = "",
    busy: Annotated[
        bool, typer.Option("--busy", help="Name devices that are in use now, too.")
    ] = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: MapOutput = MapFormat.TABLE,
) -> None:
    """Make a device map from the ready GPU nodes.

    Node after node in natural order, each device once, leaving out what runs of others.
    `-o annotation` prints the text alone, `-o patch` a patch for kubectl, `-o values` values
    for a chart.

    Exit code: 0 it is made, 2 bad input, or room for fewer pods.
    """
    from fourleaf.model.device_maps.generate import DeviceRequest, NotEnough, generate_map
    from fourleaf.model.reasons.text import counted

    scene = scene_of(
        ClusterAccess(kubeconfig, context, scheduler_namespace), files, wanted_of(None, None)
    )
    need_nodes(scene)
    try:
        pins = generate_map(scene.ground, DeviceRequest(devices, pods, pool, busy))
    except NotEnough as short:
        room = short.room
        message = str(short)
    else:
        room, message = len(pins), "no usable node has devices free"
    if not room or room < (pods or 0):
        advice = f"Ask for {room} pods, fewer devices, or another pool."
        if not room:
            advice = f"Pools with usable GPU nodes: {', '.join(_pools(scene)) or 'none'}."
            if silent := sum(one.silent for one in scene.ground.nodes.values()):
                advice += (
                    f" Of {silent} nothing says which devices they have: run a device plugin or "
                    "the agent there, or write the map by hand."
                )
        about = f"pods of {counted(devices, 'device')}"
        raise bad_input(scene.source, message, advice, about=about)
    show_map(pins, scene.ground, output)


def _pools(scene: MapInput) -> list[str]:
    nodes = scene.ground.nodes.values()
    return sorted({one.pool for one in nodes if one.usable and one.pool})


@app.command(cls=VerbHelp)
def check(
    target: Object = None,
    files: PlanFiles = None,
    namespace: Where = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: Output = OutputFormat.TABLE,
) -> None:
    """Check device maps in use: that of one object, or all of them.

    Every node is there, ready and has the devices; no device is named twice; there is a line
    for each pod.

    Exit code: 0 all lines can be used, 2 some cannot.
    """
    from fourleaf.model.device_maps.check import check_map

    wanted = wanted_of(target, namespace)
    scene = scene_of(ClusterAccess(kubeconfig, context, scheduler_namespace), files, wanted)
    need_nodes(scene)
    need_maps(scene, wanted)
    problems = [one for stated in scene.maps for one in check_map(stated, scene.ground)]
    _show_check(scene, problems, output)
    wrong = any(one.is_error for one in problems)
    raise typer.Exit(EXIT_BAD_INPUT if wrong else EXIT_OK)


def _show_check(scene: MapInput, problems: list[Problem], output: OutputFormat) -> None:
    from fourleaf.model.config.spec import API_VERSION
    from fourleaf.model.readers.pods.device_map import map_text

    if for_people(output):
        print_problems(problems, to_stdout=True)
        titled = ((one.manifest.title, one.pins) for one in scene.maps)
        show(check_lines(titled, scene.ground))
        return
    document = {
        "apiVersion": API_VERSION,
        "kind": "DeviceMapCheck",
        "provider": scene.ground.provider.value,
        "maps": [{"object": one.manifest.title, "map": map_text(one.pins)} for one in scene.maps],
        "problems": [problem_document(one) for one in problems],
    }
    write_document(document, output)


@app.command(cls=VerbHelp)
def fix(
    target: Annotated[
        str, typer.Argument(metavar="KIND/NAME", help="What carries the map, such as sts/web.")
    ],
    files: PlanFiles = None,
    namespace: Where = None,
    pool: Pool = "",
    apply: Apply = False,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    scheduler_namespace: SchedulerNamespace = None,
    output: MapOutput = MapFormat.TABLE,
) -> None:
    """Replace the nodes of a device map that are gone by ready ones of the same pool.

    All lines whose nodes can be used stay as they are. With --apply the object is changed, so
    that its controller makes new pods; without, the map is only printed.

    Exit code: 0 all lines can be used now, 2 bad input, 3 some still cannot.
    """
    from fourleaf.model.device_maps.fix import fix_map

    if files and apply:
        raise typer.BadParameter("nothing can be changed in files", param_hint="--apply")
    wanted = wanted_of(target, namespace)
    reach = ClusterAccess(kubeconfig, context, scheduler_namespace)
    scene = scene_of(reach, files, wanted)
    need_nodes(scene)
    need_maps(scene, wanted)
    stated = scene.maps[0]
    fixed = fix_map(stated.pins, scene.ground, stated.text, pool)
    problems = _after(scene, stated, fixed)
    if apply and fixed.changes:
        from fourleaf.model.readers.pods.device_map import map_text

        _need_changeable(scene, stated)
        put_map(reach, stated, map_text(fixed.pins))
    show_map(fixed.pins, scene.ground, output, fixed)
    print_problems(problems)
    if output is MapFormat.TABLE:
        write(_said(stated, fixed, apply))
    raise typer.Exit(EXIT_PENDING if any(one.is_error for one in problems) else EXIT_OK)


def _after(scene: MapInput, stated: AnnotatedMap, fixed: Fixed) -> list[Problem]:
    """What is wrong with the map once it is mended. Raises `BadInput` for unreadable lines."""
    from dataclasses import replace

    from fourleaf.model.device_maps.check import check_map
    from fourleaf.model.problems import BadInput

    if stated.bad:
        raise BadInput(one for one in check_map(stated, scene.ground) if one.is_error)
    return list(check_map(replace(stated, pins=fixed.pins), scene.ground))


def _need_changeable(scene: MapInput, stated: AnnotatedMap) -> None:
    """Raise `BadInput` for a Job: the template of its pods cannot be changed."""
    from fourleaf.model.device_maps.map_annotations import TEMPLATE

    one = stated.manifest
    if one.kind == "Job" and stated.prefix == TEMPLATE:
        message = "cannot be changed: the pod template of a Job is fixed"
        advice = "Create the Job anew with this map: see -o patch."
        raise bad_input(scene.source, message, advice, about=one.title, field=stated.field)


def _said(stated: AnnotatedMap, fixed: Fixed, applied: bool) -> str:
    if not fixed.changes:
        return f"{stated.manifest.title}: no line changes"
    lines = ", ".join(str(one.index) for one in fixed.changes)
    noun = "line" if len(fixed.changes) == 1 else "lines"
    what = "changed" if applied else "would change; --apply changes them"
    return f"{stated.manifest.title}: {noun} {lines} {what}"
