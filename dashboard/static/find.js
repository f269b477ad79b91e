// Hides the rows of a table in which something is not found.

/** Wires every field with `data-find`. */
export function finds() {
  for (const field of document.querySelectorAll("[data-find]")) {
    const apply = () => {
      const wanted = field.value.trim().toLowerCase();
      for (const row of document.querySelectorAll(field.dataset.find)) {
        row.hidden = !row.textContent.toLowerCase().includes(wanted);
      }
    };
    field.addEventListener("input", apply);
    const part = document.getElementById("part");
    new MutationObserver(apply).observe(part, { childList: true });
  }
}
