"""Descriptions that nobody should believe: each ends with 2, says where and why, and advises."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run

IB = 'Switch\t2 "S-01"\t\t# "MF0;leaf:M/U1" enhanced port 0 lid 1 lmc 0\n'
HOST = '[1]\t"H-01"[1](01) \t\t# "n1 mlx5_0" lid 2 4xNDR\n\nCa\t1 "H-01"\t\t# "n1 mlx5_0"\n'
NODE = '{"apiVersion":"v1","kind":"Node","metadata":{"name":"n1","labels":{"a":"l1"}}}'
KUEUE = '{"apiVersion":"kueue.x-k8s.io/v1beta1","kind":"Topology","metadata":{"name":"t"},"spec":'

CASES: dict[str, tuple[bytes | str, str, str]] = {
    "empty": ("", "", "is empty"),
    "blank": ("\n \n", "", "is empty"),
    "binary": (b"\x7fELF\0\0\0", "", "is binary"),
    "not utf-8": (b"node,leaf\nn\xff,l\n", "", "is not UTF-8 (byte 11)"),
    "no format": ("what is this\n", "", "is in no format that is known"),
    "conf: huge range": (
        "SwitchName=l Nodes=n[1-999999999]\n",
        ":1: Nodes",
        "names more than 200000 hosts",
    ),
    "conf: huge product": ("SwitchName=l Nodes=n[1-9999][1-9999]\n", ":1", "200000 hosts"),
    "conf: many huge lines": (
        "SwitchName=a Nodes=a[1-150000]\nSwitchName=b Nodes=b[1-150000]\n",
        ":2: Nodes",
        "more than 50000 hosts",
    ),
    "conf: backwards": ("SwitchName=l Nodes=n[9-1]\n", ":1: Nodes", "runs backwards"),
    "conf: all nodes": ("SwitchName=l Nodes=ALL\n", ":1: Nodes", "stands for every node"),
    "conf: all nodes besides": ("SwitchName=l Nodes=n1,all\n", ":1: Nodes", "does not list them"),
    "conf: open bracket": ("SwitchName=l Nodes=n[1-2\n", ":1: Nodes", "do not match"),
    "conf: no range": ("SwitchName=l Nodes=n[NaN]\n", ":1: Nodes", "'NaN' where a range"),
    "conf: circle": (
        "SwitchName=a Switches=b\nSwitchName=b Switches=a\n",
        ":1: Switches",
        "stands in a circle",
    ),
    "conf: itself": ("SwitchName=a Switches=a\n", ":1: Switches", "stands in a circle"),
    "conf: unknown switch": ("SwitchName=a Switches=b\n", ":1: Switches", "is not defined"),
    "conf: twice": ("SwitchName=a Nodes=x\nSwitchName=a Nodes=y\n", ":2", "line 1 already"),
    "conf: both": ("SwitchName=a Nodes=x Switches=b\n", ":1", "has both nodes and switches"),
    "conf: unknown field": ("SwitchName=a Nods=x\n", ":1: Nods", "is no field"),
    "conf: field twice": ("SwitchName=a Nodes=x Nodes=y\n", ":1: Nodes", "is given twice"),
    "conf: no pair": ("SwitchName=a Nodes\n", ":1", "is no KEY=VALUE"),
    "conf: a name that is none": ("SwitchName=a Nodes=../x\n", ":1: Nodes", "is no name of a node"),
    "conf: no nodes": ("SwitchName=a\n", "", "names no node"),
    "conf: no switch": ("SwitchName=a Nodes=x\nNodes=y\n", ":2", "names no switch"),
    "yaml: circle": (
        "- topology: t\n  tree: {switches: [{switch: a, children: b}, {switch: b, children: a}]}\n",
        "",
        "stands in a circle",
    ),
    "yaml: all nodes": (
        "- topology: t\n  tree: {switches: [{switch: a, nodes: ALL}]}\n",
        "Nodes",
        "stands for every node",
    ),
    "yaml: nodes are a number": (
        "- topology: t\n  tree: {switches: [{switch: a, nodes: 1.5}]}\n",
        "[0].nodes",
        "is no text",
    ),
    "yaml: NaN": ("- topology: t\n  tree: {x: .nan}\n", "", "not finite"),
    "yaml: flat only": ("- topology: t\n  flat: true\n", "topologies", "names no switch"),
    "yaml: bomb": (
        "- topology: &a [x,x,x,x,x,x,x,x,x]\n"
        + "".join(
            f"- &{b} [{','.join(['*' + a] * 9)}]\n"
            for a, b in zip("abcdefg", "bcdefgh", strict=True)
        ),
        "",
        "aliases that expand",
    ),
    "topograph: a request": (
        '{"provider": {"name": "aws"}, "nodes": [{"region": "r", "instances": {"i": "n"}}]}',
        "instances",
        "is missing",
    ),
    "topograph: layers in a circle": (
        '{"instances": [{"id": "a", "network_layers": ["x", "y", "x"]}]}',
        "network_layers",
        "stands above itself",
    ),
    "topograph: no layers": ('{"instances": [{"id": "a"}]}', "network_layers", "names no switch"),
    "topograph: instances are a number": ('{"instances": 7}', "instances", "is no list"),
    "topograph: truncated": ('{"instances": [{"id": "a"', "", "ends too early"),
    "topograph: key twice": ('{"instances": [], "instances": []}', "", "twice"),
    "ib: no switch": ('Ca\t1 "H-01"\t\t# "n1 mlx5_0"\n', "", "describes no switch"),
    "ib: damaged line": (IB + "[1]\tH-01\n", ":2", "is no line of ibnetdiscover"),
    "ib: port too high": (IB + HOST.replace("[1]\t", "[3]\t", 1), ":2: port", "is no port"),
    "ib: port twice": (IB + HOST.replace("\n\n", "\n" + HOST, 1), ":3: port", "listed twice"),
    "ib: switch twice": (IB + HOST + "\n" + IB, ":6: Switch", "described in line 1"),
    "ib: a port of nobody": ('[1]\t"S-01"[1]\n' + IB + HOST, ":1: port", "before any switch"),
    "ib: no host": (IB + HOST.replace("n1 mlx5_0", "MT4129 ConnectX7 X Y"), "Ca", "no adapter"),
    "csv: no leaf": ("node,spine\nn,s\n", ":1: header", "no column for leaf"),
    "csv: leaf twice": ("node,leaf,asw\nn,l,l\n", ":1: header", "a second time"),
    "csv: empty leaf": ("node,leaf\nn1,l1\nn2,\n", ":3: leaf", "is no name"),
    "csv: no rows": ("node,leaf\n", "", "names no node"),
    "csv: open quote": ('node,leaf\nn1,"l1\n', ":", "is not CSV"),
    "csv: formula": ("node,leaf\n=cmd|calc,l\n", ":2: node", "is no name"),
    "nodes: none": (KUEUE + '{"levels":[{"nodeLabel":"a"}]}}', "Node", "no node is there"),
    "kueue: no levels": (
        f"[{NODE},{KUEUE}" + '{"levels":[]}}]',
        "spec.levels",
        "names no node label",
    ),
    "kueue: hosts alone": (
        f"[{NODE},{KUEUE}" + '{"levels":[{"nodeLabel":"kubernetes.io/hostname"}]}}]',
        "spec.levels",
        "names no level above the host",
    ),
    "nodes: name twice": (f"[{NODE},{NODE}]", "metadata.name", "stands twice"),
}


@pytest.mark.parametrize(("content", "where", "said"), CASES.values(), ids=CASES)
def test_what_cannot_be_read_is_refused_with_place_and_advice(
    run: Run, tmp_path: Path, content: bytes | str, where: str, said: str
) -> None:
    """Exit code 2, the file, the line or field, the reason, then a line of advice; no output."""
    path = tmp_path / "source"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("topology", "check", path)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0].startswith(f"error: {path}")
    assert where in lines[0]
    assert said in lines[0]
    assert lines[1].startswith("  ")
    assert len(lines[1]) > 10


def test_nodes_without_labels_are_nothing_to_import(run: Run, tmp_path: Path) -> None:
    """`check` says that they stand in one leaf; there is no description to import."""
    path = tmp_path / "source"
    path.write_text(NODE)
    result = run("topology", "import", path)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "metadata.labels: no node has a known label" in result.stderr


def test_a_file_that_is_not_there_ends_with_2(run: Run, tmp_path: Path) -> None:
    """So does a format that the content is not in."""
    result = run("topology", "import", tmp_path / "none")
    assert result.exit_code == 2
    assert "cannot be read" in result.stderr
    path = tmp_path / "conf"
    path.write_text("SwitchName=l Nodes=n[1-4]\n")
    assert run("topology", "import", path).exit_code == 0
    for other in ("ibnetdiscover", "slurm-yaml", "topograph", "kubernetes", "csv"):
        assert run("topology", "import", path, "--from", other).exit_code == 2, other
