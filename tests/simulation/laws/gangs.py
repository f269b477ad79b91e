"""No gang is decided in parts."""

from __future__ import annotations

from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.gang import GangKey
from tests.simulation.jobs import Jobs, bound
from tests.simulation.laws.records import Books
from tests.simulation.story import Story


class Gangs:
    """Law: a commit makes its gang whole, unless somebody has meddled with the gang."""

    def __init__(self, story: Story, books: Books, jobs: Jobs) -> None:
        self._story = story
        self._books = books
        self._jobs = jobs

    def on_commit(self, commit: str, gang: GangKey, members: tuple[Member, ...]) -> None:
        """Judge one commit as it takes."""
        job = self._jobs.wanted.get(gang.name)
        if job is None or job.spoiled:
            return
        running = {r.metadata["name"] for r in self._jobs.members(job) if bound(r)}
        together = running | {member.pod.name for member in members}
        if len(together) < job.size:
            what = f"{commit} holds {len(members)} of {gang}, {len(running)} of {job.size} run"
            self._story.broken("a commit makes its gang whole", what)
