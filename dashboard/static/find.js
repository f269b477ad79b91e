// Finds in a table while one types; the server does it, and the URL says what is shown.
import { fetched, put } from "./part.js";

const PAUSE = 200; // milliseconds after the last key

/** Wires every form with `data-find`, which does the same without scripts. */
export function finds() {
  for (const form of document.querySelectorAll("form[data-find]")) {
    const part = document.querySelector(form.dataset.find);
    let due = 0;
    let last = 0;
    const look = async () => {
      const url = new URL(form.action, location.href);
      for (const [name, value] of new FormData(form)) if (value) url.searchParams.set(name, value);
      history.replaceState(null, "", url);
      url.searchParams.set("part", "1");
      part.dataset.part = url.pathname + url.search;
      const number = ++last;
      const text = await fetched(part.dataset.part);
      if (number === last) put(part, text);
    };
    form.addEventListener("input", () => {
      clearTimeout(due);
      due = setTimeout(look, PAUSE);
    });
    // What was typed before this script ran.
    const shown = new URL(location.href).searchParams.get("find") ?? "";
    if (form.elements.find.value !== shown) look();
  }
}
