"""Fuzz the readers for minutes each: `make fuzz MINUTES=30`, or some by name.

What breaks the law is shrunk, told, and kept in `tests/fuzz/corpus`, which the tests read again.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import time
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, seed, settings

from tests.fuzz.growth import growths
from tests.fuzz.law import Reader, check, check_growth
from tests.fuzz.mutations import hostile
from tests.fuzz.readers import READERS

CORPUS = Path(__file__).parent / "corpus"
BATCH = 200
"""Examples between two looks at the clock."""

ENTRIES, PLACES = 256, 4
"""How many entries an input has where a valid one has one, and at how many places of it."""


def kept(reader: Reader) -> list[Path]:
    """What broke a reader once."""
    return sorted((CORPUS / reader.name.replace(": ", "-").replace(" ", "-")).glob("*"))


def keep(reader: Reader, data: bytes) -> Path:
    """Put what breaks a reader into the corpus."""
    folder = CORPUS / reader.name.replace(": ", "-").replace(" ", "-")
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / hashlib.sha256(data).hexdigest()[:12]
    file.write_bytes(data)
    return file


def fuzz(reader: Reader, examples: int, number: int) -> None:
    """Give a reader that many examples. Raises what breaks it, with the shortest input found."""
    last = b""

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    @given(hostile(reader))
    def one(data: bytes) -> None:
        nonlocal last
        last = data
        check(reader, data)

    try:
        one()
    except Exception as error:
        error.add_note(str(keep(reader, last)))
        raise


def grow(reader: Reader, entries: int, most: int, chance: random.Random) -> int:
    """Look at the growth of that many places of a reader's input; how many there were."""
    found = growths(reader)
    some = chance.sample(found, min(most, len(found)))
    for place, made in some:
        try:
            check_growth(reader, made, entries)
        except Exception as error:
            error.add_note(f"many entries at {place}")
            raise
    return len(some)


def main(arguments: list[str]) -> int:
    """Fuzz; 1 where a reader broke the law."""
    asked = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    asked.add_argument("readers", nargs="*", help="names of readers; all where none is given")
    asked.add_argument("--minutes", type=float, default=1.0, help="for each reader")
    given_ = asked.parse_args(arguments)
    failures = 0
    for name in given_.readers or READERS:
        reader, number, broken = READERS[name], time.time_ns() % 2**32, ""
        end, tried = time.monotonic() + given_.minutes * 60, 0
        try:
            while time.monotonic() < end:
                fuzz(reader, BATCH, number + tried)
                tried += BATCH
                grow(reader, ENTRIES, PLACES, random.Random(number + tried))  # noqa: S311
        except Exception as error:  # noqa: BLE001 - whatever it is, it breaks the law
            broken = f"{error!r}"[:600] + f" {getattr(error, '__notes__', '')}"
            failures += 1
        said = json.dumps({"reader": name, "examples": tried, "broken": broken})
        sys.stdout.write(f"{said}\n")
        sys.stdout.flush()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
