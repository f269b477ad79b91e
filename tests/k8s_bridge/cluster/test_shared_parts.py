"""Equal parts are one object, as long as they are not too long together."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

from fourleaf.k8s_bridge.cluster.shared_parts import LONGEST_PART, SharedParts


def part(number: int, length: int = 0) -> dict[str, Any]:
    """Make a part that equals only those of the same number; new each time."""
    return {"n": number, "x": "y" * length}


def test_equal_parts_are_one_object() -> None:
    """The second is the first, unless it is too long to be remembered."""
    shared = SharedParts()
    assert shared.of(part(1)) is shared.of(part(1)) == part(1)
    long = part(1, LONGEST_PART)
    assert shared.of(long) is long


def test_what_is_met_again_outlasts_what_is_met_once() -> None:
    """Between two meetings come 4 KB of others, of 20 KB that are remembered, again and again."""
    shared = SharedParts(20_000)
    first, once = shared.of(part(0)), shared.of(part(-1))
    for turn in range(1, 50):
        for number in range(4):
            shared.of(part(turn * 4 + number, 1000))
        assert shared.of(part(0)) is first
    assert shared.of(part(-1)) is not once


def test_their_length_is_bounded_whatever_their_number() -> None:
    """Of 660 KB in parts of 440 characters, 100 KB at most are kept, and what these are read to."""
    shared = SharedParts(100_000)
    tracemalloc.start()
    try:
        for number in range(1500):
            shared.of({f"{number}-{i}": str(i) for i in range(35)})
        gc.collect()
        # What threads of other tests take meanwhile is not kept here.
        here = [tracemalloc.Filter(True, name) for name in (__file__, "*/k8s_bridge/cluster/*")]
        kept = sum(one.size for one in tracemalloc.take_snapshot().filter_traces(here).traces)
    finally:
        tracemalloc.stop()
    assert 100_000 < kept < 15 * 100_000
