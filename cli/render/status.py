"""The status of a cluster, or of one scheduler, for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import chain, repeat
from typing import Any

from rich.text import Text

from fourleaf.cli.render.queue import age
from fourleaf.model.reasons.text import counted, listed

WIDTH = 10


def cluster_lines(document: Mapping[str, Any], now: float) -> Iterator[Text]:
    """What the cluster shows, a line for each thing. `now` in seconds since the epoch."""
    leader, records = document["leader"], document["records"]
    yield _line("leader", *_leader(leader, now))
    phases = ", ".join(f"{n} {phase}" for phase, n in records["gangLeasePhases"].items())
    unreadable = f"; {records['unreadable']} unreadable" if records["unreadable"] else ""
    yield _line(
        "records",
        f"{records['pages']} pages with {records['entries']} entries, "
        f"{records['gangLeases']} gang leases{f' ({phases})' if phases else ''}{unreadable}",
        "red" if unreadable else "default",
    )
    yield _line("format", *_formats(records["formats"]))
    yield _config(document["config"])
    nodes, gpus = document["nodes"], document["gpus"]
    yield _line(
        "nodes",
        f"{nodes['total']:,}, {nodes['schedulable']:,} schedulable; "
        f"{counted(nodes['leaves'], 'leaf')}, {counted(nodes['spines'], 'spine')}",
    )
    if nodes["unlabelled"] or nodes["refused"]:
        yield _line("", f"{_nameless(nodes)}; see `fourleaf topology check`", "yellow")
    if nodes["mostAway"]:
        text = (
            f"{nodes['away']:,} are silent or not ready: where most fell silent together, none of "
            "them is taken for dead and no gang there is repaired"
        )
        yield _line("", text, "yellow")
    elif nodes["away"]:
        yield _line("", _away(nodes), "yellow")
    if nodes["withoutGpus"]:
        yield _line(
            "",
            f"{nodes['withoutGpus']:,} more without GPUs: no device plugin announces any, no "
            "inventory and no device map names one",
        )
    yield _line(
        "GPUs", f"{gpus['total']:,}: {gpus['used']:,} used, {gpus['free']:,} free to be scheduled"
    )
    gangs = document["gangs"]
    yield _line("gangs", f"{gangs['running']:,} running, {gangs['waiting']:,} waiting")
    if gangs["onLostNodes"]:
        named = listed(gangs["onLostNodes"])
        yield _line("", f"pods on nodes that are not ready: {named}; see `fourleaf why`", "yellow")
    if gangs["onSilentNodes"]:
        named = listed(gangs["onSilentNodes"])
        text = f"pods on nodes that send no heartbeats: {named}; see `fourleaf why`"
        yield _line("", text, "yellow")
    yield from _reasons(gangs["reasons"])


def server_lines(document: Mapping[str, Any], now: float) -> Iterator[Text]:
    """What a scheduler says of itself."""
    holder = document["holder"]
    role = "leads" if document["leader"] else f"stands by; {holder or 'none'} leads"
    yield _line("scheduler", f"{document['identity']}, version {document['version']}: {role}")
    yield _line("epoch", str(document["epoch"]))
    ready = document["ready"]
    missing = ", ".join(document["unsynced"])
    yield _line(
        "caches", "complete" if ready else f"behind: {missing}", "green" if ready else "yellow"
    )
    last = document["lastCycle"]
    if last:
        gap = "nothing proven" if last["gap"] is None else f"gap {last['gap']:g}"
        yield _line(
            "cycle",
            f"{last['id']}, {age(now - last['at'])} ago: {last['status']} in "
            f"{1000 * last['seconds']:.0f} ms, {gap}; {last['placed']} placed, "
            f"{last['waiting']} waiting",
        )
    cycles = ", ".join(f"{n:,} {status}" for status, n in document["cycles"].items())
    yield _line("cycles", cycles or "none yet")
    yield _config(document["config"])
    yield from _plugins(document.get("plugins") or ())
    ledger = document.get("ledger")
    if ledger and ledger["writes"]:
        text, style = _formats(ledger["formats"])
        lost = len(ledger["unreadable"])
        if lost:
            text = text.replace("all records are", "all that can be read are")
        bad = f"; {counted(lost, 'record')} cannot be read by this version" if lost else ""
        yield _line("format", f"{text}; writes {ledger['writes']}{bad}", "red" if lost else style)
    if not document["leader"]:
        # It plans nothing, so its queue is empty even where gangs wait.
        yield _line("gangs", "who leads knows which wait; ask that one")
        return
    yield _line("gangs", f"{len(document['queue']):,} waiting")
    yield from _reasons(Counter(entry["reason"] for entry in document["queue"]))


def _away(nodes: Mapping[str, Any]) -> str:
    """How many nodes are lost, or about to be."""
    lost, silent = nodes["notReady"], nodes["silent"]
    said = [f"{lost:,} not ready, where no pod starts: see `kubectl get nodes`"] if lost else []
    if silent:
        # The API server has them for ready still, so its list does not tell which they are.
        said.append(
            f"{len(silent):,} ready as the API has it, without heartbeats: {listed(silent)}"
        )
    return "; ".join(said)


def _nameless(nodes: Mapping[str, Any]) -> str:
    if nodes["refused"]:
        return f"{nodes['refused']:,} more without a leaf, which take no pods by the config"
    if nodes["unlabelled"] == nodes["total"]:
        return "none names a leaf, so all stand in one"
    return f"{nodes['unlabelled']:,} without a leaf, each of which stands apart"


def _leader(leader: Mapping[str, Any], now: float) -> tuple[str, str]:
    if not leader["holder"]:
        return "none", "red"
    ago = now - datetime.fromisoformat(leader["renewed"]).timestamp()
    text = f"{leader['holder']}, epoch {leader['epoch']}, renewed {age(ago)} ago"
    return (text, "green") if leader["valid"] else (f"{text}: no longer valid", "red")


def _config(config: Mapping[str, Any]) -> Text:
    """Where the config in force is from; what is wrong with the newest edit, if anything."""
    wrong = "; ".join(f"{p['field']}: {p['message']}" for p in config["problems"])
    return _line(
        "config",
        config["source"] + ("" if config["valid"] else f"; the newest edit is not used: {wrong}"),
        "default" if config["valid"] else "red",
    )


def _plugins(plugins: Iterable[Mapping[str, str]]) -> Iterator[Text]:
    """A line for each package that brings rules, terms or steps of bindings."""
    of: dict[str, list[str]] = {}
    for one in plugins:
        brings = f"{one['package']} {one['version']}" if one["package"] else one["offered"]
        of.setdefault(brings, []).append(f"{one['kind']} {one['name']}")
    for title, (brings, names) in zip(chain(["plugins"], repeat("")), of.items(), strict=False):
        yield _line(title, f"{brings}: {listed(names)}")


def _formats(formats: Mapping[str, int]) -> tuple[str, str]:
    """In which formats the records are; what upgrades and rollbacks wait for is one alone."""
    if not formats:
        return "no records yet", "default"
    if len(formats) == 1:
        (only,) = formats
        return f"all records are format {only}", "default"
    text = ", ".join(f"{count} of format {number}" for number, count in sorted(formats.items()))
    return f"mixed: {text}", "yellow"


def _reasons(reasons: Mapping[str, int]) -> Iterator[Text]:
    for reason, number in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        yield Text(f"{'':{WIDTH}}  {number:,} {reason}", style="yellow")


def _line(title: str, text: str, style: str = "default") -> Text:
    line = Text(f"{title:{WIDTH}}  ", style="bold")
    line.append(text, style=f"not bold {style}")
    return line
