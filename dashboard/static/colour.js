// Colours the map by namespace, priority, wait or health, in place of the mark of each gang.

const COLOURS = 8;
const PATTERNS = 4;
const STEPS = 5;
const WAITS = [60, 600, 3600, 6 * 3600]; // seconds; what is beyond the last is the last step
const WAIT_WORDS = ["under 1 min", "under 10 min", "under 1 h", "under 6 h", "6 h and more"];
const AGAIN = 10000; // milliseconds between two looks at the gangs
const STATES = { free: "ready", partly: "ready", busy: "ready", cordoned: "cordoned", held: "held back", down: "not ready" };

let gangs = new Map(); // name -> what /api/v1/gangs says of it
let asked = -Infinity;
let ranks = [];
let spaces = [];

/** What the map is coloured by: gang, namespace, priority, wait or health. */
export function mode() {
  return document.querySelector("[data-colour]")?.dataset.colour ?? "gang";
}

/** What a block counts as in the list beside the map: its words, and where they lead, if anywhere. */
export function group(block) {
  const name = block.dataset.gang;
  const by = mode();
  if (by === "health") {
    const state = [...block.closest(".node").classList].find((one) => one.startsWith("s-"));
    return { name: STATES[state.slice(2)], href: null };
  }
  if (by === "gang") {
    const cut = name.indexOf("/");
    const query = new URLSearchParams({ namespace: name.slice(0, cut), name: name.slice(cut + 1) });
    return { name, href: `/gang?${query}` };
  }
  if (by === "namespace") {
    const space = name.slice(0, name.indexOf("/"));
    return { name: space, href: `/gangs?${new URLSearchParams({ find: `${space}/` })}` };
  }
  const known = gangs.get(name);
  if (by === "priority") return { name: known ? `priority ${known.priority}` : "not known", href: null };
  return { name: known?.waitedSeconds == null ? "not known" : WAIT_WORDS[step(known.waitedSeconds)], href: null };
}

/** Colours the blocks of `place`; `done` is called once what gangs are like has been fetched. */
export function colour(place, done) {
  const by = mode();
  if (by === "gang" || by === "health") return;
  if (by !== "namespace") look(done);
  const blocks = [...place.querySelectorAll(".map .b[data-gang]:not(.other), .b[data-gang]:not(.other)")];
  if (by === "namespace") {
    const found = [...document.querySelectorAll(".map .b[data-gang]:not(.other)")].map((one) => group(one).name);
    const now = [...new Set(found)].sort();
    // Where a namespace is new, all are coloured anew, so that none changes by itself.
    if (now.join("\n") !== spaces.join("\n")) {
      spaces = now;
      blocks.splice(0, blocks.length, ...document.querySelectorAll(".map .b[data-gang]:not(.other)"));
    }
  }
  for (const block of blocks) {
    for (const one of [...block.classList]) if (/^([mpq]\d+|unknown)$/.test(one)) block.classList.remove(one);
    block.classList.add(...look_of(block, by));
  }
}

function look_of(block, by) {
  const name = block.dataset.gang;
  if (by === "namespace") {
    const number = spaces.indexOf(group(block).name);
    return [`m${number % COLOURS}`, `p${Math.floor(number / COLOURS) % PATTERNS}`];
  }
  const known = gangs.get(name);
  if (by === "priority") return [known ? `q${rank(known.priority)}` : "unknown"];
  return [known?.waitedSeconds == null ? "unknown" : `q${step(known.waitedSeconds)}`];
}

function step(seconds) {
  const found = WAITS.findIndex((one) => seconds < one);
  return found < 0 ? WAITS.length : found;
}

/** The step of a priority among all that there are, the highest last. */
function rank(priority) {
  const at = ranks.indexOf(priority);
  return ranks.length < 2 ? 0 : Math.round((at * (STEPS - 1)) / (ranks.length - 1));
}

async function look(done) {
  if (performance.now() - asked < AGAIN) return;
  asked = performance.now();
  try {
    const answer = await fetch("/api/v1/gangs");
    const said = await answer.json();
    gangs = new Map(said.gangs.map((one) => [`${one.namespace}/${one.name}`, one]));
    ranks = [...new Set(said.gangs.filter((one) => one.running).map((one) => one.priority))].sort((a, b) => a - b);
    done();
  } catch {
    // The next look may do better.
  }
}
