// Runs before anything is drawn, so that no page flashes in the other colours.
"use strict";
(() => {
  const root = document.documentElement;
  const words = { auto: ["◐", "as the system has them"], light: ["☀", "light"], dark: ["☾", "dark"] };
  const order = ["auto", "light", "dark"];
  let theme = "auto";
  try {
    const kept = localStorage.getItem("fourleaf-theme");
    if (order.includes(kept)) theme = kept;
  } catch {
    // Storage may be forbidden; then the choice lasts for a page.
  }
  root.dataset.theme = theme;
  document.addEventListener("DOMContentLoaded", () => {
    const button = document.getElementById("theme");
    if (!button) return;
    const say = () => {
      button.textContent = words[theme][0];
      button.setAttribute("aria-label", `Colours: ${words[theme][1]}`);
      button.title = `Colours: ${words[theme][1]}`;
    };
    say();
    button.addEventListener("click", () => {
      theme = order[(order.indexOf(theme) + 1) % order.length];
      root.dataset.theme = theme;
      try {
        localStorage.setItem("fourleaf-theme", theme);
      } catch {
        // As above.
      }
      say();
    });
  });
})();
