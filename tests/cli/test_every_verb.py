"""What all verbs have in common: exit codes, formats, flags, plain output in files."""

from __future__ import annotations

import inspect
import json
import shlex
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.main import get_command
from typer.testing import CliRunner, Result

from fourleaf.cli import help as help_texts
from fourleaf.cli.main import VERBS, app
from fourleaf.cli.maps import verb as maps
from fourleaf.cli.options import OutputFormat
from fourleaf.cli.verbs import config
from tests.cli.conftest import Run
from tests.cli.made import EXAMPLES, GOLDEN

NESTED: dict[tuple[str, ...], Callable[..., Any]] = {
    ("config", "show"): config.show,
    ("config", "validate"): config.validate,
    ("config", "explain"): config.explain,
    ("map", "generate"): maps.generate,
    ("map", "check"): maps.check,
    ("map", "fix"): maps.fix,
}
ALL: dict[tuple[str, ...], Callable[..., Any]] = {
    **{(name,): verb for name, verb in VERBS.items()},
    **NESTED,
}
SILENT = {("run",), ("webhook",), ("agent",), ("dashboard",), ("demo",), ("snapshot",), ("record",)}
"""They run until they are stopped, or write files: `snapshot` to the one that `-o` names."""

RESULTS: dict[tuple[str, ...], int] = {
    ("plan",): 3,
    ("plan", "--what-if", "domainUtilization=1"): 3,
    ("score",): 3,
    ("score", "mixtral-sft"): 0,
    ("score", "llama-pretrain"): 3,
    ("why", "mixtral-sft"): 0,
    ("why", "llama-pretrain"): 3,
    ("queue",): 0,
    ("drain", "gpu-63"): 0,
    ("defrag",): 0,
    ("lint",): 0,
    ("config", "show"): 0,
    ("config", "validate"): 0,
    ("config", "explain"): 0,
    ("map", "generate"): 0,
    ("score", "nobody"): 2,
    ("why", "nobody"): 2,
    ("drain", "nowhere"): 2,
    ("map", "check"): 2,
    ("validate-plan", "--plan", "/nowhere"): 2,
}
"""What verbs end with on the examples, where one gang has to wait."""
ANSWERS = [words for words, code in RESULTS.items() if code != 2]
UNSOLVED = [("queue",), ("lint",), ("map", "generate"), *(w for w in ANSWERS if w[0] == "config")]


@cache
def told(*words: str) -> Result:
    """`fourleaf` on the examples; runs start solver processes, so they are kept."""
    files = GOLDEN / "config.yaml" if words[0] == "config" else EXAMPLES
    return CliRunner().invoke(app, [*words, "-f", str(files)])


def parameters(verb: Callable[..., Any]) -> set[str]:
    """The names of the options and arguments of a verb."""
    return set(inspect.signature(verb).parameters)


@pytest.mark.parametrize(("words", "code"), RESULTS.items())
def test_exit_codes(words: tuple[str, ...], code: int) -> None:
    """0 where all is fine, 2 for bad input, 3 where somebody has to wait."""
    result = told(*words)
    assert result.exit_code == code, result.output
    assert (result.stderr == "") is (code != 2)


@pytest.mark.parametrize("words", ANSWERS, ids=" ".join)
def test_documents(words: tuple[str, ...]) -> None:
    """JSON has a kind, and the verb ends with the same code as for people."""
    result = told(*words, "-o", "json")
    document = json.loads(result.stdout)
    assert document["kind"]
    assert document["apiVersion"] == "topology.scheduler/v1alpha1"
    assert result.exit_code == RESULTS[words]


@pytest.mark.parametrize("words", UNSOLVED, ids=" ".join)
def test_yaml_says_the_same(words: tuple[str, ...]) -> None:
    """Of verbs that need no solver; those that do are compared where they are tested."""
    again = yaml.safe_load(told(*words, "-o", "yaml").stdout)
    assert again == json.loads(told(*words, "-o", "json").stdout)


@pytest.mark.parametrize("words", ANSWERS, ids=" ".join)
def test_files_get_plain_text(words: tuple[str, ...]) -> None:
    """Where nobody watches there is no colour, and no line ends in blanks."""
    said = told(*words).stdout
    assert said
    assert "\x1b" not in said
    assert all(line == line.rstrip() for line in said.splitlines())


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_formats(words: tuple[str, ...]) -> None:
    """Every verb that answers takes -o, with the formats of all others among its own."""
    signature = inspect.signature(ALL[words])
    if words in SILENT:
        return
    kind = signature.parameters["output"].default.__class__
    wanted = {str(one) for one in OutputFormat} - ({"wide"} if kind is not OutputFormat else set())
    assert wanted <= {str(one) for one in kind}


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_flags_of_clusters(words: tuple[str, ...]) -> None:
    """Whoever reaches a cluster takes --kubeconfig and --context; whoever watches, --interval."""
    found = parameters(ALL[words])
    assert ("kubeconfig" in found) is ("context" in found)
    assert ("watch" in found) <= ("interval" in found)
    assert ("live" in found) <= {"files", "kubeconfig"}.issubset(found)


def test_verbs_that_are_watched() -> None:
    """Those whose answer changes by itself."""
    watched = {name for name, verb in VERBS.items() if "watch" in parameters(verb)}
    assert watched == {"plan", "status", "queue", "why"}


def test_installed_programs() -> None:
    """Kubectl finds its plugin and that plugin's completion by their names."""
    project = tomllib.loads((EXAMPLES.parent / "pyproject.toml").read_text(encoding="utf-8"))
    scripts = project["project"]["scripts"]
    assert scripts["kubectl-fourleaf"] == scripts["fourleaf"]
    for target in scripts.values():
        module, _, function = target.partition(":")
        path = Path(EXAMPLES.parent, *module.split(".")).with_suffix(".py")
        assert f"def {function}(" in path.read_text(encoding="utf-8")


def test_help_lists_every_verb_once() -> None:
    """By what it is for."""
    listed = [name for names in help_texts.GROUPS.values() for name in names]
    assert sorted(listed) == sorted(get_command(app).commands)


@pytest.mark.parametrize("words", [(), ("topology",), ("map",), ("config",)], ids=str)
def test_a_list_of_verbs_breaks_off_nowhere(run: Run, words: tuple[str, ...]) -> None:
    """Each is described by a whole sentence, on a terminal of 80 columns too."""
    said = run(*words, "--help").stdout
    assert "..." not in said.partition("Commands:" if words else "Ask a cluster:")[2]


def test_the_example_of_a_what_if_names_a_weight(run: Run) -> None:
    """The config reads it, as it stands in the help."""
    (line,) = (one for one in help_texts.EXAMPLES["plan"] if "--what-if" in one)
    words = shlex.split(line.partition("--what-if ")[2])
    path = EXAMPLES.parent / "docs/examples/strategies/nodes.yaml"
    assert run("plan", "-f", path, "--what-if", *words).exit_code == 0


@pytest.mark.parametrize("verb", help_texts.EXAMPLES)
def test_examples_in_the_help_have_options_that_there_are(verb: str) -> None:
    """Each line, of which a pipe's end counts."""
    command = get_command(app).commands[verb]
    for line in help_texts.EXAMPLES[verb]:
        name, _, words = line.rpartition("fourleaf ")[2].partition(" ")
        assert name == verb
        context = command.make_context(name, [], resilient_parsing=True)
        _, left, _ = command.make_parser(context).parse_args(shlex.split(words))
        assert not left, line
