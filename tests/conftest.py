"""What every test needs: log lines that outlive the test's own streams."""

import sys
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from hypothesis import HealthCheck, settings

from tests import depth
from tests.house.modules import twice
from tests.seeds import FIRST_SEED, VARIABLE

# A slow machine fails no test: times are for benchmarks.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which instances were compared with brute force, so that a failure can be had again."""
    terminalreporter.write_line(f"seeds from {VARIABLE}={FIRST_SEED}")
    part, parts = depth.share()
    if parts > 1:
        terminalreporter.write_line(f"of instances and seeds, part {part} of {parts} alone")


@pytest.fixture(autouse=True)
def _logs_to_the_real_stderr() -> Iterator[None]:
    """A solver's keeper may still log once pytest has closed what the test captured."""
    factory = structlog.PrintLoggerFactory(sys.__stderr__)
    # A command that ran before may have left its own level behind.
    structlog.reset_defaults()
    # What shows the values of variables takes seconds for one error.
    renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    processors = [*structlog.get_config()["processors"][:-1], renderer]
    structlog.configure(processors, logger_factory=factory, cache_logger_on_first_use=False)
    yield
    structlog.configure(logger_factory=factory, cache_logger_on_first_use=False)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say what runs where, before the order is shuffled."""
    if later := depth.mark(items):
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if item not in set(later)]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Keep in one worker what shares a control plane, or ports."""
    grouped = config.getoption("dist") == "loadgroup"
    return depth.OneWorkerAFile(config, log) if grouped else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """No file of the product was loaded under two names: its classes would not be equal."""
    if found := twice():
        session.exitstatus = pytest.ExitCode.INTERNAL_ERROR
        raise pytest.UsageError(f"loaded twice: {found}")
