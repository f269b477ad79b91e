// News from the server: patches the map, and fetches other parts anew.
import { redrawn } from "./map.js";
import { nearest } from "./nearest.js";
import { again, fetched, parsed, put } from "./part.js";

const LEAST = 400; // milliseconds between two fetches of a part

/** Follows the news, where the page is of a live cluster; fetches parts that are due by time. */
export function follow() {
  const parts = [...document.querySelectorAll("[data-part]")].map((part) => ({
    part,
    map: "map" in part.dataset,
    on: (part.dataset.on ?? "").split(" "),
    fresh: refresher(part),
  }));
  for (const { part, fresh } of parts) {
    if (part.dataset.every) setInterval(() => document.hidden || fresh(), 1000 * Number(part.dataset.every));
  }
  const where = document.getElementById("main").dataset.events;
  if (!where) return;
  const news = new EventSource(where);
  news.addEventListener("open", () => pulse("on", "live"));
  news.addEventListener("error", () => pulse("off", "reconnecting"));
  news.addEventListener("hello", (event) => {
    for (const { part, map, fresh } of parts) {
      const shown = part.querySelector("[data-version]")?.dataset.version;
      if (map && shown !== String(JSON.parse(event.data).version)) fresh();
    }
  });
  news.addEventListener("resync", () => {
    for (const { map, on, fresh } of parts) if (map || on.includes("changed")) fresh();
  });
  news.addEventListener("queue", () => {
    for (const { on, fresh } of parts) if (on.includes("queue")) fresh();
    again(nearest, true);
  });
  news.addEventListener("changed", (event) => {
    const said = JSON.parse(event.data);
    for (const { part, map, on, fresh } of parts) {
      if (map) patch(part, said, fresh);
      else if (on.includes("changed")) fresh();
    }
    again(nearest);
  });
  addEventListener("pagehide", () => news.close());
}

function patch(part, said, fresh) {
  if (said.fabric) {
    fresh();
    return;
  }
  for (const [key, html] of Object.entries(said.leaves)) {
    const old = part.querySelector(`[data-key="${CSS.escape(key)}"]`);
    if (!old) continue;
    const focused = old.contains(document.activeElement) && document.activeElement.getAttribute("href");
    const [leaf] = parsed(html).filter((one) => one.nodeType === Node.ELEMENT_NODE);
    old.replaceWith(leaf);
    redrawn(leaf);
    if (focused) focus(leaf, focused);
  }
  const totals = { ...said.totals, free: said.totals.gpus - said.totals.used };
  for (const [name, value] of Object.entries(totals)) {
    const place = part.querySelector(`[data-t="${name}"]`);
    if (place) place.textContent = value;
  }
  const bar = part.querySelector('[data-t="bar"]');
  bar.value = said.totals.used;
  part.querySelector("[data-version]").dataset.version = said.version;
}

/** Gives the focus back to the node that had it; it is the one stop for Tab. */
function focus(leaf, href) {
  const node = [...leaf.children].find((one) => one.getAttribute("href") === href);
  if (!node) return;
  for (const one of document.querySelectorAll('.map .node[tabindex="0"]')) one.tabIndex = -1;
  node.tabIndex = 0;
  node.focus({ preventScroll: true });
}

function refresher(part) {
  let due = false;
  let busy = false;
  const fresh = async () => {
    if (busy) {
      due = true;
      return;
    }
    busy = true;
    const text = await fetched(part.dataset.part);
    if (put(part, text) && "map" in part.dataset) redrawn();
    await new Promise((done) => setTimeout(done, LEAST));
    busy = false;
    if (due) {
      due = false;
      fresh();
    }
  };
  return fresh;
}

function pulse(state, word) {
  const place = document.getElementById("pulse");
  if (place.dataset.state === "still") return;
  place.dataset.state = state;
  place.querySelector(".word").textContent = word;
}
