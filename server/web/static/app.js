// Puts the page together: sidebar, composer, keys.

import * as api from "./api.js";
import * as conversation from "./conversation.js";
import { byId, confirmed, el, icon, say } from "./dom.js";
import * as history from "./history.js";
import * as library from "./library.js";
import * as reader from "./reader.js";
import * as theme from "./theme-switch.js";

const question = byId("question");
const phone = matchMedia("(max-width: 47.5rem)");

theme.start();
conversation.start(listConversations);
library.start({
  open: (id, from) => {
    drawer(false);
    reader.openDocument(library.current(), id, from);
  },
  chosen: () => conversation.show(history.begin(library.current())),
  changed: conversation.empty,
  stale: reader.forget,
});
listConversations();
keyButton();
api.onKey(keyButton);
layers();
if (!phone.matches) question.focus(); // there it would bring up the keyboard

// Asking.

byId("composer").addEventListener("submit", (e) => {
  e.preventDefault();
  const text = question.value.trim();
  if (text === "" || conversation.isRunning()) return;
  question.value = "";
  fit();
  conversation.ask(text);
});
question.addEventListener("keydown", (e) => {
  if (e.key !== "Enter" || e.shiftKey || e.isComposing) return;
  e.preventDefault();
  byId("composer").requestSubmit();
});
question.addEventListener("input", fit);

// fit makes the question's field as high as its text, up to the limit in CSS.
function fit() {
  question.style.height = "auto";
  question.style.height = `${question.scrollHeight}px`;
}

// Links to a place in a document, as the API gives them with citations.

addEventListener("hashchange", followLink);
followLink();

function followLink() {
  const [, name, id, start, end] = /^#\/d\/([a-z0-9_-]{1,64})\/([^/]+)\/(\d+)-(\d+)$/.exec(location.hash) ?? [];
  if (!id) return;
  library.choose(name);
  reader.openDocument(name, decodeURIComponent(id), null, { start: Number(start), end: Number(end) });
}

// Keys.

addEventListener("keydown", (e) => {
  if (e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
  const typing = e.target.closest("input, textarea, select") !== null;
  if (e.key === "/" && !typing) {
    e.preventDefault();
    drawer(false);
    question.focus();
  } else if (e.key === "Escape") {
    escape();
  } else if ((e.key === "ArrowRight" || e.key === "ArrowLeft") && !typing) {
    const by = e.key === "ArrowRight" ? 1 : -1;
    const chip = e.target.closest(".chip");
    if (chip === null && e.target.closest("#reader") === null) return;
    e.preventDefault();
    if (chip) conversation.walk(chip, by);
    else reader.step(by);
  }
});

function escape() {
  if (document.body.classList.contains("menu")) drawer(false);
  else if (reader.isOpen()) reader.close();
  else if (conversation.isRunning()) conversation.stop();
}

// The sidebar, which on a phone is a drawer, as the reader is a sheet: what lies
// below cannot be reached while one is open.

byId("sidebar-open").addEventListener("click", () => drawer(true));
byId("sidebar-close").addEventListener("click", () => drawer(false));
byId("backdrop").addEventListener("click", escape);
phone.addEventListener("change", layers);
new MutationObserver(layers).observe(byId("reader"), { attributeFilter: ["hidden"] });

function drawer(open) {
  if (document.body.classList.contains("menu") === open) return;
  document.body.classList.toggle("menu", open);
  byId("sidebar-open").setAttribute("aria-expanded", String(open));
  layers();
  byId(open ? "sidebar-close" : "sidebar-open").focus();
}

function layers() {
  const menu = document.body.classList.contains("menu");
  const covered = phone.matches && (menu || reader.isOpen());
  byId("main").inert = covered;
  byId("backdrop").hidden = !covered;
}

// History.

byId("new-conversation").addEventListener("click", () => {
  drawer(false);
  conversation.show(history.begin(library.current()));
  listConversations();
  question.focus();
});
byId("clear-history").addEventListener("click", async () => {
  if (!(await confirmed("Clear the history?", "All conversations kept in this browser will be gone. Documents are not touched.", "Clear"))) return;
  history.clear();
  conversation.discard();
  listConversations();
  say("The history is empty");
});

function listConversations() {
  const kept = history.load();
  byId("clear-history").hidden = kept.length === 0;
  byId("conversations").replaceChildren(...(kept.length > 0 ? kept.map(row) : [el("li", { class: "none" }, "Nothing asked yet")]));
}

function row(kept) {
  return el("li", {},
    el("button", {
      type: "button",
      class: "entry",
      title: kept.title,
      "aria-current": kept.id === conversation.current().id ? "true" : null,
      onclick: () => {
        drawer(false);
        library.choose(kept.collection);
        conversation.show(kept);
        listConversations();
      },
    }, el("bdi", { class: "title" }, kept.title)),
    el("button", {
      type: "button",
      class: "quiet square",
      "aria-label": `Remove “${kept.title}” from the history`,
      onclick: () => {
        history.drop(kept.id);
        if (kept.id === conversation.current().id) conversation.discard();
        listConversations();
        byId("new-conversation").focus();
      },
    }, icon("close")));
}

// The key.

byId("forget-key").addEventListener("click", () => {
  api.forgetKey();
  keyButton();
  library.refresh();
});

function keyButton() {
  byId("forget-key").hidden = !api.hasKey();
}
