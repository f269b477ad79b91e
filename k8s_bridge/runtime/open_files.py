"""Open files: as many as the system allows, since pods start with few."""

from __future__ import annotations

import resource

MOST_OPEN_FILES = 65536
"""Open files that no program of the product needs more than."""


def allow_more_open_files() -> None:
    """Raise the soft limit of this process to the hard one, within reason."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
