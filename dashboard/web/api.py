"""The JSON API, under `/api/v1`; `/api/v1/openapi.json` describes it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from fourleaf.dashboard.change_feed import ChangeFeed
from fourleaf.dashboard.cycles import CyclesView
from fourleaf.dashboard.event_stream import Hub
from fourleaf.dashboard.previews import DefragQuestion, DrainQuestion
from fourleaf.dashboard.service import DashboardService
from fourleaf.dashboard.sources.history import HistoryView
from fourleaf.dashboard.views.fabric import FabricView
from fourleaf.dashboard.views.gang import ElsewhereView, GangView
from fourleaf.dashboard.views.gangs import GangsView
from fourleaf.dashboard.views.nearest import NearestView
from fourleaf.dashboard.views.node import NodeView
from fourleaf.dashboard.views.overview import OverviewView
from fourleaf.dashboard.views.queue import QueueView
from fourleaf.dashboard.views.trends import TrendsView
from fourleaf.dashboard.web.answers import Missing, there
from fourleaf.dashboard.what_if import Question, TriedView
from fourleaf.model.gang import GangKey

PREFIX = "/api/v1"
Named = Annotated[str, Query(min_length=1, max_length=253)]
Space = Annotated[str, Query(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]
"""A namespace."""
Hours = Annotated[int, Query(ge=1, le=24)]
USUAL_HOURS = 6
"""Hours of the past that are shown where none are asked for."""
Document = dict[str, Any]


def no_gang(key: GangKey) -> Missing:
    """What to raise where no such gang is known."""
    return Missing(f"gang {key}", "It may have ended; /gangs lists all that are there.")


def not_waiting(key: GangKey) -> Missing:
    """What to raise where no such gang waits."""
    return Missing(f"gang {key} that waits", "It may have started; /gangs lists all.")


def no_node(name: str) -> Missing:
    """What to raise where no such node is known."""
    return Missing(f"node {name}", "The fabric, /fabric, shows all that are there.")


class Api:
    """What the routes answer: each what the page of the same name shows."""

    def __init__(self, service: DashboardService, hub: Hub, follower: ChangeFeed) -> None:
        self._service = service
        self._hub = hub
        self._follower = follower

    async def overview(self) -> OverviewView:
        """What to look at: the longest waits, teams, changes of an hour, what is unwell."""
        return self._service.overview()

    async def fabric(self) -> FabricView:
        """The fabric, leaf by leaf, and who holds which GPUs."""
        return self._service.fabric()

    async def node(self, name: Named) -> NodeView:
        """A node: health, devices, links, pods."""
        return there(self._service.node(name), no_node(name))

    async def queue(self) -> QueueView:
        """The gangs that wait, why, and until when."""
        return self._service.queue()

    async def trends(self, hours: Hours = USUAL_HOURS) -> TrendsView:
        """GPUs in use, the queue and fragmentation over hours, as far as they are known."""
        return self._service.trends(hours)

    async def gangs(self) -> GangsView:
        """All gangs."""
        return self._service.gangs()

    async def gang(self, namespace: Space, name: Named) -> GangView:
        """A gang: its pods, its place, what is said of it."""
        key = GangKey(namespace, name)
        return there(self._service.gang(key), no_gang(key))

    async def elsewhere(self, namespace: Space, name: Named) -> ElsewhereView:
        """Where a gang would go if it were planned now, or why not."""
        key = GangKey(namespace, name)
        return there(await self._service.elsewhere(key), no_gang(key))

    async def nearest(self, namespace: Space, name: Named) -> NearestView:
        """What a gang that waits comes closest to on the map, and who holds it."""
        key = GangKey(namespace, name)
        return there(await self._service.nearest(key), not_waiting(key))

    async def history(self, namespace: Space, name: Named) -> HistoryView:
        """What Leases and events say of a gang."""
        key = GangKey(namespace, name)
        return there(await self._service.history(key), no_gang(key))

    async def cycles(self) -> CyclesView:
        """The newest cycles of the scheduler."""
        return await self._service.cycles()

    async def what_if(self, question: Question) -> TriedView:
        """What would be, if; changes nothing."""
        return (await self._service.tried(question))[0]

    async def drain(self, question: DrainQuestion) -> Document:
        """What would come of a drain, as `fourleaf drain -o json` prints it; changes nothing."""
        return (await self._service.drain(question))[0]

    async def defrag(self, question: DefragQuestion) -> Document:
        """What would come of moves, as `fourleaf defrag -o json` prints it; changes nothing."""
        return (await self._service.defrag(question))[0]

    async def events(self, request: Request) -> StreamingResponse:
        """Server-sent events: hello (a version), changed (leaves), queue (starts), resync."""
        self._hub.need_room()
        # A stream lasts for days: it ends with the session, or with the token, that opened it.
        news = self._hub.read(self._follower.greeting, request.scope["fourleaf.still"])
        headers = {"x-accel-buffering": "no"}
        return StreamingResponse(news, media_type="text/event-stream", headers=headers)


def api(service: DashboardService, hub: Hub, follower: ChangeFeed) -> APIRouter:
    """All routes."""
    router = APIRouter(prefix=PREFIX)
    routes = Api(service, hub, follower)
    router.add_api_route("/overview", routes.overview)
    router.add_api_route("/fabric", routes.fabric)
    router.add_api_route("/node", routes.node)
    router.add_api_route("/queue", routes.queue)
    router.add_api_route("/trends", routes.trends)
    router.add_api_route("/gangs", routes.gangs)
    router.add_api_route("/gang", routes.gang)
    router.add_api_route("/gang/elsewhere", routes.elsewhere)
    router.add_api_route("/gang/nearest", routes.nearest)
    router.add_api_route("/gang/history", routes.history)
    router.add_api_route("/cycles", routes.cycles)
    router.add_api_route("/what-if", routes.what_if, methods=["POST"])
    router.add_api_route("/preview/drain", routes.drain, methods=["POST"])
    router.add_api_route("/preview/defrag", routes.defrag, methods=["POST"])
    router.add_api_route("/events", routes.events, response_class=StreamingResponse)
    return router
