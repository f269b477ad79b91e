"""What pages ask and are asked: the login, what-ifs and previews, in a real browser."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from fourleaf.dashboard.cycles import MOST_CYCLES_SHOWN
from tests.dashboard.conftest import CYCLES, SECRET
from tests.dashboard.contrast import RUNS_INTO, reads_well
from tests.dashboard.served import Served


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_from_the_login_to_the_cycles(page: Page, locked: Served, scheme: str) -> None:
    """A wrong token is refused, the right one leads on; each page reads well on a phone."""
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(locked.url + "/cycles")
    expect(page).to_have_url(re.compile("/login"))
    assert reads_well(page)
    page.fill("#token", SECRET[::-1])
    page.locator("button.main").click()
    expect(page.locator("#wrong")).to_contain_text("Advice: ask the operator")
    assert reads_well(page)
    page.fill("#token", SECRET)
    page.locator("button.main").click()
    expect(page.locator("caption")).to_contain_text(
        f"the newest first, {MOST_CYCLES_SHOWN} of {CYCLES}"
    )
    expect(page.locator("tbody tr")).to_have_count(MOST_CYCLES_SHOWN)
    expect(page.locator(".chart rect[x]")).to_have_count(2 * MOST_CYCLES_SHOWN)
    bounds = page.locator("td[data-head=Bound]").all_inner_texts()
    assert bounds[:3] == ["1,000,000,000", "none", "1,000,000,000"]
    page.locator("tbody details").first.locator("summary").click()
    expect(page.locator("tbody tr").first).to_contain_text("where: 200.0 ms, not proven")
    assert page.evaluate(RUNS_INTO) == []
    assert reads_well(page)
    page.get_by_role("button", name="Log out").click()
    page.goto(locked.url + "/cycles")
    expect(page).to_have_url(re.compile("/login"))


def test_a_what_if_and_what_is_wrong_with_one(page: Page, served: Served) -> None:
    """A leaf that does not exist is refused with the nearest name; closing one changes the plan."""
    page.goto(served.url + "/what-if")
    page.fill("#close", "leef-00")
    page.locator("button.main").click()
    expect(page.locator("#answer")).to_contain_text("Perhaps leaf-00")
    page.fill("#close", "leaf-00")
    page.locator("button.main").click()
    expect(page.locator("#answer")).to_contain_text("9 gangs would be placed", timeout=30_000)
    places = page.locator("#answer td[data-head='If'] > .name").all_inner_texts()
    assert places
    assert not [text for text in places if "leaf-00" in text]
    expect(page.locator("#answer")).to_contain_text("who runs there stays")
    page.fill("#close", "leaf-04")
    page.locator("[name=empty]").check()
    page.locator("button.main").click()
    expect(page.locator("#answer > h3")).to_have_text("4 pods would move", timeout=30_000)
    expect(page.locator("#answer")).to_contain_text("Closed and emptied: gpu-16")
    page.set_viewport_size({"width": 360, "height": 740})
    assert reads_well(page)
    expect(page).to_have_url(re.compile(r"/what-if\?close=leaf-04&empty=1$"))
    page.reload()
    expect(page.locator("#close")).to_have_value("leaf-04")
    expect(page.locator("[name=empty]")).to_be_checked()
    assert page.locator("#answer").inner_text() == ""


def test_a_preview_of_a_drain(page: Page, served: Served) -> None:
    """The four pods of leaf-04 go elsewhere, one by one; an unknown leaf is refused first."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(served.url + "/previews")
    form = page.locator("form[data-ask='/previews/drain']")
    page.fill("#places", "leaf-4")
    form.locator("button").click()
    expect(page.locator("#drained")).to_contain_text("Perhaps leaf-14, leaf-04")
    page.fill("#places", "leaf-04")
    form.locator("button").click()
    expect(page.locator("#drained > h3")).to_have_text("4 pods would move", timeout=30_000)
    moves = page.locator("#drained .moves li").all_inner_texts()
    assert len(moves) == 4
    # Before and after: each move has its line and head, each of the four nodes its frame.
    expect(page.locator("#drained .arrows line")).to_have_count(4)
    expect(page.locator("#drained .arrows path")).to_have_count(4)
    expect(page.locator("#drained [data-side=after] .b.came")).to_have_count(4)
    gone = page.locator("#drained [data-side=after] [data-key='spine-0/leaf-04'] .s-cordoned")
    expect(gone).to_have_count(4)
    assert not [text for text in moves if "leaf-04" in text.partition("→")[2]]
    expect(page.locator("#drained")).not_to_have_attribute("aria-busy", "true")
    assert reads_well(page)


def test_a_preview_of_a_defragmentation(page: Page, served: Served) -> None:
    """No gang of the examples may be moved: nine whole leaves stay nine."""
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto(served.url + "/previews")
    page.fill("#moves", "5")
    page.locator("form[data-ask='/previews/defrag'] button").click()
    says = page.locator("#gathered > h3")
    expect(says).to_have_text("0 pods would move, 9 gangs could start then", timeout=30_000)
    assert page.locator("#gathered td[data-head=leaves]").all_inner_texts() == ["9", "9"]
    assert reads_well(page)
