"""Whether pages can be read: contrast as WCAG 2 defines it, and what fits, in a browser."""

from __future__ import annotations

from playwright.sync_api import Page

LEAST = 4.5
"""For texts; 3 where they are large (24 px, or 18.66 px and bold)."""

_SCRIPT = """
(least) => {
  const parts = (colour) => {
    const found = colour.match(/[\\d.]+/g).map(Number);
    return { rgb: found.slice(0, 3), alpha: found.length > 3 ? found[3] : 1 };
  };
  const over = (top, below) => top.rgb.map((c, i) => c * top.alpha + below[i] * (1 - top.alpha));
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((c) => {
      const s = c / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) {
      layers.push(parts(getComputedStyle(one).backgroundColor));
    }
    return layers.reduceRight((below, top) => over(top, below), [255, 255, 255]);
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    const hidden = style.visibility === "hidden" || style.display === "none";
    if (!text || hidden || box.width < 2 || box.height < 2) continue;
    const ground = behind(element);
    const [a, b] = [luminance(over(parts(style.color), ground)), luminance(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : least)) found.push([text.slice(0, 60), ratio]);
  }
  return found;
}
"""

RUNS_INTO = """
() => [...document.querySelectorAll("tbody td[data-head]:not(.why)")].filter((cell) => {
  const pen = document.createElement("canvas").getContext("2d");
  const { fontSize, fontFamily } = getComputedStyle(cell, "::before");
  pen.font = `${fontSize} ${fontFamily}`;
  const text = document.createRange();
  text.selectNodeContents(cell);
  const found = [...text.getClientRects()].filter((one) => one.width > 0);
  const start = cell.getBoundingClientRect().left;
  return found.length && start + pen.measureText(cell.dataset.head).width + 2 > found[0].left;
}).map((cell) => cell.dataset.head)
"""
"""A script: labels of cells that run into what the cell says."""


def poor(page: Page) -> list[tuple[str, float]]:
    """Texts of `page` with too little contrast to what is behind them, and how much they have."""
    return [(text, ratio) for text, ratio in page.evaluate(_SCRIPT, LEAST)]


def reads_well(page: Page) -> bool:
    """Whether every text has its contrast and nothing is wider than the screen; names the poor."""
    assert poor(page) == []
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
