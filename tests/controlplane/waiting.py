"""Waiting for what a cluster does in its own time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from tests.controlplane.api import Api, ApiError

PATIENCE = 60.0
"""Seconds; what is waited for takes a tenth of one on an idle machine, and comes in any case."""

Answer = TypeVar("Answer")


def eventually(ask: Callable[[], Answer], what: str, timeout: float = PATIENCE) -> Answer:
    """Ask again and again until the answer is true, and tell it.

    A refusal of the API counts as not yet. Raises `AssertionError` after `timeout` seconds.
    """
    deadline = time.monotonic() + timeout
    refusal = ""
    while True:
        try:
            if answer := ask():
                return answer
        except ApiError as error:
            refusal = f" ({error})"
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {what}{refusal}")
        time.sleep(0.02)


CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def serve(api: Api, definitions: Iterable[dict[str, Any]]) -> None:
    """Create CustomResourceDefinitions and wait until the API serves what each of them defines.

    It does so one after the other, in its own time; requests before that find no such kind.
    """
    specs = [api.create(CRDS, body)["spec"] for body in definitions]
    for spec in specs:
        for version in spec["versions"]:
            path = f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}"
            eventually(lambda path=path: api.get(path), f"{path} is served")  # type: ignore[misc]
