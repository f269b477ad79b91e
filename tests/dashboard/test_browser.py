"""The pages in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from fourleaf.dashboard.sources.snapshot_files import FileSource
from fourleaf.k8s_bridge.cluster.kinds import NODES
from fourleaf.k8s_bridge.cluster.memory import actors
from fourleaf.k8s_bridge.cluster.protocol import Binding, Target
from fourleaf.model.readers import Source
from tests.controlplane.waiting import eventually
from tests.dashboard import hostile
from tests.dashboard.contrast import LEAST, RUNS_INTO, poor
from tests.dashboard.served import Served

PAGES = (
    "/",
    "/fabric",
    "/fabric?namespace=ml&name=llama-pretrain&colour=wait",
    "/queue",
    "/gangs",
    "/trends?hours=24",
    "/gang?namespace=ml&name=bert-large",
    "/gang?namespace=ml&name=llama-pretrain",
    "/node?name=gpu-16",
    "/cycles",
    "/what-if",
    "/previews",
    "/nowhere",
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_can_be_read_in_both_schemes(page: Page, served: Served, scheme: str) -> None:
    """Every text of every page has the contrast that WCAG asks for (AA), as computed styles say."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    for path in PAGES:
        page.goto(served.url + path)
        assert poor(page) == [], f"{path}: contrast below {LEAST}"


def test_the_check_of_contrast_finds_what_is_poor(page: Page, served: Served) -> None:
    """Grey on grey is found: the test above can fail."""
    page.goto(served.url + "/queue")
    page.evaluate("document.querySelector('.lead').style.color = '#c8c8c8'")
    assert any("Gangs that wait" in text for text, _ in poor(page))


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_has_nothing_to_scroll_sideways(page: Page, served: Served, path: str) -> None:
    """At 360 pixels no page is wider than the screen."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(served.url + path)
    if path.startswith("/gang?"):
        expect(page.locator(".later .soft").filter(has_text="asked")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_map_by_keyboard(page: Page, served: Served) -> None:
    """One stop for Tab, arrows to the neighbours, words for each node, Enter opens it."""
    page.goto(served.url + "/fabric")
    assert page.locator(".map .node[tabindex='0']").count() == 1
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.locator(".map .node").first.focus()
    assert _node(page) == "gpu-00"
    page.keyboard.press("ArrowDown")
    assert _node(page) == "gpu-01"
    page.keyboard.press("ArrowRight")
    assert _node(page) == "gpu-05"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"
    expect(page.locator("#info")).to_contain_text("8 of 8 GPUs free")
    assert page.locator(".map .node[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("gpu-05")


def test_pointing_at_a_gang_lights_its_nodes(page: Page, served: Served) -> None:
    """bert-large stands on four nodes; the blocks of all others step back."""
    page.goto(served.url + "/fabric")
    page.locator("#keys a", has_text="ml/bert-large").hover()
    expect(page.locator(".map .b.lit")).to_have_count(4)


def test_a_gang_that_waits_lights_what_it_comes_closest_to(page: Page, served: Served) -> None:
    """From the queue to the map: four leaves are marked, and sam-finetune in them as a holder."""
    page.goto(served.url + "/queue")
    page.locator("tr", has_text="ml/llama-pretrain").locator(".seek").click()
    expect(page).to_have_url(re.compile(r"/fabric\?namespace=ml&name=llama-pretrain$"))
    expect(page.locator("#nearest")).to_contain_text("planned there before it")
    near = page.locator(".map .leaf.near")
    expect(near).to_have_count(4)
    assert [one.get_attribute("data-key") for one in near.all()] == [
        f"spine-0/leaf-0{i}" for i in range(4)
    ]
    expect(page.locator(".map .b.holds")).to_have_count(1)
    expect(page.locator("[data-part*=strip] a[aria-current]")).to_contain_text("ml/llama-pretrain")
    page.locator(".strip a", has_text="none").click()
    expect(page.locator(".map .leaf.near")).to_have_count(0)


@pytest.mark.parametrize(
    ("colour", "listed"),
    [
        ("namespace", {"ml": 6, "serving": 2, "speech": 2, "research": 1, "vision": 1}),
        ("health", {"ready": 62, "cordoned": 1, "not ready": 1}),
    ],
)
def test_the_map_in_other_colours(
    page: Page, served: Served, colour: str, listed: dict[str, int]
) -> None:
    """The list counts nodes by what the map is coloured by, which the URL says."""
    page.goto(served.url + "/fabric")
    page.locator(".strip a", has_text=colour).click()
    expect(page).to_have_url(re.compile(rf"/fabric\?colour={colour}$"))
    expect(page.locator("#keys [data-only]")).not_to_have_count(0)
    found = {
        str(one.get_attribute("data-only")): int(one.locator(".num").inner_text())
        for one in page.locator("#keys [data-only]").all()
    }
    assert found == listed
    name = next(iter(listed))
    page.locator(f"#keys [data-only='{name}']").hover()
    expect(page.locator(".map .b.lit")).not_to_have_count(0)


def test_a_priority_has_a_colour_and_a_find_lights_the_map(page: Page, served: Served) -> None:
    """Gangs are fetched once for it; the blocks of ml alone are lit, by the URL."""
    page.goto(served.url + "/fabric?colour=priority&find=ml/")
    expect(page.locator("#keys [data-only^='priority ']")).not_to_have_count(0)
    assert page.locator(".map .b[data-gang].unknown").count() == 0
    lit = page.locator(".map .b.lit")
    expect(lit).not_to_have_count(0)
    assert all(str(one.get_attribute("data-gang")).startswith("ml/") for one in lit.all())


def test_a_table_is_sorted_and_searched_by_its_url(page: Page, served: Served) -> None:
    """A click on GPUs puts the largest first; what is typed stands in the URL, and outlives it."""
    page.goto(served.url + "/gangs")
    page.locator("thead a", has_text="GPUs").click()
    expect(page).to_have_url(re.compile(r"/gangs\?sort=-gpus$"))
    expect(page.locator("tbody th").first).to_contain_text("ml/llama-pretrain")
    page.locator("#find").fill("bert")
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page).to_have_url(re.compile(r"/gangs\?find=bert&sort=-gpus$"))
    page.reload()
    expect(page.locator("tbody th")).to_contain_text("ml/bert-large")
    expect(page.locator("#find")).to_have_value("bert")


def test_the_switch_of_colours_lasts(page: Page, served: Served) -> None:
    """As the system has them, light, dark; the choice outlives the page."""
    page.emulate_media(color_scheme="light")
    page.goto(served.url + "/fabric")
    light = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    page.locator("#theme").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert dark != light
    page.goto(served.url + "/queue")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == dark


def test_hostile_names_are_only_names(page: Page) -> None:
    """Tags and quotes in names of leaves, spines, gangs and reasons are text on every page."""
    source = FileSource("hostile", [Source("hostile", objects=hostile.objects())])
    with Served(source) as served:
        paths = ["/", "/fabric", "/queue", "/gangs"]
        page.goto(f"{served.url}/gangs")
        paths += [str(one.get_attribute("href")) for one in page.locator("tbody a").all()]
        page.goto(served.url + "/fabric")
        paths += [str(one.get_attribute("href")) for one in page.locator(".map .node").all()]
        assert len(paths) == 9
        for path in paths:
            page.goto(served.url + path)
            assert page.evaluate("window.hacked") is None
            assert page.locator("main img, main script").count() == 0
        page.goto(served.url + "/fabric")
        # A map that is drawn anew under the pointer forgets what was pointed at.
        for _ in range(20):
            for node in page.locator(".map .node").all():
                node.hover()
            if hostile.SCRIPT in page.locator("#keys").inner_text():
                break
            page.wait_for_timeout(100)
        assert hostile.SCRIPT in page.locator("#keys").inner_text()
        assert page.evaluate("window.hacked") is None


def test_a_change_comes_by_itself_and_moves_nothing(page: Page) -> None:
    """A pod is bound and a node cordoned: the map says so, and nothing has shifted by it."""
    with Served() as served:
        served.do(actors.add_nodes(served.cluster, actors.nodes(1, 4, 4)))
        served.do(actors.submit(served.cluster, "ml", actors.gang("g", 1)))
        page.goto(served.url + "/fabric")
        expect(page.locator("#pulse")).to_have_attribute("data-state", "on")
        node = page.locator(".map .node[aria-label^='n-0-1-2:']")
        expect(node).to_have_attribute("aria-label", re.compile("8 of 8 GPUs free"))
        node.focus()
        before = page.locator(".map").bounding_box()
        page.evaluate(
            "window.shift = 0; new PerformanceObserver((list) => list.getEntries()"
            ".forEach((one) => { window.shift += one.value; }))"
            ".observe({type: 'layout-shift', buffered: false})"
        )
        served.do(served.cluster.bind(Binding(Target("ml", "g-0"), "n-0-1-2")))
        patch = {"spec": {"unschedulable": True}}
        served.do(served.cluster.patch(NODES, Target("", "n-0-3-0"), patch))
        expect(node).to_have_attribute("aria-label", re.compile("ml/g holds 8"))
        expect(page.locator(".map .s-cordoned")).to_have_count(1)
        expect(page.locator("[data-t=free]")).to_have_text("120")
        assert _node(page) == "n-0-1-2"
        assert page.locator(".map").bounding_box() == before
        assert page.evaluate("window.shift") == 0


def test_a_map_that_is_new_is_drawn_anew(page: Page) -> None:
    """Nodes come and one goes: leaves that were not there appear."""
    with Served() as served:
        made = served.do(actors.add_nodes(served.cluster, actors.nodes(1, 2, 2)))
        page.goto(served.url + "/fabric")
        expect(page.locator("#pulse")).to_have_attribute("data-state", "on")
        expect(page.locator(".leaf")).to_have_count(2)
        more = [actors.node("late", "leaf-9", "spine-0")]
        served.do(actors.add_nodes(served.cluster, more))
        expect(page.locator(".leaf")).to_have_count(3)
        served.do(served.cluster.delete(NODES, made[0]))
        expect(page.locator(".map .node")).to_have_count(4)


def test_a_table_that_is_the_same_is_not_drawn_anew(page: Page) -> None:
    """A node is cordoned twice: the gangs are asked for, and their rows stay the same elements."""
    with Served() as served:
        made = served.do(actors.add_nodes(served.cluster, actors.nodes(1, 2, 2)))
        served.do(actors.submit(served.cluster, "ml", actors.gang("g", 2)))
        eventually(lambda: served.get("/gangs")[2].count("<td") > 0, "the gang is known")
        page.goto(served.url + "/gangs")
        expect(page.locator("#pulse")).to_have_attribute("data-state", "on")
        page.evaluate("document.querySelector('tbody tr').kept = true")
        for cordoned in (True, False):
            with page.expect_response("**/gangs?part=1"):
                patch = {"spec": {"unschedulable": cordoned}}
                served.do(served.cluster.patch(NODES, Target("", made[0].name), patch))
        page.wait_for_timeout(100)
        assert page.evaluate("document.querySelector('tbody tr').kept")
        served.do(served.cluster.bind(Binding(Target("ml", "g-0"), "n-0-1-1")))
        expect(page.locator("td[data-head=Leaves]")).to_have_text("leaf-0-1")
        assert page.evaluate("document.querySelector('tbody tr').kept") is None


def test_an_empty_cluster_says_what_to_do(page: Page) -> None:
    """No node, no gang: each page has a sentence instead of nothing."""
    with Served() as served:
        for path, says in (
            ("/", "No namespace holds GPUs"),
            ("/fabric", "fourleaf topology check"),
            ("/gangs", "PodGroup, Job or labels"),
            ("/queue", "No gang waits"),
            ("/cycles", "--server"),
        ):
            page.goto(served.url + path)
            expect(page.locator("#part")).to_contain_text(says)


def test_on_a_phone_no_label_runs_into_its_value(page: Page, served: Served) -> None:
    """At 360 pixels the head of each cell ends before what the cell says."""
    page.set_viewport_size({"width": 360, "height": 740})
    for path in ("/gangs", "/queue", "/node?name=gpu-16"):
        page.goto(served.url + path)
        assert page.evaluate(RUNS_INTO) == []


def _node(page: Page) -> str:
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    return str(label).partition(":")[0]
