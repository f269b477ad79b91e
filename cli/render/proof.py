"""What is proven of a plan, in one line."""

from __future__ import annotations

import math

from rich.text import Text

from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.reasons.text import counted
from fourleaf.model.relocation import DefragPlan, RepairPlan


def proof_line(plan: Plan) -> Text:
    """`proven best: objective 12,345, bound 12,345, 3 stages, 41 ms`, or the gap.

    A proof within `solver.gap` says so: `proven within 0.0100 % of the best: ...`.
    """
    facts = f"objective {plan.objective:,}"
    if plan.gap is not None:
        facts += f", bound {plan.bound:,}"
    line = proven(plan.status, plan.gap).append(": ")
    return _completed(line, facts, plan, plan.seconds_build + plan.seconds_solve)


def proven(status: PlanStatus, gap: float | None) -> Text:
    """`proven best`, `proven within 0.0100 % of the best`, or what else is known of a plan."""
    if gap is None:
        return Text("valid, nothing proven (greedy)", style="yellow")
    if status is PlanStatus.OPTIMAL:
        within = f"within {100 * gap:.4f} % of the best" if gap else "best"
        return Text(f"proven {within}", style="bold green")
    most = math.ceil(10**4 * gap) / 100
    return Text(f"valid, at most {most:.2f} % from the best", style="yellow")


def relocation_line(plan: RepairPlan | DefragPlan, moves: int, proven: str) -> Text:
    """`proven fewest: 12 moves, 4 stages, 41 ms`, or what else is known of the moves."""
    match plan.status:
        case PlanStatus.OPTIMAL:
            line = Text(f"{proven}: ", style="bold green")
        case PlanStatus.FEASIBLE:
            line = Text("valid, but not proven: ", style="yellow")
        case PlanStatus.GREEDY:
            line = Text("valid, nothing proven (greedy): ", style="yellow")
    return _completed(line, counted(moves, "move"), plan, plan.seconds)


def _completed(
    line: Text, facts: str, plan: Plan | RepairPlan | DefragPlan, seconds: float
) -> Text:
    """`line` with the facts, the stages, the time, and the note where there is one."""
    time = f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
    stages = counted(len(plan.stages), "stage")
    line.append(f"{facts}, {stages}, {time}", style="not bold default")
    if plan.note:
        line.append(f" ({plan.note})", style="not bold dim")
    return line
