"""From the options of `fourleaf tune` to its task, and from what goes wrong to problems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from fourleaf.cli.bad_input import bad_input
from fourleaf.cli.input.replay_input import FABRIC_OF, need_one_of, need_trace, read_config

if TYPE_CHECKING:
    from fourleaf.model.config.spec import SchedulerConfig
    from fourleaf.model.problems import BadInput
    from fourleaf.simulator.tuning.task import TuningTask

USUAL = "bundled"
"""The trace where none is named."""


def settled(config: str | None, slack: int | None, **told: Any) -> TuningTask:
    """The task that the options name, every name checked. Raises `BadInput` and usage errors."""
    from fourleaf.simulator.trace import Sizes
    from fourleaf.simulator.tuning import knobs, objectives
    from fourleaf.simulator.tuning.task import TuningTask

    if told["snapshots"]:
        _need_snapshots_alone(told)
    told["trace"] = told["trace"] or USUAL
    need_trace(told["trace"])
    need_one_of([told["sizes"]], list(Sizes), "--sizes")
    need_one_of(told["objectives"], list(objectives.OBJECTIVES), "--objective")
    need_one_of(told["knobs"], list(knobs.KNOBS), "--knob")
    told["fabric"] = told["fabric"] or FABRIC_OF.get(told["trace"], told["trace"])
    _need_fabric(told["fabric"])
    told["objectives"] = tuple(dict.fromkeys(told["objectives"])) or objectives.USUAL
    told["knobs"] = tuple(dict.fromkeys(told["knobs"])) or knobs.USUAL
    return TuningTask(config=_config(config, slack), **told)


def _need_snapshots_alone(told: dict[str, Any]) -> None:
    """Raises `BadInput` for what only a trace has: a snapshot is one moment of one cluster."""
    asked = {"TRACE": told["trace"], "--fabric": told["fabric"], "--load": told["load"]}
    asked |= {"--days": told["days"], "--sizes": told["sizes"]}
    for option, value in asked.items():
        if value not in (None, "asked"):
            message = "says nothing of snapshots; a study has snapshots or one trace, never both"
            advice = f"Leave {option} out, or leave -f out and tune on a trace."
            raise _problem(option, str(value), message, advice)


def _need_fabric(name: str) -> None:
    """A usage error for a name that is no fabric's; whether its data is there is seen later."""
    from fourleaf.simulator.readers.catalogue import fabric
    from fourleaf.simulator.readers.folder import NoData

    try:
        fabric(name)
    except NoData:
        return
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--fabric") from error


def _config(path: str | None, slack: int | None) -> SchedulerConfig:
    """The config to start from. Raises `BadInput`."""
    config = read_config(path)
    if slack is None:
        return config
    topology = config.spec.topology.model_copy(update={"window_slack": slack})
    spec = config.spec.model_copy(update={"topology": topology})
    return config.model_copy(update={"spec": spec})


@contextmanager
def refused(task: TuningTask, url: str, study: str) -> Iterator[None]:
    """Turns what a study may meet into `BadInput` with advice."""
    from fourleaf.simulator.readers.folder import NoData
    from fourleaf.simulator.tuning.cases import TooLittle
    from fourleaf.simulator.tuning.evaluate import SolverFailed
    from fourleaf.simulator.tuning.storage import BadStorage
    from fourleaf.simulator.tuning.study import OtherTask
    from fourleaf.simulator.tuning.workers import NobodyLeft

    try:
        yield
    except NoData as error:
        message, _, advice = str(error).partition("\n")
        raise _problem("", "", message, advice) from error
    except TooLittle as error:
        advice = (
            "Give snapshots of two moments or more."
            if task.snapshots
            else "Take more days, or another share with --held-out."
        )
        raise _problem("--held-out", f"{task.held_out:g}", str(error), advice) from error
    except BadStorage as error:
        advice = "Write sqlite:///FILE, journal:///FILE, or the URL of a database with its driver."
        raise _problem("--storage", _masked(url), _masked(str(error)), advice) from error
    except OtherTask as error:
        advice = "Give this one a name of its own with --study, or the same options as before."
        raise _problem("--study", study, str(error), advice) from error
    except SolverFailed as error:
        advice = "See above why it failed; the same command goes on where the study is."
        raise _problem("", "", str(error), advice) from error
    except NobodyLeft as error:
        advice = "See above what ended them; the same command goes on where the study is."
        raise _problem("--workers", "", str(error), advice) from error


def _masked(text: str) -> str:
    """`text` without the passwords of URLs in it."""
    return re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1:***@", text)


def _problem(field: str, value: str, message: str, advice: str) -> BadInput:
    return bad_input("tune", message, advice, field=field, value=value)
