"""No gang is decided in parts."""

from __future__ import annotations

from collections.abc import Callable

from fourleaf.k8s_bridge.ledger.records import Member
from fourleaf.model.gang import GangKey
from tests.simulation.jobs import Jobs, bound, job_name
from tests.simulation.laws.records import Books
from tests.simulation.story import Story


class Gangs:
    """Laws: a commit makes its gang whole, unless somebody has meddled with the gang.

    Nobody decides where members go before the owner is known that says how many there are: who
    `knows` it was told of the owner with that UID. What somebody has bound by hand may be recorded.
    """

    def __init__(
        self, story: Story, books: Books, jobs: Jobs, knows: Callable[[str], bool]
    ) -> None:
        self._knows = knows
        self._story = story
        self._books = books
        self._jobs = jobs

    def on_commit(self, commit: str, gang: GangKey, members: tuple[Member, ...]) -> None:
        """Judge one commit as it takes."""
        job = self._jobs.wanted.get(job_name(gang.name))
        if job is None:
            return
        starts = any(map(self._starts, members))
        if starts and job.owner is not None and not self._knows(job.owner.uid):
            what = f"{commit} holds {gang}, whose {job.owner.kind} it was never told of"
            self._story.broken("a gang waits for its owner", what)
        if job.spoiled:
            return
        running = {r.metadata["name"] for r in self._jobs.members(job) if bound(r)}
        together = running | {member.pod.name for member in members}
        if len(together) < job.size:
            what = f"{commit} holds {len(members)} of {gang}, {len(running)} of {job.size} run"
            self._story.broken("a commit makes its gang whole", what)

    def _starts(self, member: Member) -> bool:
        """Whether the member is to be bound still."""
        seen = self._books.pods.get(member.pod.uid)
        return seen is not None and not seen.node
