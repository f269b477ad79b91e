#!/usr/bin/env python3
"""The scheduler by the name that users of an older one type: `fourleaf run`, with its options.

Any Python 3 reads this file; what it runs is the command of the checkout, else one on the PATH.
"""

import os
import shutil
import sys
from pathlib import Path

BUILT = Path(__file__).resolve().parent.parent / ".venv" / "bin" / "fourleaf"


def main() -> None:
    """Become `fourleaf run`."""
    command = os.environ.get("FOURLEAF") or shutil.which(BUILT) or shutil.which("fourleaf")
    if command is None:
        sys.exit(f"{BUILT}: is not there.\nAdvice: Type make install, or pip install fourleaf.")
    os.execvp(command, [command, "run", *sys.argv[1:]])  # noqa: S606 - it becomes the command


if __name__ == "__main__":
    main()
