"""The application: the guard, the API, the pages, static files and probes."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from fourleaf.dashboard.change_feed import ChangeFeed
from fourleaf.dashboard.event_stream import Hub
from fourleaf.dashboard.readiness import Readiness
from fourleaf.dashboard.service import DashboardService
from fourleaf.dashboard.web.access import Access, Token
from fourleaf.dashboard.web.answers import add_answers
from fourleaf.dashboard.web.api import PREFIX, api
from fourleaf.dashboard.web.guard import Guard
from fourleaf.dashboard.web.login import login
from fourleaf.dashboard.web.pages import pages
from fourleaf.dashboard.web.probes import probes
from fourleaf.dashboard.web.templates import STATIC, Drawing
from fourleaf.dashboard.web.wrong_tokens import WrongTokens


def application(
    service: DashboardService,
    hub: Hub,
    follower: ChangeFeed,
    readiness: Readiness,
    drawing: Drawing,
    access: Access,
    names: frozenset[str] | None,
    wrong_tokens: WrongTokens,
) -> Guard:
    """Everything behind the guard, which answers to `names` alone, to all where that is None."""
    served = FastAPI(
        title="Fourleaf dashboard",
        version="1",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        description="What the pages show. Nothing here changes a cluster.",
    )
    add_answers(served, drawing)
    served.include_router(api(service, hub, follower))
    served.include_router(pages(service, drawing))
    if isinstance(access, Token):
        served.include_router(login(access, drawing, wrong_tokens))
    served.mount("/static", StaticFiles(directory=STATIC))

    for path, handler in probes(readiness).items():
        served.add_route(path, handler, include_in_schema=False)
    pages_and_api = GZipMiddleware(served, minimum_size=1024, compresslevel=1)
    return Guard(pages_and_api, access, names, wrong_tokens)
