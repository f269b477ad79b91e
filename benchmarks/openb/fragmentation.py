"""The fragmentation of FGD: GPUs that a typical pod could not use.

For each kind m of the typical pods with popularity p(m), all free GPU of a node is a fragment
where m finds no room; else what lies on devices with less left than m takes of one (Weng et
al., ATC 2023, section 3.2). A pod without GPUs makes all of it a fragment, wherever it goes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.openb.load import Pod

POPULAR = 0.95
"""Typical pods are the most frequent kinds that make up so much of the trace."""

Floats = NDArray[np.float64]


class Fragmentation:
    """Measures free room by the typical pods of `trace`."""

    def __init__(self, trace: Sequence[Pod]) -> None:
        kinds: list[tuple[Pod, int]] = []
        seen = 0
        for kind, count in Counter(trace).most_common():
            if seen >= POPULAR * len(trace):
                break
            kinds.append((kind, count))
            seen += count
        self.popularity = np.array([count / seen for _, count in kinds])
        self._cpu = np.array([kind.cpu for kind, _ in kinds])
        self._gpus = np.array([kind.gpus for kind, _ in kinds])
        self._share = np.array([kind.share if kind.gpus else 0 for kind, _ in kinds])

    def of(self, cpu: NDArray[np.int_], gpu: NDArray[np.int_]) -> Floats:
        """Expected fragments of rooms with `cpu` [room] and `gpu` [room, device] left.

        In thousandths of a GPU.
        """
        free = gpu.sum(axis=1)
        out = np.zeros((len(cpu), len(self._cpu)))
        for share in np.unique(self._share):
            kinds = self._share == share
            if not share:
                out[:, kinds] = free[:, None]
                continue
            usable = gpu >= share
            lost = np.where(usable, 0, gpu).sum(axis=1)
            room = (usable.sum(axis=1)[:, None] >= self._gpus[kinds]) & (
                cpu[:, None] >= self._cpu[kinds]
            )
            out[:, kinds] = np.where(room, lost[:, None], free[:, None])
        return np.asarray(out @ self.popularity)
