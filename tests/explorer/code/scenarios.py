"""The scenarios: two gangs whose nodes overlap, going forward, going back, twice over."""

from __future__ import annotations

from dataclasses import replace

from tests.explorer.code.scenario import Dies, Keep, Place, Rest, Scenario, TakeOver

A1, A2 = "n-0-0-0", "n-0-0-1"
B1, B2 = "n-0-1-0", "n-0-1-1"
"""Two nodes of one leaf, two of another."""

FORWARD = Scenario(
    "forward",
    {"wide": 2, "narrow": 1},
    old=(Place("wide", (A1, B1)), Rest()),
    new=(TakeOver(), Place("narrow", (B1,)), Rest(), Place("narrow", (B1,)), Keep()),
    why="a wide gang on its way, and another that wants one of its nodes",
)
BACK = Scenario(
    "back",
    {"wide": 2, "narrow": 1},
    old=(Place("wide", (A1, B1)), Rest()),
    new=(TakeOver(), Dies((A1,)), Rest(), Place("narrow", (B1,)), Keep()),
    why="the new leader finds a node dead, goes back, and gives the other node away",
)
RAISED = replace(
    FORWARD, name="raised", raised=True, why="the same, and the new leader writes a newer format"
)
NARROW = Scenario(
    "narrow",
    {"narrow": 1, "wide": 2},
    old=(Place("narrow", (B1,)), Rest()),
    new=(TakeOver(), Place("wide", (A1, B1)), Rest(), Place("wide", (A1, B2)), Keep()),
    why="a gang on one page, and a wide one that wants its node",
)
WIDE = Scenario(
    "wide",
    {"one": 2, "two": 2},
    old=(Place("one", (A1, B1)), Rest()),
    new=(TakeOver(), Place("two", (A2, B1)), Rest(), Place("two", (A2, B2)), Keep()),
    why="two wide gangs that share both pages and one node",
)
TWICE = Scenario(
    "twice",
    {"one": 1, "two": 1},
    old=(Place("one", (B1,)), Rest()),
    new=(
        TakeOver(),
        Dies((B1,)),
        Rest(),
        Dies((A1,)),
        Place("one", (A1,)),
        Rest(),
        Dies(),
        Place("two", (B1,)),
        Keep(),
    ),
    why="one gang goes back twice, each time from another node, and the first node is given away",
)
SAME = Scenario(
    "same",
    {"one": 1, "two": 1},
    old=(Place("one", (B1,)), Rest()),
    new=(TakeOver(), Rest(), Place("two", (B1,)), Keep()),
    replaced="one-0",
    why="a member is deleted and made anew under its name, and its node is given away",
)
SCENARIOS = (FORWARD, BACK, NARROW, WIDE, TWICE, SAME)
