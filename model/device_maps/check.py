"""Whether a device map can be used as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fourleaf.model.device_maps.map_annotations import AnnotatedMap
from fourleaf.model.device_maps.nodes import MapNode, MapNodes
from fourleaf.model.problems import Problem
from fourleaf.model.readers.objects.amounts import pod_amounts
from fourleaf.model.readers.objects.manifest import part_of
from fourleaf.model.readers.objects.report import Report
from fourleaf.model.readers.pods.device_map import Pin

MOST_FAULTS = 1000
"""Faults of a map after which the rest of its lines is not looked at."""

TEMPLATE_SPEC = ("spec", "template", "spec")
"""Where what makes pods says what they are."""
FIX = "`fourleaf map fix` puts a ready node of its pool in its place."
AGENT = "See what the agent of the node reports: kubectl describe gns."
OTHER_DEVICE = "Name another device; no two pods share one."
LABEL_IT = "Label it with its leaf, or set spec.topology.unlabelled to isolate."
SILENT = "The map is taken at its word. Run the agent there, and it is checked."


@dataclass(frozen=True, slots=True)
class LineFault:
    """What is wrong with a line: an error, or something that may pass (`passing`)."""

    message: str
    advice: str
    passing: bool = False


def check_map(stated: AnnotatedMap, ground: MapNodes) -> tuple[Problem, ...]:
    """All that is wrong with one map, line by line; errors first.

    After `MOST_FAULTS` no other line is looked at, which is said. Where no node is known, nothing
    is said of those that it names.
    """
    report = Report()
    manifest = stated.manifest.on(report)
    for bad in stated.bad:
        manifest.error(stated.field, bad.line, bad.message, bad.advice)
    asked = _asked(stated, ground.gpu_resources)
    taken: dict[tuple[str, int], int] = {}
    found = 0
    for index, pin in sorted(stated.pins.items()):
        line = f"{index}={pin}"
        if found >= MOST_FAULTS:
            message = f"is not looked at, nor what follows: {found} faults come before it"
            manifest.error(stated.field, line, message, "Correct those first.")
            break
        for fault in (*_faults(stated, ground, taken, pin), *_refusals(ground, pin, asked)):
            tell = manifest.warn if fault.passing else manifest.error
            tell(stated.field, line, fault.message, fault.advice)
            found += 1
        for device in pin.devices:
            taken.setdefault((pin.node, device), index)
    if stated.pods is not None and stated.pods > len(stated.pins):
        message = f"has {len(stated.pins)} lines for {stated.pods} pods"
        manifest.error(stated.field, None, message, "Add a line for each pod, or run fewer.")
    return report.problems


def _faults(
    stated: AnnotatedMap, ground: MapNodes, taken: dict[tuple[str, int], int], pin: Pin
) -> Iterator[LineFault]:
    for device in pin.devices:
        before = taken.get((pin.node, device))
        if before is not None:
            yield LineFault(
                f"names device {device} of {pin.node}, which line {before} names too", OTHER_DEVICE
            )
    node = ground.nodes.get(pin.node)
    if node is None and ground.nodes:
        yield LineFault(f"names {pin.node}, which is no node of the cluster", FIX)
    elif node is None:
        return
    elif node.refused:
        yield LineFault(f"names {pin.node}, which the config refuses for want of a leaf", LABEL_IT)
    elif not node.open:
        what = "is cordoned" if node.ready else "is not ready"
        yield LineFault(f"names {pin.node}, which {what}", FIX)
    elif node.held_back:
        yield LineFault(f"names {pin.node}, which is held back: {node.held_back}", AGENT)
    else:
        yield from _device_faults(stated, node, pin)


def _asked(stated: AnnotatedMap, resources: Sequence[str]) -> str:
    """The GPU resource that the pods of a map ask for, "" for none."""
    body = stated.manifest.body
    spec = part_of(body, "spec") if stated.manifest.kind == "Pod" else part_of(body, *TEMPLATE_SPEC)
    asked = pod_amounts(stated.manifest.on(Report()), spec)
    return next((name for name in resources if asked.get(name)), "")


def _refusals(ground: MapNodes, pin: Pin, asked: str) -> Iterator[LineFault]:
    """The kubelet refuses pods that ask for what no device plugin announces on its node."""
    node = ground.nodes.get(pin.node)
    if asked and node is not None and not node.announces:
        message = f"names {pin.node}, where no device plugin announces the {asked} of its pods"
        yield LineFault(message, "Leave that resource out of their containers.")


def _device_faults(stated: AnnotatedMap, node: MapNode, pin: Pin) -> Iterator[LineFault]:
    if node.silent:
        numbers = ", ".join(map(str, pin.devices))
        what = f"names {numbers} of {pin.node}, of whose devices nothing is known"
        yield LineFault(what, SILENT, passing=True)
        yield from _held(stated, node, pin.devices)
        return
    if not node.devices | node.unhealthy:
        yield LineFault(f"names {pin.node}, which has no GPU", "Name a node that has.")
        return
    numbers = ", ".join(map(str, sorted(node.devices))) or "none"
    for device in pin.devices:
        named = f"names device {device} of {pin.node}"
        if device in node.unhealthy:
            yield LineFault(f"{named}, which is unhealthy", f"Healthy are: {numbers}.")
        elif device not in node.devices:
            yield LineFault(f"{named}, which has no such device", f"It has: {numbers}.")
        else:
            yield from _held(stated, node, (device,))


def _held(stated: AnnotatedMap, node: MapNode, devices: Sequence[int]) -> Iterator[LineFault]:
    """What of `devices` pods of other maps hold."""
    for device in devices:
        if holder := node.holder_of(device, stated.text):
            yield LineFault(
                f"names device {device} of {node.name}, which {holder} holds now",
                "Its pod waits until that one has ended.",
                passing=True,
            )
