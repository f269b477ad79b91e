"""A copy of the product in which safeguards are taken out, one at a time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from compileall import compile_dir
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

from tests.depth import SHARE_VARIABLE
from tests.mutants.mutant import ROOT, Mutant

LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "dist", "build", "node_modules")
FAILED, PASSED = 1, 0
"""What pytest ends with where tests have failed, and where all have passed."""
SECONDS = 300.0
"""What one test may take; the slowest start a control plane."""


@dataclass(frozen=True, slots=True)
class Result:
    """How a test ended: pytest's exit status and what it printed."""

    status: int
    output: str


class Workshop:
    """A copy of the working tree in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "fourleaf"
        shutil.copytree(ROOT, self.root, symlinks=True, ignore=LEFT_OUT)
        # By what is in a file: one that is changed and put back within a second has its old time.
        compile_dir(self.root, quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)

    def run(self, *tests: str) -> Result:
        """Run tests in the copy."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-n", "0", "--no-header"]
        command += ["-p", "no:cacheprovider", "-p", "no:randomly", *tests]
        done = subprocess.run(
            command,
            cwd=self.root,
            env=os.environ
            | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1", SHARE_VARIABLE: "1/1"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return Result(done.returncode, done.stdout + done.stderr)

    def run_without(self, mutant: Mutant) -> Result:
        """Run the mutant's test in the copy without its safeguard, then put that back."""
        file = self.root / mutant.file
        whole = file.read_text()
        mutant.apply(self.root)
        try:
            return self.run(mutant.test)
        finally:
            file.write_text(whole)
