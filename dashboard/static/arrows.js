// Draws the moves between two pictures of leaves, wherever these stand on the screen.
const SVG = "http://www.w3.org/2000/svg";
const watched = new WeakSet();

/** Makes every picture under `place` show who comes, and its moves, now and whenever it is resized. */
export function pictures(place = document) {
  for (const one of place.querySelectorAll("[data-picture]")) {
    if (watched.has(one)) continue;
    watched.add(one);
    const nodes = { before: cells(one, "before"), after: cells(one, "after") };
    for (const said of one.querySelectorAll("[data-came]")) {
      for (const block of nodes.after.get(said.dataset.at)?.querySelectorAll(".b[data-gang]") ?? []) {
        if (block.dataset.gang === said.dataset.came) block.classList.add("came");
      }
    }
    new ResizeObserver(() => draw(one, nodes)).observe(one);
  }
}

/** The nodes of one side by name. */
function cells(picture, side) {
  const found = picture.querySelectorAll(`[data-side="${side}"] .node`);
  return new Map([...found].map((one) => [one.getAttribute("aria-label").split(": ")[0], one]));
}

function draw(picture, nodes) {
  const svg = picture.querySelector(".arrows");
  const frame = svg.parentElement.getBoundingClientRect();
  svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  const lines = [];
  for (const { dataset } of picture.querySelectorAll("[data-from]")) {
    const from = nodes.before.get(dataset.from)?.getBoundingClientRect();
    const to = nodes.after.get(dataset.to)?.getBoundingClientRect();
    if (from && to) lines.push(...arrow(...ends(from, to, frame), Number(dataset.pods)));
  }
  svg.replaceChildren(...lines);
}

/** Where an arrow leaves one node and meets the other: at their sides, or above one another. */
function ends(from, to, frame) {
  const beside = to.left > from.right;
  const leaves = { x: beside ? from.right : from.left + from.width / 2, y: beside ? from.top + from.height / 2 : from.bottom };
  const meets = { x: beside ? to.left : to.left + to.width / 2, y: beside ? to.top + to.height / 2 : to.top };
  return [leaves, meets].map(({ x, y }) => ({ x: x - frame.left, y: y - frame.top }));
}

function arrow(from, to, pods) {
  const line = document.createElementNS(SVG, "line");
  for (const [name, value] of [["x1", from.x], ["y1", from.y], ["x2", to.x], ["y2", to.y]]) {
    line.setAttribute(name, value.toFixed(1));
  }
  line.setAttribute("stroke-width", String(Math.min(4, 1 + Math.log2(pods))));
  const head = document.createElementNS(SVG, "path");
  const turn = (180 / Math.PI) * Math.atan2(to.y - from.y, to.x - from.x);
  head.setAttribute("d", "M 0 0 L -9 -4 L -9 4 Z");
  head.setAttribute("transform", `translate(${to.x.toFixed(1)} ${to.y.toFixed(1)}) rotate(${turn.toFixed(1)})`);
  return [line, head];
}
