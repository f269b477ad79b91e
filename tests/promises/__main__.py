"""Count the verdicts: `python -m tests.promises`."""

import sys
from collections import Counter

from tests.promises.table import promises


def main() -> None:
    """Print how many rows have which verdict, then those that are not kept yet."""
    rows = promises()
    counts = Counter(row.verdict for row in rows).items()
    left = [f"{row.n:4} {row.promise}. {row.why}" for row in rows if row.verdict == "not yet"]
    sys.stdout.write("\n".join([", ".join(f"{one} {count}" for one, count in counts), *left, ""]))


if __name__ == "__main__":
    main()
