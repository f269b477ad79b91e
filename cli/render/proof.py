"""What is proven of a plan, in one line."""

from __future__ import annotations

from rich.text import Text

from fourleaf.model.plan import Plan, PlanStatus
from fourleaf.model.relocation import DefragPlan, RepairPlan


def proof_line(plan: Plan) -> Text:
    """`proven best: objective 12,345, bound 12,345, 3 stages, 41 ms`, or the gap."""
    stages = f"{len(plan.stages)} stage" + ("" if len(plan.stages) == 1 else "s")
    known = "" if plan.gap is None else f"bound {plan.bound:,}, "
    facts = f"objective {plan.objective:,}, {known}{stages}, {_time(plan)}"
    if plan.gap is None:
        line = Text("valid, nothing proven (greedy): ", style="yellow")
    elif plan.status is PlanStatus.OPTIMAL:
        line = Text("proven best: ", style="bold green")
    else:
        line = Text(f"valid, at most {100 * plan.gap:.2f} % from the best: ", style="yellow")
    line.append(facts, style="not bold default")
    if plan.note:
        line.append(f" ({plan.note})", style="not bold dim")
    return line


def relocation_line(plan: RepairPlan | DefragPlan, moves: int, proven: str) -> Text:
    """`proven fewest: 12 moves, 4 stages, 41 ms`, or what else is known of the moves."""
    stages = f"{len(plan.stages)} stage" + ("" if len(plan.stages) == 1 else "s")
    pods = f"{moves:,} move" + ("" if moves == 1 else "s")
    match plan.status:
        case PlanStatus.OPTIMAL:
            line = Text(f"{proven}: ", style="bold green")
        case PlanStatus.FEASIBLE:
            line = Text("valid, but not proven: ", style="yellow")
        case PlanStatus.GREEDY:
            line = Text("valid, nothing proven (greedy): ", style="yellow")
    line.append(f"{pods}, {stages}, {_seconds(plan.seconds)}", style="not bold default")
    if plan.note:
        line.append(f" ({plan.note})", style="not bold dim")
    return line


def _time(plan: Plan) -> str:
    return _seconds(plan.seconds_build + plan.seconds_solve)


def _seconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
