"""One safeguard taken out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


class DriftError(Exception):
    """The code is no longer what a mutant was written for."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """`safeguard` is taken out by writing `new` for `old`, which `file` has once.

    `test` has to fail then; `harm` says what would happen without the safeguard.
    """

    safeguard: str
    harm: str
    file: str
    old: str
    new: str
    test: str

    def mutated(self, root: Path = ROOT) -> str:
        """The file without the safeguard. Raises `DriftError`."""
        text = (root / self.file).read_text()
        count = text.count(self.old)
        if count != 1:
            raise DriftError(
                f"mutant {self.safeguard!r}: {self.file} has the text to replace {count} times\n"
                "Write the mutant anew for the code as it is: tests/mutants/catalogue.py.\n"
                f"{self.old}"
            )
        return text.replace(self.old, self.new)

    def apply(self, root: Path) -> None:
        """Take the safeguard out of the copy in `root`. Raises `DriftError`."""
        (root / self.file).write_text(self.mutated(root))
