"""Files that are none, and those that would take all memory or time."""

from __future__ import annotations

from pathlib import Path

import pytest

from fourleaf.model.problems import BadInput
from fourleaf.model.readers import Source, open_paths, read

DEEP = 100_000
BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + i)}: &{chr(98 + i)} [{','.join(['*' + chr(97 + i)] * 9)}]\n" for i in range(9)
)
TEXTS: dict[str, tuple[str, bytes, str, str]] = {
    "NaN": ("a.json", b'{"kind": NaN}', "not JSON", "Correct"),
    "duplicate key": ("a.json", b'{"a": 1, "a": 2}', 'key "a" twice', "Keep one"),
    "duplicate hidden by an escape": (
        "a.json",
        b'{"a": "x", "a": "y\\u003a"}',
        'key "a" twice',
        "Keep one",
    ),
    "deep lists": ("a.json", b"[" * DEEP + b"]" * DEEP, "too deeply", "250 levels"),
    "deep objects": ("a.json", b'{"a":' * DEEP, "too deeply", "250 levels"),
    "moderately deep": ("a.json", b"[" * 900 + b"]" * 900, "too deeply", "250 levels"),
    "truncated JSON": ("a.json", b'{"kind": "Pod", "spec": {"co', "too early", "truncated"),
    "truncated YAML": ("a.yaml", b'kind: "Pod\nspec:', "too early", "truncated"),
    "empty": ("a.json", b"", "empty", "at least one object"),
    "blank YAML": ("a.yaml", b"---\n# nothing\n---\n", "no object", "at least one object"),
    "binary": ("a.yaml", b"\x7fELF\0\0\0", "binary", "UTF-8"),
    "not UTF-8 YAML": ("a.yaml", b"a: \xff\xfe", "UTF-8", "UTF-8"),
    "not UTF-8 JSON": ("a.json", b'{"a": "\xff"}', "UTF-8", "UTF-8"),
    "YAML duplicate key": ("a.yaml", b"a: 1\na: 2\n", "twice", "Keep one"),
    "YAML aliases that explode": ("a.yaml", BOMB.encode(), "aliases that expand", "Write"),
    "YAML deep": ("a.yaml", b"a: " + b"[" * DEEP, "too deeply", "less nesting"),
    "YAML NaN": ("a.yaml", b"a: .nan", "not finite", "Give a number"),
    "YAML tab": ("a.yaml", b"a:\n\tb: 1", "not YAML", "Correct"),
    "YAML unknown alias": ("a.yaml", b"a: *b", "not YAML", "Correct"),
    "YAML key of a list": ("a.yaml", b"? [a]\n: 1", "no plain text", "plain text"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_refuses_the_file_by_name(case: str) -> None:
    """A file that cannot be decoded is refused by its name, with what is wrong and advice."""
    name, data, message, advice = TEXTS[case]
    with pytest.raises(BadInput) as caught:
        read([Source(name, data)])
    (problem,) = caught.value.problems
    assert problem.source == name
    assert message in problem.message
    assert advice in problem.advice


def test_a_200_mb_file_is_refused_unread(tmp_path: Path) -> None:
    """A sparse file of 200 MB is refused by its size, so no byte of it is held."""
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(200_000_000)
    (source,) = open_paths([path])
    assert source.data == b""
    with pytest.raises(BadInput, match=r"huge\.json: .*larger than 160 MiB\n  Split it"):
        read([source])


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and a folder without manifests are named with advice."""
    sources = open_paths([tmp_path / "missing.yaml", tmp_path, "-"])
    with pytest.raises(BadInput) as caught:
        read(sources)
    messages = [problem.message for problem in caught.value.problems]
    assert "No such file" in messages[0]
    assert messages[1] == "has no manifest"
    assert messages[2] == "is not connected"
