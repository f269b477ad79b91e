"""The first page of `benchmarks/RESULTS.md`: what is claimed, the figure, the goal, and where.

`python -m benchmarks.verdicts` writes it anew from the sections; so does every `--write`. Nothing
in it is typed by hand but the claims: figures, goals and verdicts are cells of the tables below.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

NAME = "verdicts"
START, END = f"<!-- {NAME} -->", f"<!-- /{NAME} -->"


SAID = """\
Each figure is a cell of a table below, copied by `python -m benchmarks.verdicts`. Where no goal
stands, none was set."""


class NoFigure(LookupError):
    """A section or a cell that a verdict names is not there."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the results, by the name of its markers."""

    name: str
    text: str

    @property
    def title(self) -> str:
        """Its heading."""
        return self.text.split("## ", 1)[1].split("\n", 1)[0]

    @property
    def link(self) -> str:
        """A link to its heading on this page."""
        anchor = re.sub(r"[^\w\- ]", "", self.title.lower()).replace(" ", "-")
        return f"[{self.title}](#{anchor})"

    def rows(self) -> Iterator[dict[str, str]]:
        """Every row of every table: column -> cell, the first one also as ``."""
        header: list[str] = []
        before: list[str] = []
        for line in self.text.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not line.startswith("|"):
                header = []
            elif set(line) <= set("|-"):
                header = before
            elif header:
                yield dict(zip(header, cells, strict=False)) | {"": cells[0]}
            before = cells

    def cell(self, column: str, *row: str) -> str:
        """The cell of `column` in the first row that begins with `row`. Raises `NoFigure`."""
        for one in self.rows():
            if column in one and tuple(one.values())[: len(row)] == row:
                return one[column]
        raise NoFigure(f"section {self.name} has no cell {column} of {', '.join(row)}")

    def said(self, pattern: str) -> str:
        """What the group of `pattern` matches in the text. Raises `NoFigure`."""
        found = re.search(pattern, self.text)
        if found is None:
            raise NoFigure(f"section {self.name} does not say {pattern}")
        return found[1]

    def count(self, column: str, value: str) -> tuple[int, int]:
        """How many rows with a cell of `column` have `value` there, and how many there are."""
        cells = [one[column] for one in self.rows() if one.get(column)]
        return cells.count(value), len(cells)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim, the section that judges it, and how to read figure, goal and verdict there.

    Without a goal a figure is shown for what it is.
    """

    claim: str
    section: str
    figure: Callable[[Section], str]
    goal: Callable[[Section], str] = lambda _: "–"
    met: Callable[[Section], str] = lambda _: "–"


def _goals(*row: str) -> tuple[Callable[[Section], str], Callable[[Section], str]]:
    """Goals and verdict of a row that has all of them in one cell."""

    def goal(one: Section) -> str:
        return re.sub(r": (yes|no)", "", one.cell("goals", *row))

    return goal, lambda one: "no" if ": no" in one.cell("goals", *row) else "yes"


def _met(goal: str, *row: str) -> tuple[Callable[[Section], str], Callable[[Section], str]]:
    """Goal and verdict of a row with a column for each."""
    return lambda one: one.cell(goal, *row), lambda one: one.cell("met", *row)


def _all(column: str) -> Callable[[Section], str]:
    def met(one: Section) -> str:
        yes, rows = one.count(column, "yes")
        return "yes" if yes == rows else "no"

    return met


SMALL, LARGE = "1000 nodes, 100 gangs", "10,000 nodes, 1000 gangs"
BELOW = "40 of 1000, 90 % full, some below a node"
VERDICTS = (
    Verdict(
        "a batch of 100 gangs on 1000 nodes is decided and proven, ms p50 / p95 / p99 / max",
        "solve", lambda s: s.cell("both ms", SMALL), *_goals(SMALL),
    ),
    Verdict(
        "1000 gangs on 10,000 nodes, ms p50 / p95 / p99 / max",
        "solve", lambda s: s.cell("both ms", LARGE), *_goals(LARGE),
    ),
    Verdict(
        "`fourleaf plan` on 100 MiB of JSON, s", "plan",
        lambda s: s.cell("median s", "full pods, JSON"), *_met("goal s", "full pods, JSON"),
    ),
    Verdict(
        "pods bound on a real control plane, 1000 nodes: ours beside kube-scheduler, pods/s",
        "throughput",
        lambda s: f"{s.cell('ours', 'pods/s')} beside {s.cell('native', 'pods/s')}",
    ),
    Verdict(
        "from start to the first gang bound, s", "start",
        lambda s: next(s.rows())["median s"],
        lambda s: next(s.rows())["goal s"], lambda s: next(s.rows())["met"],
    ),
    Verdict(
        "100 gangs/s of 1 to 4 whole nodes: bound while they came, gangs/s", "sustained",
        lambda s: s.cell("gangs of 1 to 4 pods of 8 GPUs", "gangs/s bound while they came"),
    ),
    Verdict("half an hour of churn: nothing grows", "churn",
        lambda s: "{} of {} figures flat".format(*s.count("flat", "yes")), met=_all("flat")),
    Verdict(
        "repair of one node of 1000, 90 % full, ms p50 / p95 / p99 / max", "repair",
        lambda s: s.cell("in all ms", "1 of 1000, 90 % full"), *_goals("1 of 1000, 90 % full"),
    ),
    Verdict(
        "repair of 40 of 1000 nodes, some gangs below a node: proven", "repair",
        lambda s: s.cell("proven", BELOW), *_goals(BELOW),
    ),
    Verdict(
        "from the death of all 8 nodes to the gang's next run elsewhere, s p95", "recovery",
        lambda s: s.cell("p95 s", "operator", "elsewhere", "8"),
    ),
    Verdict(
        "200 reviews/s by the webhook, ms p99", "webhook",
        lambda s: s.cell("p99 ms", "reviews, 200 creations/s"),
        *_met("goal", "reviews, 200 creations/s"),
    ),
    Verdict(
        "GPUs allocated on openb: ours beside FGD and BestFit, %", "openb",
        lambda s: " beside ".join(
            s.cell("allocated %", one) for one in ("ours, one by one", "FGD", "BestFit")
        ),
        lambda s: s.said(r"ours, one by one: goal ([\d.]+ %)"),
        lambda s: s.said(r"ours, one by one: goal [\d.]+ %: (\w+)"),
    ),
    Verdict(
        "cases where greedy leaves gangs waiting, 32 nodes, 1 s: improved, certified optimal",
        "certify",
        lambda s: ", ".join(
            s.cell(one, "gangs", "32", "greedy", "1") for one in ("improved", "certified optimal")
        ),
    ),
    Verdict(
        "traces: comparisons in which a baseline is ahead of ours", "trace",
        lambda s: s.said(r"ahead of ours in (\d+ of \d+) comparisons"),
    ),
    Verdict(
        "the price of the leaf rule, Kalos at 90 %, mean wait: ours beside spread, which breaks it",
        "trace",
        lambda s: " beside ".join(
            s.cell("wait mean", "kalos", "90 %", one) for one in ("cpsat", "spread")
        ),
    ),
    Verdict(
        "GPU-hours lost on Kalos, 65 failures per 1000 node-days: repair beside whole restart",
        "failures",
        lambda s: " beside ".join(
            s.cell("GPU-hours lost", "kalos", "65", one)
            for one in ("repair, others may move", "whole restart")
        ),
    ),
    Verdict(
        "slowdown at 4:1 oversubscription: ours beside spread, which knows no leaves",
        "communication",
        lambda s: " beside ".join(s.cell("slowdown", "4:1", one) for one in ("cpsat", "spread")),
        lambda s: s.said(r'"(Faster by [^"]+)"'),
        lambda s: "yes" if s.said(r'"Faster by [^"]+": (\w+)') == "met" else "no",
    ),
    Verdict(
        "first paint of the dashboard with 1000 nodes, ms", "dashboard",
        lambda s: s.cell("median", "first paint, ms"), *_met("goal", "first paint, ms"),
    ),
    Verdict(
        "10,000 gangs wait on 5000 nodes and one comes, ms", "queue",
        lambda s: s.cell("ms", "came"), *_met("goal", "came"),
    ),
    Verdict("honest gangs start beside a tenant's load", "tenants",
        lambda s: "{} of {} loads".format(*s.count("met", "yes")), met=_all("met")),
)  # fmt: skip


def sections(text: str) -> dict[str, Section]:
    """The sections of the results by the names of their markers."""
    found = re.findall(r"<!-- (\w+) -->\n(.*?)\n<!-- /\1 -->", text, re.DOTALL)
    return {name: Section(name, body) for name, body in found if name != NAME}


def page(text: str) -> str:
    """The verdicts on `text`, markers and all. Raises `NoFigure`."""
    known, rows = sections(text), list[str]()
    for one in VERDICTS:
        if one.section not in known:
            raise NoFigure(f"there is no section {one.section}")
        at = known[one.section]
        cells = (one.claim, one.figure(at), one.goal(at), one.met(at), at.link)
        rows.append("| " + " | ".join(cells) + " |")
    head = "| claim | figure | goal | met | where |\n|---|---|---|---|---|"
    return "\n".join([START, "## Verdicts", "", SAID, "", head, *rows, END])


def with_verdicts(text: str) -> str:
    """The same results with the page of verdicts on top, as the sections are now."""
    made = page(text)
    if START in text and END in text:
        return text.split(START, 1)[0] + made + text.split(END, 1)[1]
    intro, rest = text.split("<!-- ", 1)
    return f"{intro}{made}\n\n<!-- {rest}"


def main() -> None:
    """Write the page of verdicts anew."""
    results = Path(__file__).parent / "RESULTS.md"
    results.write_text(with_verdicts(results.read_text()))


if __name__ == "__main__":
    main()
