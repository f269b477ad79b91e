// The map: one stop for the Tab key, arrows from node to node, and words for what is pointed at.
import { colour, group, mode } from "./colour.js";
import { nearest } from "./nearest.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const MOST = 60; // gangs that are listed

const SOON = 150; // milliseconds after which what many nodes have to say is gathered

let map = null;
let lit = null;
let due = 0;

/** Makes the map of the page usable by keyboard and pointer, where it has one. */
export function drawn() {
  const part = document.querySelector("[data-map]");
  if (!part) return;
  part.addEventListener("keydown", move);
  part.addEventListener("focusin", (event) => tell(event.target.closest(".map .node")));
  part.addEventListener("pointerover", (event) => tell(event.target.closest(".map .node")));
  part.addEventListener("pointerover", (event) => light(event.target.closest("[data-only]")));
  part.addEventListener("focusin", (event) => light(event.target.closest("[data-only]")));
  part.addEventListener("pointerleave", () => light(null));
  document.getElementById("find")?.addEventListener("input", () => light(null) ?? found());
  redrawn();
}

/** Takes in `place`, which has been drawn anew: the whole map, or a leaf of it. */
export function redrawn(place = document) {
  map = document.querySelector(".map");
  if (!map) return;
  for (const one of place.querySelectorAll(".node")) {
    if (one.closest(".map")) one.tabIndex = -1;
  }
  const stop = map.querySelector('.node:focus, .node[tabindex="0"]') ?? map.querySelector(".node");
  if (stop) stop.tabIndex = 0;
  colour(place, () => redrawn(document));
  nearest();
  found();
  clearTimeout(due);
  due = setTimeout(() => {
    keys();
    const only = lit;
    lit = null;
    if (only) show(only);
  }, SOON);
}

function move(event) {
  const way = ARROWS[event.key];
  const here = event.target.closest(".map .node");
  if (!way || !here || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  const next = neighbour(here, way);
  if (!next) return;
  here.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

/** The nearest node in that direction, by where nodes stand on the screen. */
function neighbour(here, [dx, dy]) {
  const from = middle(here);
  let best = null;
  let least = Infinity;
  for (const one of map.querySelectorAll(".node")) {
    if (one === here) continue;
    const at = middle(one);
    const along = (at.x - from.x) * dx + (at.y - from.y) * dy;
    const across = Math.abs((at.x - from.x) * dy) + Math.abs((at.y - from.y) * dx);
    if (along < 2) continue;
    const far = along + 3 * across;
    if (far < least) [best, least] = [one, far];
  }
  return best;
}

function middle(element) {
  const box = element.getBoundingClientRect();
  return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
}

/** Says in words what stands on a node. Only text is ever put in. */
function tell(node) {
  const info = document.getElementById("info");
  if (!node || !info || info.dataset.of === node.getAttribute("aria-label")) return;
  info.dataset.of = node.getAttribute("aria-label");
  const [name, ...rest] = node.getAttribute("aria-label").split(": ");
  const title = document.createElement("h2");
  title.className = "name";
  title.textContent = name;
  const lines = document.createElement("dl");
  const leaf = node.closest(".leaf").dataset.key;
  for (const text of [...rest.join(": ").split(", "), leaf]) {
    const line = document.createElement("dd");
    line.className = "name";
    line.style.margin = "0";
    line.textContent = text;
    lines.append(line);
  }
  info.replaceChildren(title, lines);
}

function light(element) {
  show(element?.dataset.only ?? null);
}

function show(name) {
  if (name === lit) return;
  lit = name;
  const text = document.getElementById("find")?.value.trim().toLowerCase() ?? "";
  map.classList.toggle("some", name !== null || text !== "");
  for (const one of map.querySelectorAll(".b.lit")) one.classList.remove("lit");
  for (const one of listed()) {
    const meant = name === null ? text && one.dataset.gang?.toLowerCase().includes(text) : group(one).name === name;
    if (meant) one.classList.add("lit");
  }
}

/** Lights what is looked for by name, where nothing is pointed at. */
function found() {
  const text = document.getElementById("find")?.value.trim();
  // Most maps look for nothing, and are patched often.
  if (lit !== null || (!text && !map.classList.contains("some"))) return;
  lit = undefined;
  show(null);
}

/** The blocks that the list beside the map counts: those of gangs, or of all nodes for their health. */
function listed() {
  return map.querySelectorAll(mode() === "health" ? ".b" : ".b[data-gang]:not(.other)");
}

/** Lists the gangs on the map, the largest first. */
function keys() {
  const found = new Map();
  for (const one of listed()) {
    const { name, href } = group(one);
    const known = found.get(name) ?? { nodes: new Set(), look: one.className, letters: "", href, cell: "" };
    const node = one.closest(".node");
    known.nodes.add(node);
    known.letters ||= mode() === "gang" ? one.textContent : "";
    known.cell = mode() === "health" ? node.className : "node";
    found.set(name, known);
  }
  const list = document.getElementById("keys");
  const sorted = [...found].sort((a, b) => b[1].nodes.size - a[1].nodes.size || (a[0] < b[0] ? -1 : 1));
  const lines = sorted.slice(0, MOST).map(([name, known]) => line(name, known));
  if (sorted.length > MOST) {
    const more = document.createElement("li");
    more.textContent = `and ${sorted.length - MOST} more`;
    lines.push(more);
  }
  const before = document.activeElement?.dataset?.only;
  list.replaceChildren(...lines);
  if (before) [...list.querySelectorAll("[data-only]")].find((one) => one.dataset.only === before)?.focus();
}

function line(name, { nodes: { size: nodes }, look, letters, href, cell }) {
  const item = document.createElement("li");
  const link = document.createElement(href ? "a" : "span");
  if (href) link.href = href;
  else link.tabIndex = 0;
  link.dataset.only = name;
  const sample = document.createElement("span");
  sample.className = `${cell} sample`;
  const block = document.createElement("i");
  block.className = look.replace(" lit", "");
  if (letters) {
    const mark = document.createElement("b");
    mark.textContent = letters;
    block.append(mark);
  }
  sample.append(block);
  const label = document.createElement("span");
  label.className = "name";
  label.textContent = name;
  const count = document.createElement("span");
  count.className = "num";
  count.textContent = nodes;
  link.append(sample, label, count);
  if (!href) link.setAttribute("role", "group");
  link.setAttribute("aria-label", `${name}, on ${nodes} node${nodes === 1 ? "" : "s"}`);
  item.append(link);
  return item;
}
