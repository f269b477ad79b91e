"""What is beyond what may be kept of one object is not parsed, and told like what was cut."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from typing import Any

import orjson
import pytest

from fourleaf.k8s_bridge.cluster import parse_limit
from fourleaf.k8s_bridge.cluster import slim as slim_objects
from fourleaf.k8s_bridge.cluster.entry_limit import TOO_LARGE, has_too_many_entries
from fourleaf.k8s_bridge.cluster.errors import ClusterError
from fourleaf.k8s_bridge.cluster.kinds import (
    CONFIG_MAPS,
    JOBS,
    RAY_CLUSTERS,
    RESOURCE_CLAIMS,
    VOLCANO_POD_GROUPS,
    Kind,
)
from fourleaf.k8s_bridge.cluster.slim import event_of, object_of
from fourleaf.model.readers import Source, read
from tests.model.readers import made as objects

Body = dict[str, Any]
METADATA = {"name": "o", "namespace": "n", "uid": "u", "resourceVersion": "5", "labels": {"a": "}"}}
MUCH = [b"[]"] * 480_000
DEEP = b"[" * 1_100 + b"]" * 1_100


def _text(kind: Kind, much: bytes) -> bytes:
    head = orjson.dumps({"apiVersion": kind.api_version, "kind": kind.name, "metadata": METADATA})
    return head[:-1] + b',"spec":{"minMember":2,"a":' + much + b'},"status":{}}'


def _event(kind: Kind, much: bytes) -> bytes:
    return b'{"type":"MODIFIED","object":' + _text(kind, much) + b"}"


def _listed(parts: list[bytes]) -> bytes:
    return b"[" + b",".join(parts) + b"]"


@pytest.fixture
def parsed_bytes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The lengths of what is parsed from now on."""
    found: list[int] = []
    loads = orjson.loads

    class Counting:
        """The parser, which counts."""

        JSONDecodeError = orjson.JSONDecodeError

        def loads(self, content: bytes) -> Any:
            """What the parser makes of it."""
            found.append(len(content))
            return loads(content)

    monkeypatch.setattr(parse_limit, "orjson", Counting())
    return found


@pytest.mark.parametrize("kind", [VOLCANO_POD_GROUPS, RAY_CLUSTERS, RESOURCE_CLAIMS], ids=str)
@pytest.mark.parametrize("word", ["MODIFIED", "ERROR"])
def test_of_very_much_only_the_metadata_is_parsed(
    kind: Kind, word: str, parsed_bytes: list[int]
) -> None:
    """Of 1.4 MB of empty lists a hundred bytes are, whatever words stand among them."""
    event = event_of(kind, _event(kind, _listed([b'"%b"' % word.encode(), *MUCH])))
    assert event.type == "MODIFIED"
    assert event.object == {"metadata": METADATA, "spec": TOO_LARGE, "status": TOO_LARGE}
    assert sum(parsed_bytes) < 200


def test_of_much_that_is_nested_too_deep_only_the_metadata_is_read(
    parsed_bytes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tokens would be looked at one by one, which takes ten times as long as to parse them."""
    looked: list[int] = []
    shallow = parse_limit._shallow

    def counted(content: bytes, levels: int, *limits: int) -> tuple[bytes, int]:
        found = shallow(content, levels, *limits)
        looked.append(len(found[0]))
        return found

    monkeypatch.setattr(parse_limit, "_shallow", counted)
    line = _event(RAY_CLUSTERS, _listed([DEEP, *MUCH[:30_000]]))
    assert event_of(RAY_CLUSTERS, line).object["spec"] == TOO_LARGE
    assert sum(looked) < 200
    assert object_of(RAY_CLUSTERS, line[len(b'{"type":"MODIFIED","object":') : -1])["metadata"]


@pytest.mark.parametrize(
    "much",
    [
        b'"' + b"[{," * 400_000 + b'"',
        orjson.dumps(json.dumps([{"k": ["v", "\\"]}] * 30_000)),
        _listed([b'{"name":"trainer-%d","value":"of some length"}' % i for i in range(30_000)]),
    ],
    ids=["a string", "JSON in a string", "very many objects"],
)
def test_what_is_written_in_earnest_is_parsed(much: bytes) -> None:
    """Brackets and commas of strings do not count, and 1.4 MB of objects have fewer."""
    assert len(_text(RAY_CLUSTERS, much)) > 700_000
    assert object_of(RAY_CLUSTERS, _text(RAY_CLUSTERS, much))["spec"]["minMember"] == 2


def test_very_many_strings_are_not_looked_at_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a million empty strings are counted and no more."""
    monkeypatch.setattr(parse_limit, "outside", lambda _: pytest.fail("looked at"))
    much = _listed([b'""'] * 480_000)
    assert object_of(JOBS, _text(JOBS, much))["spec"] == TOO_LARGE


def test_events_are_read_without_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lists by the hundred thousand would have the collector look at all that is kept."""
    gc.enable()
    seen: list[bool] = []
    trimmed = slim_objects.trimmed

    def noted(kind: Kind, body: Body) -> Body:
        seen.append(gc.isenabled())
        return trimmed(kind, body)

    monkeypatch.setattr(slim_objects, "trimmed", noted)
    event_of(VOLCANO_POD_GROUPS, _event(VOLCANO_POD_GROUPS, b"[]"))
    assert seen == [False]
    assert gc.isenabled()


def test_what_is_long_already_is_not_walked() -> None:
    """The length of a list says that it is too much; its entries are not looked at."""

    class Long(list[int]):
        """A list that is not to be walked."""

        def __iter__(self) -> Iterator[int]:
            raise AssertionError

    assert has_too_many_entries({"a": Long(range(20_000))})


def test_kinds_of_operators_are_parsed() -> None:
    """What is no tenant's is kept whole, however much it is."""
    kept = object_of(CONFIG_MAPS, _text(CONFIG_MAPS, _listed(MUCH[:200_000])))
    assert len(kept["spec"]["a"]) == 200_000


def test_what_begins_otherwise_is_parsed() -> None:
    """Metadata that an API server would not write there are found by the parser."""
    text = b'{"a":[],' + _text(VOLCANO_POD_GROUPS, _listed(MUCH[:200_000]))[1:]
    assert object_of(VOLCANO_POD_GROUPS, text)["metadata"] == METADATA


def test_metadata_of_any_depth_are_read() -> None:
    """What says who wrote each field is nested as deep as the fields."""
    deep = b'"metadata":{"managedFields":' + DEEP + b","
    text = _text(RAY_CLUSTERS, _listed(MUCH)).replace(b'"metadata":{', deep, 1)
    assert object_of(RAY_CLUSTERS, text)["metadata"] == METADATA


OF_FIELDS = b'{"fieldsV1":{' + b",".join([b'"f:%d":{}' % i for i in range(60_000)]) + b"}}"


@pytest.mark.parametrize("is_sorted", [False, True])
def test_metadata_that_are_very_long_are_not_gone_through(
    is_sorted: bool, monkeypatch: pytest.MonkeyPatch, parsed_bytes: list[int]
) -> None:
    """What says who wrote 60,000 fields comes last, of kinds of operators before the name.

    There only what says which object it is counts, and nothing is made of the rest.
    """
    tokens: list[int] = []
    shallow = parse_limit._shallow

    def counted(content: bytes, levels: int, *limits: int) -> tuple[bytes, int]:
        tokens.append(limits[1])
        return shallow(content, levels, *limits)

    monkeypatch.setattr(parse_limit, "_shallow", counted)
    long = b'"managedFields":[' + OF_FIELDS + b"]"
    if is_sorted:
        text = _event(RAY_CLUSTERS, b"{}").replace(b'"metadata":{', b'"metadata":{%b,' % long, 1)
    else:
        text = _event(RAY_CLUSTERS, b"{}").replace(
            b'"labels":{"a":"}"}', b'"labels":{"a":"}"},' + long
        )
    monkeypatch.setattr(parse_limit, "MOST_MARKS", 1_000)
    alone = parse_limit.metadata_alone(text, text.index(b'{"apiVersion"'))
    assert alone is not None
    kept = {key: METADATA[key] for key in ("name", "namespace", "uid", "resourceVersion")}
    wanted = kept if is_sorted else METADATA | {"managedFields": None}
    assert alone == {"metadata": wanted, "spec": TOO_LARGE, "status": TOO_LARGE}
    assert tokens == [parse_limit.MOST_TOKENS]
    assert sum(parsed_bytes) < 400


def test_metadata_that_are_very_long_and_deep_are_read() -> None:
    """No parser takes them, and the name stands behind: they are gone through to their end."""
    long = b'"metadata":{"managedFields":[' + DEEP + b"," + OF_FIELDS + b"],"
    text = _text(RAY_CLUSTERS, b"{}").replace(b'"metadata":{', long, 1)
    alone = parse_limit.metadata_alone(text)
    assert alone is not None
    assert alone["metadata"]["name"] == "o"


def test_what_is_no_json_is_refused_however_long() -> None:
    """Nothing is made of half an object, nor of what is none."""
    whole = b'{"metadata":{"name":"o"'
    for text in (whole + b"[" * 200_000, b"[" * 200_000, b"{," * 200_000):
        with pytest.raises(ClusterError):
            object_of(RAY_CLUSTERS, text)


def test_a_group_that_is_not_parsed_holds_its_pods() -> None:
    """As one of which only parts are kept: none of its pods starts, and it is told."""
    group = objects.group("g", "scheduling.volcano.sh/v1beta1")
    text = orjson.dumps({**group, "spec": {"a": "MUCH"}}).replace(b'"MUCH"', _listed(MUCH))
    slim = {key: group[key] for key in ("apiVersion", "kind")} | object_of(VOLCANO_POD_GROUPS, text)
    said = {"scheduling.k8s.io/group-name": "g"}
    members = [objects.pod(name, 1, annotations=said) for name in "ab"]
    items = orjson.dumps([objects.node(), slim, *members])
    found = read([Source("in.json", items)], strict=False)
    assert slim["spec"] == TOO_LARGE
    assert all(gang.hold is not None for gang in found.snapshot.gangs)
    assert any(TOO_LARGE in str(problem) for problem in found.problems)
