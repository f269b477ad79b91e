"""Log lines of the command: on standard error, so that they never mix with the answer."""

from __future__ import annotations

import sys


def log_to_stderr(level: str = "warning") -> None:
    """Send what is logged at `level` or worse to standard error."""
    import structlog

    from fourleaf.k8s_bridge.runtime.logs import printable_values

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            printable_values,
            structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, sort_keys=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
