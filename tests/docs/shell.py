"""A reader's shell: it keeps its folder and its variables from command to command."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.docs.pages import Step

PATIENCE = 120.0
"""Seconds that a command may take; most take one."""


class CommandError(AssertionError):
    """A command of a document did not do what the document says; the message quotes both."""


class Shell:
    """A bash whose commands run one after the other in `folder`. To be used as a context."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._log = folder / ".said"
        self._started: list[subprocess.Popen[bytes]] = []
        self._state = folder / ".state"
        self._state.write_text("")
        self._environment = {**environment, "HOME": str(folder)}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self._started:
            _end(process)

    def run(self, step: Step) -> str:
        """Do a step and tell what it printed. Raises `CommandError`."""
        if step.until is not None:
            return self._start(step, step.until)
        end = time.monotonic() + step.within
        while True:
            code, said = self._once(step.command)
            if code == step.exit_code:
                return said
            if time.monotonic() >= end:
                raise CommandError(_told(step, f"ended with {code}, not {step.exit_code}", said))
            time.sleep(1)

    def _once(self, command: str) -> tuple[int, str]:
        # Variables and the folder outlive the command, as they do in a terminal.
        script = f'. "{self._state}"\n{command}\ncode=$?\n{self._keep()}\nexit $code\n'
        with self._log.open("w+b") as log:
            process = self._bash(script, log.fileno())
            try:
                code = process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                code = 124
            _end(process)
        return code, self._log.read_text(errors="replace")

    def _keep(self) -> str:
        return f'{{ export -p; printf "cd %q\\n" "$PWD"; }} > "{self._state}"'

    def _start(self, step: Step, awaited: str) -> str:
        path = self._folder / f".started-{secrets.token_hex(4)}"
        with path.open("wb") as log:
            command = step.command.removesuffix("&").rstrip()
            process = self._bash(f'. "{self._state}"\n{command}\n', log.fileno())
        self._started.append(process)
        end = time.monotonic() + PATIENCE
        while awaited not in (said := path.read_text(errors="replace")):
            if process.poll() is not None:
                raise CommandError(_told(step, f"ended with {process.returncode}", said))
            if time.monotonic() >= end:
                raise CommandError(_told(step, f"never said {awaited!r}", said))
            time.sleep(0.1)
        return said

    def _bash(self, script: str, output: int) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            ["bash", "-c", script],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    for number, seconds in ((signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0)):
        try:
            os.killpg(process.pid, number)
            process.wait(seconds)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue


def _told(step: Step, what: str, said: str) -> str:
    return f"line {step.line}: $ {step.command}\n{what}; it printed\n{said[-4000:]}"
