"""Files that are made to cost much time or memory: read or refused, briefly, as the law has it."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pytest

from fourleaf.model.problems import BadInput, Problem
from fourleaf.model.readers import Source, read
from tests.fuzz.law import Reader, check
from tests.model.readers.made import pod

DEEP = 20_000
TAGGED = "a: &a !!seq [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{b}: &{b} !!seq [{','.join(['*' + a] * 9)}]\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
MAPPED = "a: &a {x: y}\n" + "".join(
    f"{b}: &{b} {{{', '.join(f'k{n}: *{a}' for n in range(9))}}}\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
MERGED = "a: &a {x: y}\n" + "".join(
    f"{b}: &{b} {{<<: [{', '.join(['*' + a] * 9)}]}}\n"
    for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)


def _of_a_pod(**fields: object) -> bytes:
    return orjson.dumps(pod(**fields))


def _cel(expression: str) -> bytes:
    selector = {"cel": {"expression": expression}}
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "selectors": [selector]}}
    return orjson.dumps(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {"name": "c", "namespace": "ml"},
            "spec": {"devices": {"requests": [request]}},
        }
    )


def _apart(terms: int) -> bytes:
    term = {"topologyKey": "h", "labelSelector": {"matchLabels": {"a": "b"}}}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [term] * terms}
    return _of_a_pod(affinity={"podAntiAffinity": required})


FILES: dict[str, tuple[str, bytes]] = {
    "aliases behind tags": ("a.yaml", TAGGED.encode()),
    "aliases of maps": ("a.yaml", MAPPED.encode()),
    "merges of merges": ("a.yaml", MERGED.encode()),
    "deep JSON": ("a.json", b'{"a":' * DEEP + b"1" + b"}" * DEEP),
    "deep flow": ("a.yaml", b"a: " + b"[" * DEEP + b"]" * DEEP),
    "deep blocks": ("a.yaml", "".join(f"{' ' * i}a:\n" for i in range(400)).encode()),
    "deep dashes": ("a.yaml", b"- " * DEEP + b"x\n"),
    "a number of many digits, JSON": ("a.json", b'{"a": ' + b"9" * 100_000 + b"}"),
    "a number of many digits, YAML": ("a.yaml", b"a: " + b"9" * 100_000),
    "many documents": ("a.yaml", b"--- {}\n" * 5000),
    "many spaces": ("a.yaml", b"a:" + b" " * 100_000 + b"b"),
    "many colons": ("a.yaml", b"a" + b":" * 50_000 + b" b"),
    "many keys": ("a.yaml", "".join(f"k{i}: {i}\n" for i in range(3000)).encode()),
    "names that move the cursor": ("a.json", _of_a_pod(nodeSelector={"\x1b[2J\u202e": "\r\n"})),
    "parentheses of CEL": ("a.json", _cel("(" * 5000 + "true" + ")" * 5000)),
    "terms about others": ("a.json", _apart(500)),
}
"""Each took more than its share of time, or memory, of some reader of such files."""


@pytest.mark.parametrize("file", FILES)
def test_a_costly_file_is_read_or_refused_briefly(file: str) -> None:
    """In 50 ms of CPU time a KiB, in messages of bounded length without control characters."""
    name, data = FILES[file]

    def told(text: bytes) -> Iterator[Problem]:
        yield from read([Source(name, text)]).problems

    check(Reader(file, told, (), (BadInput,)), data)
