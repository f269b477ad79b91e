"""Log lines of the command: on standard error, so that they never mix with the answer."""

from __future__ import annotations

import sys


def log_to_stderr() -> None:
    """Send what the solver's client has to say to standard error, warnings and worse."""
    import logging

    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, sort_keys=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
