"""The pages. With `?part=1`, only what changes on one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from fourleaf.dashboard.previews import DefragQuestion, DrainQuestion
from fourleaf.dashboard.service import DashboardService
from fourleaf.dashboard.view import View
from fourleaf.dashboard.views.gangs import GangLine
from fourleaf.dashboard.views.queue import QueueEntry
from fourleaf.dashboard.web.answers import there
from fourleaf.dashboard.web.api import (
    USUAL_HOURS,
    Hours,
    Named,
    Space,
    no_gang,
    no_node,
    not_waiting,
)
from fourleaf.dashboard.web.map_state import MapState
from fourleaf.dashboard.web.table_state import Find, PageNumber, Sort, TableState, table_page
from fourleaf.dashboard.web.templates import Drawing
from fourleaf.dashboard.what_if import MOST_MANIFEST_CHARACTERS, Question
from fourleaf.model.gang import GangKey

Part = Annotated[str, Query(max_length=16)]
QUEUE_COLUMNS: dict[str, Callable[[QueueEntry], Any]] = {
    "position": lambda one: one.position,
    "name": lambda one: (one.namespace, one.name),
    "priority": lambda one: one.priority,
    "pods": lambda one: one.pods,
    "gpus": lambda one: one.gpus,
    "waited": lambda one: one.waited_seconds,
    "reason": lambda one: one.reason,
}
GANG_COLUMNS: dict[str, Callable[[GangLine], Any]] = {
    "name": lambda one: (one.namespace, one.name),
    "priority": lambda one: one.priority,
    "run": lambda one: one.running,
    "wait": lambda one: one.waiting,
    "gpus": lambda one: one.gpus,
    "waited": lambda one: -1 if one.waited_seconds is None else one.waited_seconds,
    "ends": lambda one: -1.0 if one.ends is None else one.ends,
}
MaybeNamed = Named | None
MaybeSpace = Space | None


def full_name(one: QueueEntry | GangLine) -> str:
    """What is found by."""
    return f"{one.namespace}/{one.name}"


class Pages:
    """What the routes answer."""

    def __init__(self, service: DashboardService, drawing: Drawing) -> None:
        self._service = service
        self._drawing = drawing

    def _page(self, request: Request, name: str, part: str, **values: Any) -> HTMLResponse:
        template = f"parts/{name}.html" if part else f"{name}.html"
        return HTMLResponse(self._drawing.drawn(template, request, **values))

    async def overview(self, request: Request, part: Part = "") -> HTMLResponse:
        """What to look at first."""
        return self._page(
            request,
            "overview",
            part,
            view=self._service.overview(),
            trends=self._service.trends(USUAL_HOURS),
        )

    async def fabric(
        self,
        request: Request,
        namespace: MaybeSpace = None,
        name: MaybeNamed = None,
        colour: Part = "",
        find: Find = "",
        part: Part = "",
    ) -> HTMLResponse:
        """The map, with a gang that waits on it where one is named.

        Its part `nearest` is slow, and `strip` has what else waits.
        """
        gang = (namespace, name) if namespace and name else None
        state = MapState(gang, colour, find).known
        if part == "nearest":
            key = GangKey(namespace or "", name or "")
            view = there(await self._service.nearest(key), not_waiting(key))
            return self._page(request, part, part, view=view)
        if part == "strip":
            return self._page(request, part, part, view=self._service.queue(), state=state)
        more = {} if part else {"queue": self._service.queue()}
        return self._page(request, "fabric", part, view=self._service.fabric(), state=state, **more)

    async def node(self, request: Request, name: Named, part: Part = "") -> HTMLResponse:
        """One node."""
        view = there(self._service.node(name), no_node(name))
        return self._page(request, "node", part, view=view)

    async def queue(
        self,
        request: Request,
        find: Find = "",
        sort: Sort = "",
        page: PageNumber = 1,
        part: Part = "",
    ) -> HTMLResponse:
        """Who waits."""
        state = TableState("/queue", find, sort, page)
        table = table_page(state, self._service.queue().gangs, full_name, QUEUE_COLUMNS)
        return self._page(request, "queue", part, table=table)

    async def trends(
        self, request: Request, hours: Hours = USUAL_HOURS, part: Part = ""
    ) -> HTMLResponse:
        """Figures over hours."""
        return self._page(request, "trends", part, view=self._service.trends(hours))

    async def gangs(
        self,
        request: Request,
        find: Find = "",
        sort: Sort = "",
        page: PageNumber = 1,
        part: Part = "",
    ) -> HTMLResponse:
        """All gangs."""
        state = TableState("/gangs", find, sort, page)
        table = table_page(state, self._service.gangs().gangs, full_name, GANG_COLUMNS)
        return self._page(request, "gangs", part, table=table)

    async def gang(
        self, request: Request, namespace: Space, name: Named, part: Part = ""
    ) -> HTMLResponse:
        """One gang; its parts `elsewhere` and `history` come later, for they are slow."""
        key = GangKey(namespace, name)
        view: View | None
        match part:
            case "history":
                view = await self._service.history(key)
            case "elsewhere":
                view = await self._service.elsewhere(key)
            case _:
                view = self._service.gang(key)
        shown = part if part in ("history", "elsewhere") else "gang"
        return self._page(request, shown, part, view=there(view, no_gang(key)))

    async def cycles(self, request: Request, part: Part = "") -> HTMLResponse:
        """The newest cycles."""
        return self._page(request, "cycles", part, view=await self._service.cycles())

    async def what_if(self, request: Request) -> HTMLResponse:
        """The form to try things with."""
        weights = self._service.source.moment().snapshot.config.spec.scoring_weights
        return self._page(request, "what-if", "", weights=weights, longest=MOST_MANIFEST_CHARACTERS)

    async def tried(self, request: Request, question: Question) -> HTMLResponse:
        """What comes of it."""
        view, picture = await self._service.tried(question)
        return self._page(request, "tried", "1", view=view, drawn=picture)

    async def previews(self, request: Request) -> HTMLResponse:
        """The forms of both dry runs."""
        spec = self._service.source.moment().snapshot.config.spec
        return self._page(request, "previews", "", moves=spec.defragmentation.moves_per_hour)

    async def drain(self, request: Request, question: DrainQuestion) -> HTMLResponse:
        """What would come of a drain."""
        view, picture = await self._service.drain(question)
        return self._page(request, "drain", "1", view=view, drawn=picture)

    async def defrag(self, request: Request, question: DefragQuestion) -> HTMLResponse:
        """What would come of moving gangs together."""
        view, picture = await self._service.defrag(question)
        return self._page(request, "defrag", "1", view=view, drawn=picture)


def pages(service: DashboardService, drawing: Drawing) -> APIRouter:
    """All pages."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
    routes = Pages(service, drawing)
    shown: dict[str, Callable[..., Any]] = {
        "/": routes.overview,
        "/fabric": routes.fabric,
        "/node": routes.node,
        "/queue": routes.queue,
        "/gangs": routes.gangs,
        "/gang": routes.gang,
        "/trends": routes.trends,
        "/cycles": routes.cycles,
        "/what-if": routes.what_if,
        "/previews": routes.previews,
    }
    for path, answer in shown.items():
        router.add_api_route(path, answer)
    router.add_api_route("/what-if", routes.tried, methods=["POST"])
    router.add_api_route("/previews/drain", routes.drain, methods=["POST"])
    router.add_api_route("/previews/defrag", routes.defrag, methods=["POST"])
    return router
