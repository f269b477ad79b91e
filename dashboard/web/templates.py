"""Templates, and the words and figures that they need."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from fourleaf.dashboard.cycles import MOST_CYCLES_SHOWN
from fourleaf.dashboard.views.fabric import STATES, LeafCell, key_of, words
from fourleaf.dashboard.views.trends import HOURS, polylines
from fourleaf.model.problems import brief
from fourleaf.model.reasons.text import counted

HERE = Path(__file__).parents[1]
TEMPLATES = HERE / "templates"
STATIC = HERE / "static"
MOST_LEAVES = 4096
"""Leaves that are kept as they were drawn."""
ROOMY, MIDDLE = 160, 480
"""Nodes up to which their cells are large, and up to which they are of middle size."""

CHANGE_WORDS = {
    "bound": ("bound", "good"),
    "moved": ("moved", ""),
    "ended": ("ended", ""),
    "failed": ("failed", "bad"),
    "gone": ("gone, not seen how", ""),
    "interrupted": ("evicted, waits again", "bad"),
    "withdrawn": ("withdrawn", ""),
    "nodeNew": ("new node", "good"),
    "nodeBack": ("node is back", "good"),
    "nodeCordoned": ("node cordoned", ""),
    "nodeUncordoned": ("node uncordoned", "good"),
    "nodeLost": ("node lost", "bad"),
    "nodeGone": ("node gone", "bad"),
}
"""The kinds of changes in words, and whether they are good or bad news."""


class Drawing:
    """Fills templates, always with every name escaped. `cluster` is what pages call it."""

    def __init__(self, cluster: str, live: bool) -> None:
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.globals.update(
            cluster=cluster, live=live, states=STATES, url=url, size_of=size_of, key_of=key_of
        )
        self._templates.globals.update(words=words, most_cycles=MOST_CYCLES_SHOWN)
        self._templates.globals.update(changes=CHANGE_WORDS, trend_hours=HOURS, polylines=polylines)
        self._templates.filters.update(duration=duration, clock=clock, count=counted, gib=gib)
        self._templates.filters.update(hour=hour, brief=brief)
        self._leaf = self._templates.get_template("parts/leaf.html")
        self._leaves: dict[str, tuple[LeafCell, Markup]] = {}
        self._templates.globals.update(leaf_html=self.leaf, leaf_once=self.leaf_once)

    def drawn(self, name: str, request: Request, **values: Any) -> str:
        """The template `name` with `values`, and `user`, who looks."""
        template = self._templates.get_template(name)
        user = request.scope.get("fourleaf.user") or ""
        session = bool(request.scope.get("fourleaf.session"))
        return template.render(path=request.url.path, user=user, session=session, **values)

    def prepare(self) -> None:
        """Read every template, so that no page has to wait for that."""
        for name in self._templates.list_templates():
            self._templates.get_template(name)

    def leaf(self, leaf: LeafCell, key: str) -> Markup:
        """A leaf of the map as it stands in the page, known by `key`."""
        known = self._leaves.get(key)
        if known is not None and known[0] is leaf:
            return known[1]
        if len(self._leaves) >= MOST_LEAVES:
            self._leaves.clear()
        # The template escapes every name in it.
        drawn = Markup(self._leaf.render(leaf=leaf, key=key))  # noqa: S704
        self._leaves[key] = leaf, drawn
        return drawn

    def leaf_once(self, leaf: LeafCell, key: str) -> Markup:
        """The same of a leaf that is not on the map, and not kept."""
        return Markup(self._leaf.render(leaf=leaf, key=key))  # noqa: S704


def url(path: str, /, **values: str) -> str:
    """`path` with a query of `values`."""
    return f"{path}?{urlencode(values)}"


def size_of(nodes: int) -> str:
    """How large the cells of a map of so many nodes are."""
    return "roomy" if nodes <= ROOMY else "middle" if nodes <= MIDDLE else "dense"


def duration(seconds: float) -> str:
    """`45 s`, `12 min`, `3 h 20 min`, `2 d 4 h`."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    if not hours:
        return f"{minutes} min"
    if not days:
        return _two(hours, "h", minutes % 60, "min")
    return _two(days, "d", hours % 24, "h")


def _two(much: int, unit: str, rest: int, small: str) -> str:
    return f"{much} {unit} {rest} {small}" if rest else f"{much} {unit}"


def clock(at: float) -> str:
    """Seconds since the epoch as a moment in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S")


def hour(at: float) -> str:
    """Seconds since the epoch as a time of day in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%H:%M:%S")


def gib(amount: int | None) -> str:
    """Bytes as GiB."""
    return "not stated" if amount is None else f"{amount / 2**30:,.0f} GiB"
