"""Where the seeds of the comparison with brute force begin."""

import os

VARIABLE = "FOURLEAF_FIRST_SEED"

FIRST_SEED = int(os.environ.get(VARIABLE, "0"))
"""Another number tries instances that no run has seen; every run prints its own."""
