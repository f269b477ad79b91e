"""Files, folders, standard input, JSON and YAML in all the shapes that kubectl prints."""

from __future__ import annotations

import copy
import io
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fourleaf.model.problems import BadInput
from fourleaf.model.readers import Source, open_paths, read
from tests.model.readers.made import (
    Body,
    config,
    group,
    job,
    node,
    owned,
    pod,
)

WORLD: list[Body] = [
    node("n1"),
    node("n2", spec={"taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}),
    pod("a", nodeName="n1", nodeSelector={"a": "b"}, tolerations=[{"operator": "Exists"}]),
    pod("b", labels={"scheduling.x-k8s.io/pod-group": "g"}),
    group("g", "scheduling.x-k8s.io/v1alpha1", minMember=1),
    job("j", parallelism=2, annotations={"topology.scheduler/gpu-count": "16"}),
    owned(pod("k-0", schedulingGroup={"podGroupName": "h"}), "Job", "k"),
    group("h", "scheduling.k8s.io/v1alpha2", schedulingPolicy={"gang": {"minCount": 1}}),
    config(network={"uplinks": {"leaf-1": "1Tb"}}),
]
LIST: Body = {"apiVersion": "v1", "kind": "List", "items": WORLD}


def test_json_and_yaml_read_alike() -> None:
    """The same objects give the same snapshot from JSON, one YAML list and YAML documents."""
    texts = {
        "a.json": json.dumps(LIST),
        "a.yaml": yaml.safe_dump(LIST),
        "b.yaml": yaml.safe_dump_all(WORLD),
        "c.yaml": json.dumps(LIST),
        "-": json.dumps(WORLD),
    }
    found = [read([Source(name, text.encode())]).snapshot for name, text in texts.items()]
    assert all(snapshot == found[0] for snapshot in found)
    assert read([Source("live", objects=WORLD)]).snapshot == found[0]


def test_typed_lists() -> None:
    """Items of a PodList need no kind of their own."""
    items = [{key: value for key, value in pod().items() if key in ("metadata", "spec")}]
    text = json.dumps({"apiVersion": "v1", "kind": "PodList", "items": items})
    assert len(read([Source("a.json", text.encode())]).snapshot.gangs) == 1


def test_folder_and_stdin(tmp_path: Path) -> None:
    """A folder is read recursively in the order of names; other files are left alone."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yml").write_text(yaml.safe_dump(pod("b")))
    (tmp_path / "a.json").write_text(json.dumps(pod("a")))
    (tmp_path / "notes.txt").write_text("not for us")
    sources = open_paths([str(tmp_path), "-"], io.BytesIO(json.dumps(pod("c")).encode()))
    assert [Path(source.name).name for source in sources] == ["a.json", "b.yml", "-"]
    assert len(read(sources).snapshot.gangs) == 3


def test_anchors_and_merges() -> None:
    """A few aliases and merge keys are resolved; what stands in the object itself wins."""
    text = b"""
common: &common {apiVersion: v1, kind: Pod}
items:
- <<: *common
  metadata: {name: a}
  spec: &spec {schedulerName: gpu-scheduler, priority: 3}
- <<: *common
  metadata: {name: b}
  spec:
    <<: *spec
    priority: 4
kind: List
apiVersion: v1
"""
    gangs = read([Source("a.yaml", text)]).snapshot.gangs
    assert [(gang.key.name, gang.priority) for gang in gangs] == [("a", 3), ("b", 4)]


def test_shell_text_is_no_alias() -> None:
    """Ampersands and stars in commands are text, whatever they look like."""
    body = pod(containers=[{"command": ["sh", "-c", "- &a run\n- *b\nls *a & wait"]}])
    assert len(read([Source("a.yaml", yaml.safe_dump(body).encode())]).snapshot.gangs) == 1


@pytest.mark.parametrize(
    ("value", "accepted"), [("true", True), ("yes", False), ("on", False), ("1", False)]
)
def test_only_true_is_true(value: str, accepted: bool) -> None:
    """YAML's old booleans are refused rather than guessed."""
    text = f"apiVersion: v1\nkind: Node\nmetadata: {{name: n}}\nspec: {{unschedulable: {value}}}"
    problems = read([Source("a.yaml", text.encode())], strict=False).problems
    assert accepted == (not problems)


@pytest.mark.parametrize("value", ["010", "0o10", "1_0"])
def test_old_octals_are_never_misread(value: str) -> None:
    """A number that YAML versions read differently is 8 by the new spelling or refused."""
    text = f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: j}}\nspec: {{parallelism: {value}}}"
    reading = read([Source("a.yaml", text.encode())], strict=False)
    assert bool(reading.problems) == (value != "0o10")


JUNK = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(["v1", "Pod", "8", "-1", "1e99", "leaf-1", "True", "In"]),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [path]
    entries: Any = ()
    if isinstance(value, dict | list):
        entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in entries:
        found.extend(_paths(item, (*path, key)))
    return found


PATHS = [path for path in _paths(WORLD) if path]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(st.tuples(st.sampled_from(PATHS), JUNK), min_size=1, max_size=3))
def test_no_change_of_any_field_crashes(changes: list[tuple[tuple[Any, ...], Any]]) -> None:
    """Junk in any field of any object is read or refused by name, strictly and leniently."""
    world: Any = copy.deepcopy(WORLD)
    for path, junk in changes:
        target = world
        for key in path[:-1]:
            try:
                target = target[key]
            except (KeyError, IndexError, TypeError):
                break
        if isinstance(target, dict) or (isinstance(target, list) and isinstance(path[-1], int)):
            if isinstance(target, list) and path[-1] >= len(target):
                continue
            target[path[-1]] = junk
    sources = [Source("live", objects=world)]
    lenient = read(sources, strict=False)
    errors = [problem for problem in lenient.problems if problem.is_error]
    assert all(problem.advice and problem.message for problem in errors)
    try:
        read(sources)
    except BadInput:
        assert errors
    else:
        assert not errors


@settings(max_examples=150, deadline=None)
@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_no_bytes_crash(data: bytes) -> None:
    """Any bytes under any name are read or refused."""
    for name in ("a.json", "a.yaml", "-"):
        assert isinstance(read([Source(name, data)], strict=False).problems, tuple)
