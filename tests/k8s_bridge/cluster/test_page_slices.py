"""Pages are read in slices, and come to what they come to in one piece."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from fourleaf.k8s_bridge.cluster import page_slices, parse_limit
from fourleaf.k8s_bridge.cluster.entry_limit import TOO_LARGE
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import PODS, RAY_CLUSTERS, VOLCANO_POD_GROUPS, Kind
from fourleaf.k8s_bridge.cluster.page_slices import PageSlices
from fourleaf.k8s_bridge.cluster.slim import page_of, sliced_page
from tests.k8s_bridge.cluster.live.server import answer, serving

Body = dict[str, Any]
HEAD = b'{"apiVersion":"v1","kind":"K","metadata":{"name":"o%d"},"spec":'
SPECS = [
    b'{"x":["}]\\"{",{"y":1}]}',
    b'{"x":[1,{"apiVersion":"v1","kind":"K","metadata":{"name":"within"}}],"y":2}',
    b'{"x":"],\\"kind\\":\\"K\\"}","y":[{},{"apiVersion":"v1","kind":"K","metadata":{"a":1}}]}',
    b'"\\\\"',
]


def _items(specs: Sequence[bytes]) -> list[bytes]:
    return [HEAD % number + spec + b"}" for number, spec in enumerate(specs)]


def _custom(specs: Sequence[bytes]) -> bytes:
    """A page as API servers write it for kinds that are defined by a CustomResourceDefinition."""
    rest = b'],"kind":"KList","metadata":{"continue":"t+1=","resourceVersion":"5"}}\n'
    return b'{"apiVersion":"v1","items":[' + b",".join(_items(specs)) + rest


def _built_in(specs: Sequence[bytes]) -> bytes:
    """A page as they write it for their own kinds."""
    items = b",".join(_items(specs)).replace(b'"apiVersion":"v1","kind":"K",', b"")
    head = b'{"kind":"KList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":['
    return head + items + b"]}\n"


@pytest.mark.parametrize("page", [_custom, _built_in])
@pytest.mark.parametrize("size", [1, 90, 1000])
def test_slices_are_whole_objects(page: Any, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it is cut, also where an object has within it what others begin with."""
    monkeypatch.setattr(page_slices, "SLICE_BYTES", size)
    content = page(SPECS * 3)
    sliced = PageSlices.of(content)
    assert sliced is not None
    found = [orjson.loads(one) for some in sliced.slices() for one in some]
    assert found == orjson.loads(content)["items"]
    assert orjson.loads(sliced.around) == orjson.loads(content) | {"items": []}


@pytest.mark.parametrize("page", [_custom, _built_in])
def test_a_page_in_slices_is_the_page(page: Any) -> None:
    """The same objects, version and token as of the same page in another order of its parts."""
    content = page(SPECS)
    other = orjson.dumps(dict(reversed(orjson.loads(content).items())), option=orjson.OPT_INDENT_2)
    assert PageSlices.of(other) is None
    assert page_of(RAY_CLUSTERS, content) == page_of(RAY_CLUSTERS, other)


def test_pages_without_objects_are_read() -> None:
    """An empty list, and none."""
    for items in (b"[]", b"null"):
        content = b'{"kind":"KList","metadata":{"resourceVersion":"5"},"items":' + items + b"}"
        assert (page_of(PODS, content).items, page_of(PODS, content).version) == ([], "5")


def test_no_more_is_looked_at_for_a_slice_than_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of small objects, and of a long one full of what may begin objects."""
    monkeypatch.setattr(page_slices, "SLICE_BYTES", 1_000)
    small = b'{"apiVersion":"v1","kind":"K","metadata":{"name":"within"}}'
    content = _custom([SPECS[0]] * 100 + [b'{"x":[' + b",".join([small] * 500) + b"]}"])
    _, slices = sliced_page(RAY_CLUSTERS, content)
    lengths = [len(some) for some in slices]
    assert sum(lengths) == 101
    assert max(lengths) <= 13
    assert lengths.count(0) > 20


def test_what_is_beyond_parsing_is_not_parsed_in_a_page() -> None:
    """The objects beside it are whole."""
    much = b'{"a":[' + b",".join([b"[]"] * 200_000) + b"]}"
    (first, second, third) = page_of(VOLCANO_POD_GROUPS, _custom([SPECS[0], much, SPECS[0]])).items
    assert second == {"metadata": {"name": "o1"}, "spec": TOO_LARGE}
    assert first["spec"] == third["spec"] == orjson.loads(SPECS[0])


def test_only_what_is_too_deep_is_flattened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a page of a hundred objects one is nested too deep: its tokens alone are looked at."""
    looked: list[int] = []
    shallow = parse_limit._shallow

    def counted(content: bytes, levels: int, start: int = 0) -> tuple[bytes, int]:
        looked.append(len(content) - start)
        return shallow(content, levels, start)

    monkeypatch.setattr(parse_limit, "_shallow", counted)
    deep = b'{"x":' + b"[" * 1_100 + b"]" * 1_100 + b"}"
    assert len(page_of(RAY_CLUSTERS, _custom([SPECS[0]] * 99 + [deep])).items) == 100
    assert looked == [len(_items([deep] * 100)[99])]


@pytest.mark.parametrize("spec", [b"[" * 5, b'{"x":', b'{"x":"}', b"}", b"]]"])
@pytest.mark.parametrize("kind", [PODS, RAY_CLUSTERS], ids=lambda kind: kind.plural)
def test_a_page_that_is_no_json_is_refused(kind: Kind, spec: bytes) -> None:
    """Nothing is made of objects that do not end, or end twice."""
    with pytest.raises(ClusterError):
        page_of(kind, _custom([SPECS[0], spec]))


async def test_others_have_their_turn_between_slices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a page of twenty slices is read, what else the loop has to do is done."""
    monkeypatch.setattr(page_slices, "SLICE_BYTES", 100)
    content = _custom([SPECS[0]] * 40).replace(b"t+1=", b"")
    turns: list[int] = []
    seen: list[int] = []
    slices = PageSlices.slices

    def counted(self: PageSlices) -> Any:
        for some in slices(self):
            seen.append(len(turns))
            yield some

    async def other() -> None:
        while True:
            turns.append(1)
            await asyncio.sleep(0)

    monkeypatch.setattr(PageSlices, "slices", counted)
    async with serving(tmp_path, answer(200, content)) as (cluster, _):
        task = asyncio.create_task(other())
        listing = await cluster.list(RAY_CLUSTERS)
        task.cancel()
    assert len(listing.items) == 40
    assert len(set(seen)) == len(seen) >= 20


@pytest.mark.parametrize("order", ["ax", "xa", "axa", "aax", "axxa"])
def test_an_object_that_begins_otherwise_costs_no_other(order: str) -> None:
    """A field that no schema knows comes before its metadata, as a tenant has named it so."""
    head = '{"apiVersion":"ray.io/v1",'
    tail = '"kind":"RayCluster","metadata":{"name":"%s"},"spec":{}}'
    made = {"a": head + tail % "a", "x": head + '"b":{"q":1},' + tail % "x"}
    items = ",".join(made[one] for one in order)
    end = '],"kind":"L","metadata":{"resourceVersion":"5"}}'
    page = page_of(RAY_CLUSTERS, f'{head}"items":[{items}{end}'.encode())
    assert "".join(one["metadata"]["name"] for one in page.items) == order
