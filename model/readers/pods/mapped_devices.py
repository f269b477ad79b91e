"""Devices that device maps name, by node: all that is known of nodes that announce none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from fourleaf.model.config.spec import Spec
from fourleaf.model.crds.claim import MOST_DEVICES
from fourleaf.model.devices.layout import bits, numbers
from fourleaf.model.readers.objects.annotations import stated
from fourleaf.model.readers.pods.device_map import DEVICE_MAP, parse_map
from fourleaf.model.readers.pods.pods import Pod


@lru_cache(maxsize=16)
def devices_in_map(text: str) -> tuple[tuple[str, int], ...]:
    """Nodes that a map names, each with its devices as bits; none where the map has a bad line."""
    pins, bad = parse_map(text)
    found: dict[str, int] = {}
    for pin in () if bad else pins.values():
        found[pin.node] = found.get(pin.node, 0) | pin.mask
    return tuple(found.items())


def nodes_in_maps(texts: Iterable[str]) -> frozenset[str]:
    """The nodes that maps name."""
    return frozenset(node for text in texts for node, _ in devices_in_map(text))


def maps_of(pods: Iterable[Pod], spec: Spec) -> frozenset[str]:
    """The maps of those of `pods` that are ours and have not ended."""
    texts = set()
    for pod in pods:
        if pod.scheduler in spec.scheduler_names and not pod.finished:
            found = stated(pod.layers, DEVICE_MAP)
            if found is not None:
                texts.add(found[1])
    return frozenset(texts)


class MappedDevices:
    """What maps and pods that run say of the devices of nodes, counted, so that both may go again.

    `touched` are the nodes of which that has changed, `shifted` those where what pods hold has; who
    reads them clears them.
    """

    def __init__(self) -> None:
        self.touched: set[str] = set()
        self.shifted: set[str] = set()
        self._texts: Counter[str] = Counter()
        self._counts: dict[str, Counter[int]] = {}
        self._held: dict[str, Counter[int]] = {}

    def put(self, before: Iterable[str], now: Iterable[str]) -> None:
        """Take the maps `now` in place of those `before`."""
        self._count_maps(now, 1)
        self._count_maps(before, -1)

    def hold(self, node: str, devices: Sequence[int]) -> None:
        """A pod there holds `devices`, whatever a map says of it by now."""
        self._hold(node, devices, 1)

    def release(self, node: str, devices: Sequence[int]) -> None:
        """The pod does no more."""
        self._hold(node, devices, -1)

    def held_on(self, node: str) -> int:
        """The devices that pods hold on a node, as bits."""
        return bits(self._held.get(node, ()))

    def on(self, node: str) -> int:
        """The devices of a node, as bits."""
        return bits(self._counts.get(node, ()))

    def _count_maps(self, texts: Iterable[str], step: int) -> None:
        for text in texts:
            before = self._texts[text]
            self._texts[text] += step
            if not self._texts[text]:
                del self._texts[text]
            if not before or not before + step:
                for node, mask in devices_in_map(text):
                    self._count(node, numbers(mask), step)

    def _hold(self, node: str, devices: Sequence[int], step: int) -> None:
        # What a pod that came by other ways says of itself may be any number.
        sound = [device for device in devices if device < MOST_DEVICES]
        if sound:
            self.shifted.add(node)
            _add(self._held, node, sound, step)
            self._count(node, sound, step)

    def _count(self, node: str, devices: Sequence[int], step: int) -> None:
        _add(self._counts, node, devices, step)
        self.touched.add(node)


def _add(counts: dict[str, Counter[int]], node: str, devices: Sequence[int], step: int) -> None:
    here = counts.setdefault(node, Counter())
    for device in devices:
        here[device] += step
        if not here[device]:
            del here[device]
    if not here:
        del counts[node]
