"""A text parsed in parts by several processes is the text parsed as a whole."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fourleaf.model.readers.text import yaml, yaml_lists
from fourleaf.model.readers.text.json import BadText
from fourleaf.model.readers.text.yaml_lists import parse_in_parts

whole = yaml._loads_all

ITEM = """- apiVersion: v1
  kind: Pod
  metadata:
    annotations:
      note: |
        a block
        - with a dash

      folded: >-
        text
    name: pod-{i}
  spec: {{containers: [{{name: "a: b", args: [1, 2.5, null, true]}}]}}
"""
LIST = "apiVersion: v1\nitems:\n{items}kind: List\nmetadata:\n  resourceVersion: ''\n"


def listed(count: int) -> str:
    """A List as kubectl prints it."""
    return LIST.format(items="".join(ITEM.format(i=i) for i in range(count)))


def in_parts(text: str, helpers: int = 1) -> list[Any] | None:
    """Parse `text` in parts, however short it is."""
    return parse_in_parts(text, whole, helpers, least=0)


@pytest.mark.parametrize("helpers", [1, 3])
def test_parts_make_up_the_whole(helpers: int) -> None:
    """Items, their order, and the keys around them are the same, in the same order."""
    text = listed(9)
    found = in_parts(text, helpers)
    assert found == whole(text)
    assert found is not None
    assert list(found[0]) == ["apiVersion", "items", "kind", "metadata"]


def test_keys_may_stand_before_the_items() -> None:
    """Some writers sort the keys in another way."""
    text = "kind: List\napiVersion: v1\n" + listed(4).split("\n", 1)[1].split("kind: List")[0]
    assert in_parts(text) == whole(text)


@pytest.mark.parametrize(
    "text",
    [
        "a: 1\n" * 9,
        "items: [1, 2]\nother:\n- 3\n- 4\n",
        "items:\n  - 1\n  - 2\n  - 3\n- 4\n- 5\n",
        "items:\n- 1\nother:\n- 2\n- 3\n- 4\n- 5\n- 6\n",
        "items:\n- 1\n- 2\n---\nitems:\n- 3\n- 4\n",
        "items:\n- 1\n- 2\n---\n- 3\n- 4\n",
        "items:\n- 1\n- 2\n---\n# nothing\n- 3\n- 4\n- 5\n",
        "items:\n- 1\n- 2\n...\n- 3\n- 4\n",
        "items:\n- 1\n- 2\n- 3\n- 4\n- 5\n---\n",
        "items:\n- 1\n- 2\n%TAG\n- 3\n- 4\n",
        "items:\n- 1\n- 2\n- 3\n- 4\nitems:\n- 5\n",
        "items:\n- &a 1\n- 2\n- 3\n- 4\n- *a\n",
        'items:\n- a: "x\n- b\n- c\n- d"\n',
        "items:\n- [1,\n- 2,\n- 3,\n- 4]\n",
        "items:\n- 1\n- 2\n- 3\n- {4: 5}\n",
        "items:\n- 1\n- 2\n- 3\n- 99999999999999999999999\n",
        "items:\r\n- 1\r\n- 2\r\n- 3\r\n",
        "items:\n- 1\n- 2\n- 3\n- {4: [\n",
    ],
)
def test_other_shapes_are_left_to_the_parser_of_the_whole(text: str) -> None:
    """Where a part could mean something else by itself, there are no parts."""
    found = in_parts(text)
    assert found is None or found == whole(text)


def test_an_error_names_the_line_of_the_whole_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong in the part of a helper is told as if there had been no parts."""
    text = listed(6).replace("name: pod-5", "name: pod-5\n    name: pod-6")
    with pytest.raises(BadText) as alone:
        yaml.parse(text)
    monkeypatch.setattr(yaml_lists, "LEAST_CHARACTERS", 0)
    monkeypatch.setattr(yaml_lists, "processors", lambda: 2)
    with pytest.raises(BadText) as shared:
        yaml.parse(text)
    assert str(shared.value) == str(alone.value)


def test_numbers_that_are_not_finite_are_still_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """JSON has no NaN, so a helper could not hand it over."""
    monkeypatch.setattr(yaml_lists, "LEAST_CHARACTERS", 0)
    monkeypatch.setattr(yaml_lists, "processors", lambda: 2)
    with pytest.raises(BadText, match="not finite"):
        yaml.parse("items:\n- 1\n- 2\n- .nan\n")


def test_without_a_helper_the_whole_is_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that cannot be started costs speed alone."""
    monkeypatch.setattr(yaml_lists.sys, "executable", os.devnull)
    assert in_parts(listed(6)) is None


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**64 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab-: #", max_size=4), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=15, deadline=None)
@given(st.lists(values, min_size=2, max_size=8))
def test_whatever_is_dumped_is_read_the_same(items: list[Any]) -> None:
    """Parts and whole agree on generated lists, or there are no parts."""
    text = vars(yaml.ryaml)["dumps"]({"apiVersion": "v1", "items": items, "kind": "List"})
    found = in_parts(text)
    assert found is None or found == whole(text)
