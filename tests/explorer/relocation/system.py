"""A story as a system that can be searched."""

from __future__ import annotations

from tests.explorer.code.explore import Explored
from tests.explorer.code.ground import Ground
from tests.explorer.code.live import Live
from tests.explorer.code.scenario import Bounds
from tests.explorer.code.system import CodeSystem
from tests.explorer.engine.search import search
from tests.explorer.relocation.ground import ground
from tests.explorer.relocation.laws import after_a_crash, at_rest, now
from tests.explorer.relocation.live import LiveStory
from tests.explorer.relocation.story import Story


class StorySystem(CodeSystem):
    """A story under bounds."""

    def _lay(self) -> Ground:
        return ground(self.scenario)

    def _begin(self) -> Live:
        return LiveStory(self.scenario, self._ground, self.bounds)

    def _now(self, live: Live) -> str:
        why = now(live.store, self.scenario)
        return why or (at_rest(live.store, self.scenario) if live.at_rest else "")

    def _crashed(self, live: Live) -> str:
        return after_a_crash(live.store, self._ground, self.scenario)


def explore_story(story: Story, bounds: Bounds, most: int | None = None) -> Explored:
    """Search every schedule of `story` within `bounds`, or `most` states of them."""
    system = StorySystem(story, bounds)
    try:
        result = search(system, depth=True, most=most)
    finally:
        system.close()
    return Explored(story, bounds, result, system.schedules, system.crashes, "relocations")
