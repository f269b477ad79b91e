"""Hostile bytes out of valid ones: values are exchanged, repeated and nested, text is damaged."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.law import Reader

Path = tuple[str | int, ...]

_RAW = "@raw:{}@"
RAW = (
    "1e999999999",
    "-1e999",
    "1" * 5000,
    "9223372036854775808",
    "-0",
    "0.1e-400",
    "[" * 90 + "]" * 90,
    "[" * 700 + "]" * 700,
    '{"a":' * 300 + "1" + "}" * 300,
    '{"a":1,"a":2}',
    '{"metadata":{},"metadata":{"name":"x"}}',
    r'"\ud800"',
    "NaN",
    "-Infinity",
)
"""What stands in the place of a value as it is, JSON or not."""

TEXTS = (
    "",
    " ",
    "-",
    "0",
    "00",
    "-1",
    "1e9",
    "1e99",
    "1e999999999",
    "1E-99",
    "9223372036854775808",
    "99999999999999999999999999999999999999999999999999",
    "0.00000000000000000001",
    "1Ei",
    "100Tb",
    "9" * 5000,
    "\uff11\uff12",
    "٣",
    "²",
    "0x10",
    "NaN",
    "inf",
    "90m",
    "9999d999999h9999999m999999999s",
    "2026-01-01T00:00:00Z",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "2026-02-30T00:00:00Z",
    "2026-W01-1",
    "true",
    "In",
    "Always",
    "\0",
    "a\0b",
    "\x1b[2J",
    "\r\n",
    "\u2028",
    "\ud800",
    "\u202e",
    "é" * 300,
    "🚀" * 64,
    "a" * 300,
    "a" * 20_000,
    "a." * 3000,
    "-" * 3000 + "!",
    "(" * 2000,
    '"' * 999,
    "&&" * 1500,
    "a,b" * 2000,
    "0=n1:0\n" * 2000,
    "0=n1:" + "0," * 5000,
    "n[1-999999999]",
    "n[1-9][1-9][1-9][1-9][1-9]",
    "/" * 2000,
    "../../x",
    "{{7*7}}",
    "%s%n",
    "<script>",
    "topology.scheduler/gang",
    "nvidia.com/gpu",
    "ml",
    "n1",
)
JUNK = st.recursive(
    st.one_of(
        st.sampled_from(TEXTS),
        st.sampled_from([_RAW.format(i) for i in range(len(RAW))]),
        st.sampled_from(
            [None, True, False, 0, -1, 1, 7, 2**31, 2**63, 2**64, 10**30, 1.5, 1e308, -1e-308]
        ),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(max_size=12),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.one_of(st.sampled_from(TEXTS), st.text(max_size=8)), inner, max_size=4),
    ),
    max_leaves=6,
)
_PIECES = (
    *"\0\"'[]{}()<>:,;=-#&*!|%@`~\\/ \t\n\r0é",
    "99999",
    "NaN",
    "\r\n\r\n",
    "---\n",
    "\ud800",
)
MOST_COPIES = 64


def hostile(reader: Reader) -> st.SearchStrategy[bytes]:
    """Bytes for a reader, most of them near to what is valid."""
    damage = _damaged(reader.seeds)
    if not reader.json:
        return st.one_of(damage, damage, st.binary(max_size=300))
    changed = _changed(reader.seeds)
    return st.one_of(changed, changed, changed, changed, damage)


def paths(value: Any, path: Path = ()) -> Iterator[Path]:
    """The places of a value, the whole first."""
    yield path
    entries: Any = ()
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in entries:
        yield from paths(item, (*path, key))


def at(value: Any, path: Path) -> Any:
    """What stands there."""
    for key in path:
        value = value[key]
    return value


def replaced(value: Any, path: Path, new: Any) -> Any:
    """`value`, with `new` there; what is beside the path is shared."""
    if not path:
        return new
    key, *rest = path
    changed = copy.copy(value)
    changed[key] = replaced(value[key], tuple(rest), new)
    return changed


def written(value: Any) -> bytes:
    """JSON, of which some may be none."""
    text = json.dumps(value)
    for i, raw in enumerate(RAW):
        text = text.replace(f'"{_RAW.format(i)}"', raw)
    return text.encode()


def varied(value: Any, number: int) -> Any:
    """A copy of `value` in which every text is another, but for those of an API."""
    if isinstance(value, dict):
        return {
            key: item
            if key in ("kind", "apiVersion", "operator", "schedulerName")
            else varied(item, number)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [varied(item, number) for item in value]
    return f"{value}-{number}" if isinstance(value, str) else value


@st.composite
def _changed(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    value = json.loads(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(list(paths(value))))
        value = replaced(value, path, _other(draw, at(value, path), seeds))
    return written(value)


def _other(draw: st.DrawFn, value: Any, seeds: Sequence[bytes]) -> Any:
    """Something else in the place of `value`."""
    what = draw(st.integers(0, 5))
    if what == 0 and isinstance(value, list) and value:
        one, copies = draw(st.sampled_from(value)), draw(st.integers(1, MOST_COPIES))
        return [*value, *(varied(one, i) for i in range(copies))]
    if what == 0 and isinstance(value, dict) and value:
        key, copies = (
            draw(st.sampled_from(sorted(value, key=str))),
            draw(st.integers(1, MOST_COPIES)),
        )
        return {**value, **{f"{key}{i}": value[key] for i in range(copies)}}
    if what == 1 and isinstance(value, dict) and value:
        gone = draw(st.sampled_from(sorted(value, key=str)))
        return {key: item for key, item in value.items() if key != gone}
    if what <= 2 and isinstance(value, dict):
        key = draw(st.sampled_from((*TEXTS, *map(str, value))))
        return {**value, key: draw(JUNK)}
    if what == 3 and isinstance(value, str):
        return value + draw(st.sampled_from(TEXTS))
    if what == 4:
        donor = json.loads(draw(st.sampled_from(seeds)))
        return at(donor, draw(st.sampled_from(list(paths(donor)))))
    if what == 5:
        return [value] if draw(st.booleans()) else {"spec": value}
    return draw(JUNK)


@st.composite
def _damaged(draw: st.DrawFn, seeds: Sequence[bytes]) -> bytes:
    data = draw(st.sampled_from(seeds))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(len(data), start + 40)))
        middle = draw(
            st.one_of(
                st.sampled_from([piece.encode("utf-8", "surrogatepass") for piece in _PIECES]),
                st.integers(1, MOST_COPIES).map(lambda n, part=data[start:end]: part * n),
                st.binary(max_size=6),
            )
        )
        data = data[:start] + middle + data[end:]
    return data
