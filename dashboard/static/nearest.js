// Lights on the map what a gang that waits comes closest to, and who holds it.

let seen = false;

/** Marks the leaves and blocks that the part `#nearest` names; anew after each drawing. */
export function nearest() {
  const said = document.getElementById("nearest");
  const map = document.querySelector(".map");
  if (!said || !map) return;
  const states = new Map([...said.querySelectorAll("[data-near]")].map((one) => [one.dataset.near, one.dataset.state]));
  const holders = new Set([...said.querySelectorAll("[data-holder]")].map((one) => one.dataset.holder));
  map.classList.toggle("seeking", states.size > 0);
  for (const leaf of map.querySelectorAll(".leaf")) {
    const state = states.get(leaf.dataset.key);
    leaf.classList.toggle("near", state === "near");
    leaf.classList.toggle("goal", state === "goal");
    for (const block of leaf.querySelectorAll(".b[data-gang]")) {
      block.classList.toggle("holds", state !== undefined && holders.has(block.dataset.gang));
    }
  }
  const wide = innerWidth > 960; // where the words about it stay in sight
  if (states.size && !seen && wide) map.querySelector(".leaf.near, .leaf.goal")?.scrollIntoView({ block: "nearest" });
  seen ||= states.size > 0;
}
