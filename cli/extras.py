"""Extras of the package: which one brings a module that is missing, as one line of advice."""

from __future__ import annotations

from fourleaf.model.problems import Problem, Severity

EXTRAS = {
    "cryptography": ("webhook",),
    "fastapi": ("webhook", "dashboard"),
    "jinja2": ("dashboard",),
    "matplotlib": ("tune",),
    "opentelemetry": ("otel",),
    "optuna": ("tune",),
    "pynvml": ("agent",),
    "uvloop": ("webhook",),
    "watchfiles": ("webhook",),
}
"""Module -> the extras that bring it."""


def missing_extra(verb: str, error: ModuleNotFoundError) -> Problem | None:
    """What to install for `verb`, None where the module belongs to no extra."""
    module = (error.name or "").partition(".")[0]
    extras = EXTRAS.get(module)
    if extras is None:
        return None
    extra = verb if verb in extras else extras[0]
    message = f"needs {module}, which is not installed"
    advice = f'Install the extra that brings it: pip install "fourleaf[{extra}]".'
    return Problem(Severity.ERROR, f"fourleaf {verb}", "", "", "", message, advice)
