// Forms that ask the planner: JSON out, drawn HTML back.
import { pictures } from "./arrows.js";
import { parsed } from "./part.js";

/** Takes over every form with `data-ask`, and fills in what the URL says; a link asks nothing. */
export function asks() {
  for (const form of document.querySelectorAll("form[data-ask]")) {
    fill(form);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      ask(form);
    });
  }
}

function linked(form) {
  return [...form.elements].filter((field) => field.name && field.tagName === "INPUT");
}

function fill(form) {
  const said = new URL(location.href).searchParams;
  for (const field of linked(form)) {
    if (!said.has(field.name)) continue;
    if (field.type === "checkbox") field.checked = said.get(field.name) === "1";
    else field.value = said.get(field.name);
  }
}

/** Puts the question into the URL, so that it can be passed on: all but manifests, which are long. */
function link(form) {
  const url = new URL(location.href);
  for (const field of linked(form)) {
    const value = field.type === "checkbox" ? (field.checked ? "1" : "") : field.value;
    if (value && (field.type === "checkbox" || value !== field.defaultValue)) url.searchParams.set(field.name, value);
    else url.searchParams.delete(field.name);
  }
  history.replaceState(null, "", url);
}

async function ask(form) {
  link(form);
  const place = document.querySelector(form.dataset.answer);
  const button = form.querySelector("button[type=submit]");
  button.disabled = true;
  place.setAttribute("aria-busy", "true");
  say(place, "soft", "The solver is asked …");
  try {
    const answer = await fetch(form.dataset.ask, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "text/html" },
      body: JSON.stringify(question(form)),
    });
    const text = await answer.text();
    if (answer.headers.get("content-type")?.startsWith("text/html")) {
      place.replaceChildren(...parsed(text));
      pictures(place);
    } else {
      say(place, "refusal", JSON.parse(text).message);
    }
  } catch {
    say(place, "refusal", "The dashboard does not answer.");
  } finally {
    button.disabled = false;
    place.removeAttribute("aria-busy");
  }
}

function say(place, look, text) {
  const line = document.createElement("p");
  line.className = look;
  line.textContent = text;
  place.replaceChildren(line);
}

/** What the fields of a form say; weights that stand as they stood are left out. */
function question(form) {
  const said = {};
  for (const field of form.elements) {
    if (!field.name) continue;
    if (field.name.startsWith("weights.")) {
      if (field.value !== "" && field.value !== field.dataset.usual) {
        said.weights = { ...said.weights, [field.name.slice("weights.".length)]: field.value };
      }
    } else if ("words" in field.dataset) {
      said[field.name] = field.value.split(/[\s,]+/).filter(Boolean);
    } else if ("flag" in field.dataset) {
      said[field.name] = field.checked;
    } else if ("number" in field.dataset) {
      if (field.value !== "") said[field.name] = Number(field.value);
    } else {
      said[field.name] = field.value;
    }
  }
  return said;
}
