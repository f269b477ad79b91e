// Parts of a page, fetched as HTML that the server has drawn and escaped.

/** The nodes of `text`. */
export function parsed(text) {
  const whole = new DOMParser().parseFromString(text, "text/html");
  return [...whole.body.childNodes].map((one) => document.importNode(one, true));
}

/** The part at `url` as text; null where it cannot be had. Without a session, to the login. */
export async function fetched(url) {
  try {
    const answer = await fetch(url, { headers: { accept: "text/html" } });
    if (answer.redirected && new URL(answer.url).pathname === "/login") {
      location.reload();
      return null;
    }
    return await answer.text();
  } catch {
    return null;
  }
}

const texts = new WeakMap(); // place -> the text that was put there last

/** Puts `text` into `place` where it differs; keeps the focus and what was unfolded. */
export function put(place, text) {
  if (text === null || texts.get(place) === text) return false;
  const known = texts.has(place);
  texts.set(place, text);
  const drawn = parsed(text);
  if (!known && same(place, drawn)) return false;
  const focused = place.contains(document.activeElement) ? path(place, document.activeElement) : null;
  const open = [...place.querySelectorAll("details")].map((one) => one.open);
  place.replaceChildren(...drawn);
  [...place.querySelectorAll("details")].forEach((one, at) => {
    one.open = open[at] ?? false;
  });
  if (focused) follow(place, focused)?.focus({ preventScroll: true });
  return true;
}

/** Whether `place` holds `drawn` already, as it came with the page. */
function same(place, drawn) {
  const elements = drawn.filter((one) => one.nodeType === Node.ELEMENT_NODE);
  const here = [...place.children];
  return here.length === elements.length && here.every((one, at) => one.isEqualNode(elements[at]));
}

/** What stands under `data-later` is slow, and comes after the page; `drawn` hears of it. */
export function later(drawn = () => {}) {
  for (const one of document.querySelectorAll("[data-later]")) slow(one, drawn);
}

/** Fetches what is slow anew: at once, or where its `data-again` seconds are over. */
export function again(drawn, now = false) {
  for (const one of document.querySelectorAll("[data-later][data-again]")) {
    const age = performance.now() - Number(one.dataset.asked);
    if (now || age > 1000 * Number(one.dataset.again)) slow(one, drawn);
  }
}

function slow(one, drawn) {
  one.dataset.asked = performance.now();
  fetched(one.dataset.later).then((text) => put(one.querySelector(".later"), text) && drawn());
}

function path(place, element) {
  const steps = [];
  for (let one = element; one !== place; one = one.parentElement) {
    steps.unshift([...one.parentElement.children].indexOf(one));
  }
  return { steps, href: element.getAttribute("href") };
}

function follow(place, { steps, href }) {
  if (href) return [...place.querySelectorAll("a")].find((one) => one.getAttribute("href") === href);
  return steps.reduce((one, at) => one?.children[at], place);
}
