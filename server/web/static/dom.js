// Making elements. Data becomes text nodes and attribute values, never HTML.

const svg = "http://www.w3.org/2000/svg";

// byId finds an element of index.html.
export const byId = (id) => document.getElementById(id);

// el makes an element. A function among the attributes, such as onclick, listens;
// true sets an attribute without a value; false, null and undefined set none.
// Children are nodes or strings; null and undefined are left out.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((c) => c != null));
  return node;
}

// icon draws a symbol of index.html.
export function icon(name) {
  const node = document.createElementNS(svg, "svg");
  node.setAttribute("class", "icon");
  node.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(svg, "use");
  use.setAttribute("href", `#icon-${name}`);
  node.append(use);
  return node;
}

// notice shows an error with its hint, and a way to try again if there is one.
export function notice(error, retry) {
  return el("div", { class: "notice", role: "alert" },
    el("p", {}, error.message),
    error.hint ? el("p", { class: "note" }, error.hint) : null,
    retry ? el("button", { type: "button", onclick: retry }, "Try again") : null);
}

// say has screen readers speak a short message.
export function say(message) {
  byId("status").textContent = message;
}

// plural counts things: "1 passage", "3 passages".
export const plural = (n, thing) => `${n.toLocaleString("en")} ${thing}${n === 1 ? "" : "s"}`;

// pressed shows a dialog and waits for its button: true unless it was cancelled.
export function pressed(dialog) {
  dialog.returnValue = "";
  dialog.querySelector(".cancel").onclick = () => dialog.close(); // no submit button, or Enter would press it
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "ok"), { once: true });
  });
}

// confirmed asks before something that cannot be undone.
export function confirmed(heading, text, yes) {
  byId("confirm-heading").textContent = heading;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = yes;
  return pressed(byId("confirm-dialog"));
}
