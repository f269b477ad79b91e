"""Hostile bytes: whatever a tenant writes is read or refused by name, briefly and in time."""

from __future__ import annotations

import random
import time

import pytest

from tests.fuzz.__main__ import CORPUS, fuzz, grow, kept
from tests.fuzz.growth import growths
from tests.fuzz.law import Broken, Reader, check, check_growth
from tests.fuzz.readers import READERS
from tests.seeds import FIRST_SEED

EXAMPLES, DEEP_EXAMPLES = 3, 400
"""Of each reader, in `make test` and in `make deep`; `make fuzz` runs for as long as it is told."""

MANY, DEEP_PLACES = 128, 40
"""Entries where an input has one, and at how many places of each reader's input."""

each = pytest.mark.parametrize("name", READERS)


def test_what_is_valid_is_read() -> None:
    """The inputs that all others are made of keep the law themselves."""
    for reader in READERS.values():
        for seed in reader.seeds:
            check(reader, seed)


def test_what_broke_a_reader_once_breaks_it_no_more() -> None:
    """Everything that was found by fuzzing, as the shortest input that shows it."""
    for reader in READERS.values():
        for file in kept(reader):
            check(reader, file.read_bytes())


def test_all_that_is_kept_is_read() -> None:
    """No folder of the corpus belongs to a reader that is gone."""
    files = {file for one in READERS.values() for file in kept(one)}
    assert files == {file for file in CORPUS.rglob("*") if file.is_file()}


@each
def test_a_few_hostile_inputs(name: str) -> None:
    """Read or refused, in 50 ms of CPU time for each KiB."""
    fuzz(READERS[name], EXAMPLES, FIRST_SEED)


@pytest.mark.deep
@each
def test_many_hostile_inputs(name: str) -> None:
    """The same with many more."""
    fuzz(READERS[name], DEEP_EXAMPLES, FIRST_SEED + 1)


@pytest.mark.deep
@each
def test_twice_as_many_entries_take_at_most_three_times_as_long(name: str) -> None:
    """No list, map or text costs the square of its length."""
    grow(READERS[name], MANY, DEEP_PLACES, random.Random(FIRST_SEED))  # noqa: S311


def _reader(read: object) -> Reader:
    return Reader("made up", read, (b"[]",), (ValueError,))  # type: ignore[arg-type]


def _long(_: bytes) -> tuple[str, ...]:
    return ("x" * 10_000,)


def _crash(_: bytes) -> tuple[str, ...]:
    raise TypeError("not promised")


def _refusal(_: bytes) -> tuple[str, ...]:
    raise ValueError("promised")


def _square(data: bytes) -> tuple[str, ...]:
    """Spend 20 ms on 1000 bytes, 80 ms on 2000."""
    end = time.process_time() + 0.02 * (len(data) / 1000) ** 2
    while time.process_time() < end:
        pass
    return ()


def test_the_law_finds_what_breaks_it() -> None:
    """A long message, another error than promised, a square: each is told; a refusal is not."""
    check(_reader(_refusal), b"x")
    with pytest.raises(Broken, match="10,000 characters"):
        check(_reader(_long), b"x")
    with pytest.raises(TypeError):
        check(_reader(_crash), b"x")
    with pytest.raises(Broken, match="twice as many"):
        check_growth(_reader(_square), lambda n: b"x" * n, 1000)
    assert growths(Reader("all", _refusal, (b'{"a":[1],"b":"x"}',)))
