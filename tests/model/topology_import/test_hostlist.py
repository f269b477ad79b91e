"""Hostlist expressions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourleaf.model.topology_import.hostlist import BadHostlist, expand, folded


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu1", ["gpu1"]),
        ("gpu[1-3]", ["gpu1", "gpu2", "gpu3"]),
        ("gpu[008-010,12],login", ["gpu008", "gpu009", "gpu010", "gpu12", "login"]),
        ("r[1-2]n[01-02]x", ["r1n01x", "r1n02x", "r2n01x", "r2n02x"]),
        ("a , b", ["a", "b"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
    ],
)
def test_a_hostlist_names_its_hosts_in_order(text: str, names: list[str]) -> None:
    """Ranges, padding, several brackets and commas, as Slurm expands them."""
    assert expand(text) == names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("n[1-999999999]", "more than 200000 hosts"),
        ("n[1-999][1-999]", "more than 200000 hosts"),
        ("n[3-1]", "runs backwards"),
        ("n[1-2", "do not match"),
        ("n1-2]", "do not match"),
        ("n[[1]]", "do not match"),
        ("n[a-b]", "where a range should stand"),
        ("n[]", "where a range should stand"),
        ("a,,b", "empty name"),
        ("", "empty name"),
        ("n[1][1][1][1][1]", "more than 4 brackets"),
        ("n[1-99999999999999999999]", "where a range should stand"),
    ],
)
def test_what_cannot_be_expanded_is_refused_before_it_is_built(text: str, said: str) -> None:
    """Counting comes first, so that no range fills the memory."""
    with pytest.raises(BadHostlist, match=said) as caught:
        expand(text)
    assert caught.value.advice


@given(st.sets(st.integers(0, 2000), min_size=1), st.sampled_from(("", "04")))
def test_folding_and_expanding_give_the_same_names(numbers: set[int], width: str) -> None:
    """Whatever the numbers and their width, nothing is lost or made up."""
    names = {f"gpu{number:{width}d}" for number in numbers}
    assert set(expand(folded(sorted(names)))) == names


def test_folding_makes_ranges() -> None:
    """Numbers in a row become one range; names without numbers stand as they are."""
    assert folded(["n8", "n9", "n10", "n12", "login"]) == "n[8-10,12],login"
    assert folded(["gpu001"]) == "gpu001"
