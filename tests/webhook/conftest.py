"""The event loop of the tests of the webhook."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """What `fourleaf webhook` runs on, whose TLS is not that of asyncio."""
    return {"uvloop": uvloop.new_event_loop}
