"""`fourleaf map` on files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from fourleaf.cli.cluster.read_cluster import ClusterAccess
from fourleaf.cli.maps.source import replace_map
from fourleaf.k8s_bridge.cluster.errors import NotFound
from fourleaf.k8s_bridge.cluster.kinds import STATEFUL_SETS
from fourleaf.k8s_bridge.cluster.memory import MemoryCluster
from fourleaf.k8s_bridge.cluster.protocol import Target
from fourleaf.model.device_maps.map_annotations import map_at
from fourleaf.model.problems import BadInput
from fourleaf.model.readers.pods.device_map import DEVICE_MAP
from tests.cli.conftest import Run
from tests.model.device_maps.made import AKS, node, stated, stateful_set
from tests.model.device_maps.test_check import ALL, DOCUMENTED
from tests.model.readers.made import pod

Write = Callable[[str, str], Path]


@pytest.fixture(name="given")
def _given(write: Write) -> Callable[..., Path]:
    """Write objects to a file."""

    def given(*bodies: object) -> Path:
        return write("in.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": bodies}))

    return given


Given = Callable[..., Path]


def test_a_map_is_made_in_every_form(run: Run, given: Given) -> None:
    """The text, a patch for the template, values for a chart, and data say the same."""
    path = given(*ALL)
    words = ("map", "generate", "-f", path, "--devices", 2, "--pods", 3)
    text = f"0={AKS}0:0,1\n1={AKS}0:2,3\n2={AKS}1:0,1\n"
    assert run(*words, "-o", "annotation").stdout == text
    patch = yaml.safe_load(run(*words, "-o", "patch").stdout)
    said = patch["spec"]["template"]["metadata"]["annotations"]
    values = yaml.safe_load(run(*words, "-o", "values").stdout)
    assert said == values["podAnnotations"] == {"gpu-scheduling-map": text}
    document = json.loads(run(*words, "-o", "json").stdout)
    assert document == yaml.safe_load(run(*words, "-o", "yaml").stdout)
    assert (document["provider"], document["annotation"]) == ("AKS", text)
    assert document["lines"][2] == {
        "index": 2,
        "node": f"{AKS}1",
        "devices": [0, 1],
        "pool": "workerpool",
    }


def test_a_table_cuts_no_name(run: Run, given: Given) -> None:
    """Whatever the width, the node stands there whole; who runs the cluster stands above."""
    shown = run("map", "generate", "-f", given(*ALL), "--pods", 1).stdout
    assert "AKS cluster, 4 usable GPU nodes of 4" in shown
    assert f"0    {AKS}0  0        workerpool" in shown


def test_too_many_pods_end_with_2_and_what_fits(run: Run, given: Given) -> None:
    """Sixteen devices are eight pairs."""
    result = run("map", "generate", "-f", given(*ALL), "--devices", 2, "--pods", 9)
    assert result.exit_code == 2
    assert "pods of 2 devices: there is room for 8 of 9 pods" in result.stderr
    other = run("map", "generate", "-f", given(*ALL), "--pool", "h100")
    assert other.exit_code == 2
    assert "pods of 1 device: no usable node" in other.stderr
    assert "Pools with usable GPU nodes: workerpool." in other.stderr


def test_check_names_line_node_and_advice(run: Run, given: Given) -> None:
    """The documented map names one device twice."""
    path = given(*ALL, stateful_set(DOCUMENTED, 5))
    result = run("map", "check", "sts/web", "-n", "ml", "-f", path)
    assert result.exit_code == 2
    assert f'"4={AKS}4:3": names device 3 of {AKS}4, which line 3 names too' in result.stdout
    assert "Name another device; no two pods share one." in result.stdout
    document = json.loads(run("map", "check", "-f", path, "-o", "json").stdout)
    assert [one["value"] for one in document["problems"]] == [f'"4={AKS}4:3"']


def test_check_of_a_sound_map_ends_with_0(run: Run, given: Given) -> None:
    """Without the fifth line, all is well."""
    lines = "".join(DOCUMENTED.splitlines(keepends=True)[:4])
    assert run("map", "check", "-f", given(*ALL, stateful_set(lines, 4))).exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("sts/other", "-n", "ml"), "StatefulSet ml/other: is not there"),
        (("sts/web",), "StatefulSet default/web: is not there"),
        (("sts/bare", "-n", "ml"), "StatefulSet ml/bare: carries no annotation"),
    ],
    ids=str,
)
def test_an_object_without_a_map_is_told(
    run: Run, given: Given, words: tuple[str, ...], said: str
) -> None:
    """Another name, the default namespace, and one that is there without a map."""
    bare = stateful_set(DOCUMENTED, 5)
    bare["metadata"] = {"name": "bare", "namespace": "ml"}
    del bare["spec"]["template"]["metadata"]
    result = run("map", "check", *words, "-f", given(*ALL, stateful_set(DOCUMENTED, 5), bare))
    assert result.exit_code == 2
    assert said in result.stderr


def test_fix_says_what_it_replaces(run: Run, given: Given) -> None:
    """Node 4 is gone; node 5 of the same pool takes its line, with the same device."""
    nodes = [node(f"{AKS}{number}") for number in (0, 1, 3, 5)]
    lines = "".join(DOCUMENTED.splitlines(keepends=True)[:4])
    path = given(*nodes, stateful_set(lines, 4))
    result = run("map", "fix", "sts/web", "-n", "ml", "-f", path)
    assert result.exit_code == 0, result.output
    assert "StatefulSet ml/web: line 3 would change" in result.stdout
    text = run("map", "fix", "sts/web", "-n", "ml", "-f", path, "-o", "annotation").stdout
    assert text == lines.replace(f"3={AKS}4", f"3={AKS}5")


def test_fix_ends_with_3_where_something_stays_wrong(run: Run, given: Given) -> None:
    """Both lines of node 4 move, and still name one device."""
    nodes = [node(f"{AKS}{number}") for number in (0, 1, 3, 5)]
    words = ("map", "fix", "sts/web", "-n", "ml", "-f", given(*nodes, stateful_set(DOCUMENTED, 5)))
    result = run(*words)
    assert result.exit_code == 3
    assert "which line 3 names too" in result.stderr


def test_files_cannot_be_changed(run: Run, given: Given) -> None:
    """--apply goes with a cluster."""
    path = given(*ALL, stateful_set(DOCUMENTED, 5))
    result = run("map", "fix", "sts/web", "-n", "ml", "-f", path, "--apply")
    assert result.exit_code == 2
    assert "nothing can be changed in files" in result.stderr


def test_a_cluster_that_cannot_be_reached_ends_with_2(run: Run, tmp_path: Path) -> None:
    """With the file that was tried."""
    result = run("map", "check", "--kubeconfig", tmp_path / "none")
    assert result.exit_code == 2
    assert str(tmp_path / "none") in result.stderr


def test_what_is_no_object_is_a_usage_error(run: Run, given: Given) -> None:
    """A kind that carries no map, or a name alone."""
    for words in ("service/web", "web", "sts/"):
        result = run("map", "check", words, "-f", given(*ALL))
        assert result.exit_code == 2
        assert "is not KIND/NAME" in result.stderr


def test_lint_refuses_lines_that_no_pod_can_use(run: Run, given: Given) -> None:
    """Two lines for one device, once for all pods with the map; a node that is not there."""
    pods = [mapped(f"w-{i}", DOCUMENTED) for i in range(2)]
    told = run("lint", "-f", given(*ALL, *pods), "-o", "json")
    errors = [one for one in json.loads(told.stdout)["problems"] if one["severity"] == "error"]
    assert told.exit_code == 2
    assert [one["message"] for one in errors] == [
        f"names device 3 of {AKS}4, which line 3 names too"
    ]
    gone = run("lint", "-f", given(ALL[0], mapped("w-1", f"0={AKS}0:0\n1={AKS}1:0")))
    assert gone.exit_code == 2
    assert f"names {AKS}1, which is no node of the cluster" in gone.stdout
    assert run("lint", "-f", given(mapped("w-1", f"0={AKS}0:0\n1={AKS}1:0"))).exit_code == 0


def test_why_names_the_node_that_a_line_lacks(run: Run, given: Given) -> None:
    """Line 1 names a node that is gone; line 4 a device that the pod of line 3 takes first."""
    path = given(
        *ALL, mapped("gone-1", "1=gone:0"), *(mapped(f"w-{i}", DOCUMENTED) for i in (3, 4))
    )
    why = run("why", "ml/gone-1", "-f", path)
    assert why.exit_code == 3
    assert "its device map names gone, which is no node of the cluster" in words(why.stdout)
    second = run("why", "ml/w-4", "-f", path)
    assert "name devices in its line of the device map that no other pod has" in words(
        second.stdout
    )


def words(text: str) -> str:
    """The text on one line."""
    return " ".join(text.split())


def mapped(name: str, text: str) -> dict[str, object]:
    """A pod that waits with this map."""
    return pod(name, None, annotations={"gpu-scheduling-map": text})


class Written(MemoryCluster):
    """A cluster in which a controller changes `change` of an object just before each of `times`."""

    def __init__(self, change: dict[str, Any], times: int) -> None:
        super().__init__()
        self.change, self.times = change, times

    async def patch(self, kind: Any, target: Target, patch: Any, subresource: str = "") -> Any:
        """Let the controller be first."""
        if self.times:
            self.times -= 1
            await super().patch(kind, Target(target.namespace, target.name), self.change)
        return await super().patch(kind, target, patch, subresource)


@pytest.mark.parametrize(
    ("change", "after"),
    [
        ({"metadata": {"labels": {"rollout": "2"}}}, "0=n1:0\n"),
        (
            {"spec": {"template": {"metadata": {"annotations": {DEVICE_MAP: "0=n2:0\n"}}}}},
            "0=n2:0\n",
        ),
    ],
)
async def test_what_others_write_meanwhile_stops_a_fix_only_where_it_is_the_map(
    change: dict[str, Any], after: str
) -> None:
    """A controller writes three times first: its labels stand beside our map, its own map stays."""
    cluster = Written(change, 3)
    body = stateful_set("0=n0:0\n", 1)
    body["metadata"]["namespace"] = "default"
    at = stated(await cluster.create(STATEFUL_SETS, "default", body))
    try:
        await replace_map(cluster, ClusterAccess(), at, "0=n1:0\n")
    except BadInput:
        assert after == "0=n2:0\n"
    now = await cluster.get(STATEFUL_SETS, Target("default", "web"))
    assert map_at(now, at.prefix) == after


async def test_an_object_that_goes_while_its_map_is_fixed_is_named() -> None:
    """Another version was looked at, and by the second try it is not there any more."""
    cluster = Written({"metadata": {"labels": {"rollout": "2"}}}, 1)
    body = stateful_set("0=n0:0\n", 1)
    body["metadata"]["namespace"] = "default"
    at = stated(await cluster.create(STATEFUL_SETS, "default", body))
    cluster.get = absent  # type: ignore[method-assign]
    with pytest.raises(BadInput) as bad:
        await replace_map(cluster, ClusterAccess(), at, "0=n1:0\n")
    assert [one.object for one in bad.value.problems] == ["StatefulSet default/web"]


async def absent(kind: Any, target: Target) -> Any:
    """Find nothing."""
    raise NotFound(f"{kind.plural} {target} not found", 404, "NotFound")
