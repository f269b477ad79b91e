"""Alerts and dashboards: of metrics that there are, tried out, and explained."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import CollectorRegistry

from fourleaf.agent.metrics import AgentMetrics
from fourleaf.k8s_bridge.informers.health import SILENT_SECONDS
from fourleaf.k8s_bridge.reporting.metrics import SchedulerMetrics
from fourleaf.k8s_bridge.runtime.clock import SystemClock
from fourleaf.webhook.decide import Route
from fourleaf.webhook.metrics import WebhookMetrics
from tests.deploy.generated import DEPLOY, rendered
from tests.deploy.tools import run

MONITORING = DEPLOY / "monitoring"
DOCS = DEPLOY.parent / "docs" / "alerts.md"
NAME = re.compile(r"\b(?:topology|fourleaf|process)_[a-z_]+\b")
RULES: list[dict[str, Any]] = [
    rule
    for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"]
    for rule in group["rules"]
]
NAMES = [rule["alert"] for rule in RULES]
DASHBOARDS = sorted((MONITORING / "dashboards").glob("*.json"))
TRIALS = sorted((MONITORING / "tests").glob("*.yaml"))


def exported() -> set[str]:
    """The names that the programs export, and those that a histogram stands for."""
    registries: list[CollectorRegistry] = [
        SchedulerMetrics().registry,
        WebhookMetrics(tuple(Route)).registry,
        AgentMetrics(SystemClock()).registry,
    ]
    names = set()
    for registry in registries:
        for metric in registry.collect():
            parts = {"counter": ["_total"], "histogram": ["_bucket", "_sum", "_count"]}
            names |= {metric.name + end for end in parts.get(metric.type, [""])}
    return names


def test_prometheus_takes_the_rules_and_they_fire_where_they_should() -> None:
    """Judged by promtool."""
    run("promtool", "check", "rules", MONITORING / "alerts.yaml")
    run("promtool", "test", "rules", *TRIALS)


def test_each_alert_is_tried_both_ways() -> None:
    """Once where it has to fire, and once where it must not."""
    fires, stays = set(), set()
    for path in TRIALS:
        for trial in yaml.safe_load(path.read_text())["tests"]:
            for one in trial["alert_rule_test"]:
                (fires if one["exp_alerts"] else stays).add(one["alertname"])
    assert fires == stays == set(NAMES)


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_an_alert_says_how_bad_it_is_and_where_to_read_on(rule: dict[str, Any]) -> None:
    """Its link leads to a section that says what it means and what to do."""
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert rule["annotations"]["summary"].endswith(".")
    page, _, anchor = rule["annotations"]["runbook_url"].partition("#")
    assert DEPLOY.parent / page == DOCS
    assert anchor == rule["alert"].lower()
    text = sections()[rule["alert"]]
    assert "**Means.** " in text
    assert "**Do.** " in text


def test_every_section_has_its_alert() -> None:
    """None explains what no longer exists, and each rule has its own."""
    assert list(sections()) == NAMES


def sections() -> dict[str, str]:
    """Heading -> text of each alert in the docs."""
    _, *parts = re.split(r"^### ", DOCS.read_text(), flags=re.MULTILINE)
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


@pytest.mark.parametrize(
    "path", [MONITORING / "alerts.yaml", *TRIALS, *DASHBOARDS], ids=lambda path: path.stem
)
def test_every_metric_is_one_that_a_program_exports(path: Path) -> None:
    """A typo would be an alert that never fires."""
    named = set(NAME.findall(path.read_text()))
    assert named
    assert named - exported() == set()


def chart_rules(*values: str) -> list[dict[str, Any]]:
    """The rules of the chart's PrometheusRule."""
    run("helm", "version")
    objects = rendered("fourleaf", "--set=monitoring.rules=true", *values)
    (body,) = (one for one in objects if one["kind"] == "PrometheusRule")
    return [rule for group in body["spec"]["groups"] for rule in group["rules"]]


@pytest.mark.parametrize(
    ("off", "gone"),
    [
        ("webhook.enabled", [name for name in NAMES if name.startswith("FourleafWebhook")]),
        ("agent.enabled", ["FourleafAgentGone", *NAMES[NAMES.index("FourleafAgentNotReady") :]]),
        ("scheduler.replicas", ["FourleafNoStandby"]),
    ],
)
def test_the_chart_has_no_alert_about_what_is_off(off: str, gone: list[str]) -> None:
    """Nobody misses what was never wanted; all other rules are those of the file."""
    assert chart_rules() == RULES
    value = "1" if off == "scheduler.replicas" else "false"
    found = chart_rules(f"--set={off}={value}")
    assert len(gone) == {"webhook.enabled": 5, "agent.enabled": 6}.get(off, 1)
    assert found == [rule for rule in RULES if rule["alert"] not in gone]


def test_links_are_whole_where_the_documents_can_be_read() -> None:
    """Where it is known, and a slash at its end does not count."""
    for base in ("https://git.example.com/f/blob/main", "https://git.example.com/f/blob/main/"):
        links = [
            rule["annotations"]["runbook_url"]
            for rule in chart_rules(f"--set=monitoring.runbookBase={base}")
        ]
        start = "https://git.example.com/f/blob/main/docs/alerts.md#"
        assert links == [start + name.lower() for name in NAMES]


def test_dashboards_show_everything() -> None:
    """Each metric is on one of them, and panels have names of their own."""
    shown = {name for path in DASHBOARDS for name in NAME.findall(path.read_text())}
    stems = {re.sub("_(bucket|sum|count)$", "", name) for name in shown}
    missing = {re.sub("_(bucket|sum|count)$", "", name) for name in exported()} - stems
    assert missing == {
        # The same as topology_recovery_duration_seconds, and one that only helps to find errors.
        "topology_scheduler_recovery_duration_seconds",
        "fourleaf_webhook_certificate_checked_seconds",
    }
    for path in DASHBOARDS:
        titles = [panel["title"] for panel in json.loads(path.read_text())["panels"]]
        assert len(titles) == len(set(titles))


LIMIT = re.compile(r"(?:[<>]=?|==) ([\d. *]+?)(?= or |$)")
BOARDS = [json.loads(path.read_text()) for path in DASHBOARDS]
ALERTS = {rule["alert"]: " ".join(rule["expr"].split()) for rule in RULES}


def panels_about_alerts() -> list[Any]:
    """Each panel whose description names an alert, with that alert."""
    return [
        pytest.param(panel, name, id=f"{panel['title']}: {name}")
        for board in BOARDS
        for panel in board["panels"]
        for name in re.findall(r"\bFourleaf\w+", panel.get("description", ""))
    ]


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board["uid"])
def test_each_board_says_what_it_is_and_leads_on(board: dict[str, Any]) -> None:
    """A description, the other boards, what alerts mean; and a panel that tells good from bad."""
    assert board["description"]
    others, alerts = board["links"]
    assert (others["type"], others["tags"]) == ("dashboards", board["tags"])
    site = yaml.safe_load((DEPLOY.parent / "mkdocs.yml").read_text().split("plugins:")[0])[
        "site_url"
    ]
    assert alerts["url"] == f"{site}alerts/"
    assert any("thresholds" in panel["fieldConfig"]["defaults"] for panel in board["panels"])


@pytest.mark.parametrize(("panel", "alert"), panels_about_alerts())
def test_a_panel_turns_red_where_its_alert_begins(panel: dict[str, Any], alert: str) -> None:
    """The limit of the alert is a step to or from red; of whole things, `> 0` begins at 1."""
    shown = panel["fieldConfig"]["defaults"]
    steps = shown["thresholds"]["steps"]
    edges = {step["value"] for step in steps if step["value"] is not None}
    assert "red" in {step["color"] for step in steps}
    assert [step["value"] for step in steps] == [None, *sorted(edges)]
    if panel["type"] == "timeseries":
        assert shown["custom"]["thresholdsStyle"]["mode"] == "line"
    if alert == "FourleafWatchStale":
        assert edges == {SILENT_SECONDS}
        return
    limits = [math.prod(map(float, one.split("*"))) for one in LIMIT.findall(ALERTS[alert])]
    whole = 1 if shown["unit"] == "short" else 0
    assert edges & ({limits[0], limits[0] + whole} - {0})


def test_waits_of_teams_turn_red_together() -> None:
    """Each panel of a wait in seconds has the red of the alert on the gang that waits longest."""
    (limit,) = LIMIT.findall(ALERTS["FourleafGangWaitsLong"])
    (board,) = [one for one in BOARDS if one["uid"] == "fourleaf-teams"]
    shown = [panel["fieldConfig"]["defaults"] for panel in board["panels"]]
    waits = [
        one["thresholds"]["steps"] for one in shown if one["unit"] == "s" and "thresholds" in one
    ]
    assert len(waits) == 3
    assert {steps[-1]["value"] for steps in waits} == {float(limit)}
    links = [panel["fieldConfig"]["defaults"].get("links", []) for panel in board["panels"]]
    alone = [link["url"] for found in links for link in found]
    assert alone
    for url in alone:
        assert url.startswith(f"/d/{board['uid']}?var-team=${{__field.labels.gang_namespace}}")
