"""Safeguards of steps of others before and after bindings: what goes wrong there stays there."""

from __future__ import annotations

from tests.mutants.mutant import Mutant

PLUGINS = "tests/k8s_bridge/ledger/test_binding_plugins.py"
CALLS = "k8s_bridge/ledger/plugins/thread_calls.py"

PLUGIN_CALLS = (
    Mutant(
        "a plugin is asked about the places that are bound",
        "a partition is made of nodes on which the gang does not run",
        "k8s_bridge/ledger/binding_trials.py",
        "exact = ask or (self.plugins is not None and self.plugins.may_refuse)",
        "exact = ask",
        f"{PLUGINS}::test_a_gang_is_bound_to_no_places_that_a_plugin_was_not_asked_about",
    ),
    Mutant(
        "an exception of a plugin that has no text",
        "its thread dies without an answer, and after eight its namespace starts nothing any more",
        "k8s_bridge/ledger/plugins/binding_plugins.py",
        '        return f"raised {_described(wrong)}"\n',
        '        return f"raised {type(wrong).__name__}: {wrong}"\n',
        f"{PLUGINS}::test_what_cannot_be_told_is_an_answer_too[_mute-raised Mute]",
    ),
    Mutant(
        "no thread for a plugin",
        "the term of the leader ends, and that of the next, whenever a gang is to start",
        CALLS,
        "            raise NoThread(str(error)) from error\n",
        "            raise\n",
        f"{PLUGINS}::test_where_no_thread_starts_the_gang_is_refused",
    ),
    Mutant(
        "a bound on threads of plugins",
        "a plugin that hangs takes all threads of the process, which then finds no API server",
        CALLS,
        "        if self._threads >= MOST_THREADS:\n",
        "        if False:\n",
        f"{PLUGINS}::test_threads_that_hang_are_not_without_end",
    ),
    Mutant(
        "turns of namespaces whose plugins have answered",
        "something is kept of each namespace that ever had a gang",
        CALLS,
        "Semaphore] = WeakValueDictionary()",
        "Semaphore] = {}  # type: ignore[assignment]",
        f"{PLUGINS}::test_nothing_is_kept_of_namespaces_whose_gangs_are_answered",
    ),
    Mutant(
        "patience with a namespace whose gangs make a plugin hang",
        "each cycle takes a second longer for as long as a tenant makes such gangs",
        "k8s_bridge/ledger/binding_trials.py",
        "is_slow = bool(self._late[gang.namespace]) or (trial",
        "is_slow = (trial",
        f"{PLUGINS}::test_who_makes_a_plugin_hang_keeps_others_waiting_now_and_then",
    ),
)
"""Each was seen to happen before there was the safeguard."""
