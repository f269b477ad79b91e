"""The guard around telling: what cannot be told is logged, and keeps no gang waiting."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import structlog

P = ParamSpec("P")


def guarded(tell: Callable[P, None]) -> Callable[P, None]:
    """`tell`, of which no error gets out: those who call it decide and bind."""

    @wraps(tell)
    def told(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            tell(*args, **kwargs)
        except Exception as error:
            log = structlog.get_logger(__name__)
            log.error("telling_failed", what=tell.__name__, why=repr(error), exc_info=error)

    return told
