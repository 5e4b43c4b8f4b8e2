// The switch for the colours: as the system has it, light, dark. theme.js applies
// the choice when the page loads.

import { byId, icon } from "./dom.js";
import { inBrowser } from "./storage.js";

const name = "waymark.theme";
const next = { auto: "light", light: "dark", dark: "auto" };
const label = { auto: "as the system", light: "light", dark: "dark" };

export function start() {
  const button = byId("theme");
  const root = document.documentElement;
  const show = (theme) => {
    button.replaceChildren(icon(theme));
    button.setAttribute("aria-label", `Colours: ${label[theme]}. Change to ${label[next[theme]]}`);
    button.title = `Colours: ${label[theme]}`;
  };
  show(root.dataset.theme ?? "auto");
  button.addEventListener("click", () => {
    const theme = next[root.dataset.theme ?? "auto"];
    if (theme === "auto") {
      delete root.dataset.theme;
      inBrowser.remove(name);
    } else {
      root.dataset.theme = theme;
      inBrowser.set(name, theme);
    }
    show(theme);
  });
}
