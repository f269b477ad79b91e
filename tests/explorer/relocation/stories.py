"""The stories: repairs, a move, a preemption, a reservation.

Gangs that come late are called `a`, so that they are planned first where nothing is kept.
"""

from __future__ import annotations

from tests.explorer.relocation.story import Job, story

A1, A2, A3 = "n-0-0-0", "n-0-0-1", "n-0-0-2"
B1 = "n-0-1-0"

REPAIR = story(
    "repair",
    "a gang of two loses a node; another gang wants the node that is kept for it",
    jobs=(Job("g", 2, (A1, A2)), Job("a", late=True)),
    leaves=(3,),
    dead=frozenset({A2}),
    targets={("g", 1): A3},
    whole=("g",),
    evictions=1,
)
RETURNED = story(
    "returned",
    "the old leader holds a node for dead, to which the new one finds its kubelet returned",
    jobs=(Job("g", 2, (A1, A2)), Job("a", late=True)),
    leaves=(3,),
    dead=frozenset({A2}),
    returned=frozenset({A2}),
    targets={("g", 1): A3},
    whole=("g",),
    evictions=1,
)
DOUBTED = story(
    "doubted",
    "once replaced, the old leader comes to hold the node of the seat for unusable",
    jobs=(Job("g", 2, (A1, A2)), Job("a", late=True)),
    leaves=(3,),
    dead=frozenset({A2}),
    doubted=A3,
    targets={("g", 1): A3},
    whole=("g",),
    evictions=1,
)
ALONE = story(
    "alone",
    "a drained pod moves to the other node, and its replacement has its name",
    jobs=(Job("g", 1, (A1,), same_name=True),),
    draining=frozenset({A1}),
    targets={("g", 0): A2},
    whole=("g",),
    evictions=1,
)
MOVE = story(
    "move",
    "a drained member moves within its leaf, once another has left the seat for the next leaf",
    jobs=(
        Job("g", 2, (A1, A2), same_name=True),
        Job("h", 1, (A3,), same_name=True, movable=True),
        Job("a", late=True),
    ),
    leaves=(3, 1),
    draining=frozenset({A2}),
    targets={("g", 1): A3, ("h", 0): B1},
    whole=("g", "h"),
    evictions=2,
)
PREEMPTION = story(
    "preemption",
    "a gang of two takes the place of a lower one, of which the members come again and wait",
    jobs=(Job("low", 2, (A1, A2), "low", same_name=True), Job("top", 2, (), "high")),
    whole=("top",),
    evictions=2,
)
WIDE = story(
    "wide",
    "the same on two pages, with a gang lease",
    jobs=(Job("low", 2, (A1, B1), "low", same_name=True), Job("top", 2, (), "high")),
    leaves=(1, 1),
    whole=("top",),
    evictions=2,
)
RESERVATION = story(
    "reservation",
    "a gang of two has a place kept until another ends, and a smaller one comes meanwhile",
    jobs=(Job("long", 1, (A1,), ends=True), Job("big", 2), Job("a", late=True)),
    leaves=(2,),
    whole=("big",),
    reserves=True,
)
STORIES = (REPAIR, RETURNED, DOUBTED, ALONE, MOVE, PREEMPTION, WIDE, RESERVATION)
