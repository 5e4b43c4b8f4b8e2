// Shows a document beside the answer, with the passage that was cited.

import * as api from "./api.js";
import { byId, el, icon, notice, plural, say } from "./dom.js";
import { unitsIn, whole } from "./offsets.js";
import { scores } from "./scores.js";
import { citedPassage, name, section, where } from "./turn.js";

// Documents may be long: so much is shown around a passage, and so much more at
// a time, in units of UTF-16.
const around = 6_000;
const more = 60_000;

const panel = byId("reader");
let current = null; // what is shown: { collection, id, turn, number, passage, range, from }
let kept = null; // the document last read, while the panel is open: { collection, id, doc }
let whyOpen = !matchMedia("(max-width: 47.5rem)").matches;

// citation is the turn and number of the citation that is shown, if one is.
export const citation = () => (current?.number ? { turn: current.turn, number: current.number } : null);
export const isOpen = () => !panel.hidden;

// changed is called when what the panel shows changes.
let changed = () => {};
export const onChange = (f) => { changed = f; };

// forget drops the document kept: it may have changed.
export const forget = () => { kept = null; };

// openCitation shows the passage of a number of an answer. from is the element
// that gets the focus back; with stay it keeps the focus.
export function openCitation(collection, turn, number, from, { stay = false } = {}) {
  const passage = citedPassage(turn, number);
  if (passage) show({ collection, id: passage.document, turn, number, passage, from, stay });
}

// openPassage shows a passage that an answer does not cite.
export function openPassage(collection, turn, passage, from) {
  show({ collection, id: passage.document, turn, number: null, passage, from });
}

// openDocument shows a document from its start or, if there is one, at a range of
// bytes of its text.
export function openDocument(collection, id, from, range = null) {
  show({ collection, id, turn: null, number: null, passage: null, range, from });
}

export function close() {
  if (panel.hidden) return;
  const { from } = current;
  current = null;
  forget();
  panel.hidden = true;
  panel.replaceChildren();
  changed();
  from?.focus();
  if (document.activeElement !== from) byId("question").focus(); // it is gone or hidden
}

// step shows the next citation of the same answer, or the one before.
export function step(by) {
  if (!current?.number) return;
  const number = current.number + by;
  if (number < 1 || number > current.turn.citations.length) return;
  openCitation(current.collection, current.turn, number, current.from);
}

async function show(target) {
  current = target;
  panel.hidden = false;
  const heading = el("h2", { id: "reader-title", tabindex: "-1", dir: "auto" }, target.passage ? name(target.passage) : target.id);
  const body = el("div", { class: "text", tabindex: "0", role: "region", "aria-label": "Text of the document" }, el("p", { class: "note" }, "Opening the document"));
  panel.replaceChildren(header(target, heading), ...explanation(target), body);
  changed();
  if (!target.stay) heading.focus({ preventScroll: true });
  try {
    const doc = await read(target.collection, target.id);
    if (current !== target) return;
    heading.textContent = doc.title || target.id;
    fill(body, doc, target);
    say(target.passage ? [heading.textContent, where(target.passage)].filter(Boolean).join(", ") : heading.textContent);
  } catch (error) {
    if (current !== target) return;
    if (error.status === 404) {
      error = new api.APIError(404, "This document is no longer in the collection.", "It was deleted or moved after the answer was written.");
    }
    body.replaceChildren(notice(error, () => show(target)));
  }
}

async function read(collection, id) {
  if (kept?.collection !== collection || kept.id !== id) {
    kept = { collection, id, doc: await api.readDocument(collection, id) };
  }
  return kept.doc;
}

function header(target, heading) {
  const { passage, turn, number } = target;
  const path = passage ? [target.id, ...section(passage), where(passage)].filter(Boolean) : [target.id];
  const steps = number === null ? [] : turn.citations.length === 1 ? [el("span", { class: "number" }, "1")] : [
    el("button", { type: "button", class: "quiet square", "aria-label": "Previous citation", disabled: number === 1, onclick: () => step(-1) }, icon("previous")),
    el("span", { class: "of" }, el("span", { class: "number" }, String(number)), ` of ${turn.citations.length}`),
    el("button", { type: "button", class: "quiet square", "aria-label": "Next citation", disabled: number === turn.citations.length, onclick: () => step(1) }, icon("next")),
  ];
  return el("header", {},
    el("div", { class: "row" },
      el("div", { class: "row steps" }, ...steps),
      el("button", { type: "button", class: "quiet square", "aria-label": "Close the document", onclick: close }, icon("close"))),
    heading,
    el("p", { class: "where" }, ...path.flatMap((part, i) => [i > 0 ? " › " : null, el("bdi", {}, part)])));
}

function explanation({ passage, turn }) {
  if (!passage) return [];
  return [el("details", { class: "why", open: whyOpen, ontoggle: (e) => { whyOpen = e.currentTarget.open; } },
    el("summary", {}, "Why this passage"), scores(passage, turn.passages))];
}

// fill shows the document around its passage and scrolls there.
function fill(body, doc, { passage, range }) {
  const { text } = doc;
  const start = { from: 0, to: 0 };
  const found = passage ? locate(doc, passage) : range ? { from: unitsIn(doc, range.start), to: unitsIn(doc, range.end) } : start;
  const { from, to } = trimmed(text, found ?? start);
  const shown = { from: lineStart(text, from - around), to: lineEnd(text, to + around) };

  // A block for each piece, so that browsers need not set the others again.
  const flow = el("div", { class: "flow" });
  const grower = (label, before) => {
    const button = el("button", { type: "button", class: "more", onclick: () => {
      const height = body.scrollHeight;
      if (before) {
        const earlier = lineStart(text, shown.from - more);
        flow.prepend(el("div", {}, text.slice(earlier, shown.from)));
        shown.from = earlier;
        body.scrollTop += body.scrollHeight - height; // what was read stays in place
      } else {
        const later = lineEnd(text, shown.to + more);
        flow.append(el("div", {}, text.slice(shown.to, later)));
        shown.to = later;
      }
      count();
    } });
    const count = () => {
      const left = before ? shown.from : text.length - shown.to;
      button.textContent = `${label} (${plural(left, "character")} left)`;
      button.hidden = left === 0;
    };
    count();
    return button;
  };

  const first = el("div", {}, text.slice(shown.from, from));
  let mark = null;
  if (to > from) {
    mark = el("mark", { class: "passage" });
    const best = landmark(doc, passage, { from, to });
    mark.append(text.slice(from, best.from), el("span", { class: "landmark" }, text.slice(best.from, best.to)), text.slice(best.to, to));
    first.append(mark);
  }
  first.append(text.slice(to, shown.to));
  flow.append(first);
  body.replaceChildren();
  if (found === null) {
    body.append(el("p", { class: "notice", role: "alert" },
      "This passage is no longer in the document, which has changed since the answer. Ask again to search it as it is now."));
  }
  if (text === "") body.append(el("p", { class: "note" }, "This document has no text."));
  body.append(grower("Show more before", true), flow, grower("Show more", false));
  body.scrollTop = mark === null ? 0 : Math.max(mark.getBoundingClientRect().top - body.getBoundingClientRect().top - body.clientHeight / 5, 0);
}

// locate finds a passage in the document: where it was or, if the document has
// changed, where its words are now; null if they are gone.
function locate(doc, { start16: from, end16: to, text }) {
  if (!text || doc.text.slice(from, to) === text) return { from, to };
  const at = doc.text.indexOf(text);
  return at < 0 ? null : { from: at, to: at + text.length };
}

// landmark is the range of the chunk that won, inside of its passage.
function landmark({ chunks }, passage, { from, to }) {
  const best = chunks.find((c) => c.index === passage?.chunk);
  if (!best || best.start16 >= to || best.end16 <= from) return { from, to };
  return { from: Math.max(best.start16, from), to: Math.min(best.end16, to) };
}

// trimmed is a range without the white space at its ends.
function trimmed(text, { from, to }) {
  const passage = text.slice(from, to);
  return { from: from + passage.length - passage.trimStart().length, to: from + passage.trimEnd().length };
}

// lineStart moves an index back to the start of its line, if that is near.
function lineStart(text, at) {
  if (at <= 0) return 0;
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return at - start < 2_000 ? start : whole(text, at);
}

function lineEnd(text, at) {
  if (at >= text.length) return text.length;
  const end = text.indexOf("\n", at);
  return end >= 0 && end - at < 2_000 ? end + 1 : whole(text, at);
}
