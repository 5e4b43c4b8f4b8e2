// The conversation in the middle of the page: asking, streaming, stopping.

import * as api from "./api.js";
import { byId, el, icon, plural, say } from "./dom.js";
import * as history from "./history.js";
import * as library from "./library.js";
import * as reader from "./reader.js";
import { citedPassage, reading, take, turnView, unmarked } from "./turn.js";

const thread = byId("thread");
let conversation = null;
let views = []; // of its turns
let running = null; // the AbortController of the answer under way
let spoken = 0; // how much of the answer has been read out
const discarded = new WeakSet(); // conversations that are not to be kept
let changed = () => {};

export const current = () => conversation;
export const isRunning = () => running !== null;

// start shows an empty conversation; onChange is called when one is kept.
export function start(onChange) {
  changed = onChange;
  reader.onChange(mark);
  byId("stop").addEventListener("click", stop);
  show(history.begin(library.current()));
}

// show makes a conversation the current one.
export function show(next) {
  stop();
  reader.close();
  conversation = next;
  views = [];
  thread.replaceChildren();
  next.turns.forEach(add);
  empty();
  thread.scrollTop = thread.scrollHeight;
}

// discard begins a new conversation and has the current one, whose answer may be
// under way, not kept.
export function discard() {
  discarded.add(conversation);
  show(history.begin(library.current()));
}

// empty says what to do where nothing has been asked.
export function empty() {
  thread.querySelector(".empty")?.remove();
  if (conversation.turns.length > 0) return;
  const bare = library.isEmpty();
  thread.append(el("section", { class: "empty" },
    icon("pin"),
    el("h2", {}, bare ? "Add documents to begin" : "Ask your documents"),
    el("p", {}, bare
      ? "Drop files anywhere on this page, or choose them. Then ask, and the answer shows where it comes from."
      : `Answers come from the collection “${library.current()}”. Every statement carries a number: click it to see the passage in its document.`),
    bare ? el("button", { type: "button", class: "accent", onclick: library.pickFiles }, icon("upload"), "Choose files") : null));
}

// ask puts a question to the server and shows the answer as it comes.
export async function ask(question) {
  const turn = { question, state: "searching", query: "", passages: [], text: "", citations: [] };
  const asked = { question, history: history.messages(conversation), collection: conversation.collection };
  const home = conversation;
  const abort = new AbortController();
  home.turns.push(turn);
  home.title ||= question;
  empty();
  const view = add(turn);
  thread.scrollTop = thread.scrollHeight;
  setRunning(abort);
  byId("spoken").replaceChildren();
  spoken = 0;
  say("Searching the documents");

  let due = 0;
  const draw = () => {
    due = 0;
    follow(view.update);
    speak(turn, false);
  };
  try {
    await api.ask(asked, abort.signal, (event, data) => {
      take(turn, event, data);
      if (event === "passages") say(`Reading ${reading(turn)}`);
      due ||= requestAnimationFrame(draw);
    });
  } catch (error) {
    turn.state = abort.signal.aborted ? "stopped" : "failed";
    turn.error = { message: error.message, hint: error.hint };
  }
  cancelAnimationFrame(due);
  follow(view.update);
  if (running === abort) setRunning(null);
  speak(turn, true);
  if (turn.state !== "failed" && !discarded.has(home)) {
    home.time = Date.now();
    history.keep(home);
  }
  changed();
}

// stop ends the answer under way; what has come of it stays.
export function stop() {
  running?.abort();
  setRunning(null);
}

function setRunning(abort) {
  running = abort;
  byId("send").hidden = abort !== null;
  byId("stop").hidden = abort === null;
}

function add(turn) {
  const { collection } = conversation;
  const view = turnView(turn, {
    open: (of, number, from) => reader.openCitation(collection, of, number, from),
    passage: (of, passage, from) => reader.openPassage(collection, of, passage, from),
    again: retry,
  });
  views.push({ turn, view });
  thread.append(view.node);
  return view;
}

// retry asks the question of a failed turn again, in its place.
function retry(turn) {
  if (running) return;
  const i = conversation.turns.indexOf(turn);
  conversation.turns.splice(i, 1);
  views.splice(i, 1)[0].view.node.remove();
  ask(turn.question);
}

// follow keeps the end in sight while the answer grows, unless the reader has
// scrolled away from it.
function follow(update) {
  const atEnd = thread.scrollHeight - thread.scrollTop - thread.clientHeight < 80;
  update();
  mark();
  if (atEnd) thread.scrollTop = thread.scrollHeight;
}

// mark shows which citation is open in the reader.
function mark() {
  document.body.classList.toggle("reading", reader.isOpen());
  const open = reader.citation();
  for (const { turn, view } of views) {
    for (const chip of view.node.querySelectorAll(".chip")) {
      const on = turn === open?.turn && Number(chip.dataset.number) === open.number;
      if (on) chip.setAttribute("aria-current", "true");
      else chip.removeAttribute("aria-current");
    }
  }
}

// speak has screen readers read the answer out sentence by sentence, rather than
// by every few letters that arrive.
function speak(turn, final) {
  const rest = turn.text.slice(spoken);
  const end = final ? rest.length : Math.max(...[...rest.matchAll(/[.!?…。](?:\s*\[\d+\])*\s|\n/g)].map((m) => m.index + m[0].length), 0);
  const text = unmarked(rest.slice(0, end));
  spoken += end;
  if (text !== "") byId("spoken").append(el("p", {}, text));
  if (!final) return;
  if (turn.state === "done") say(turn.citations.length > 0 ? `Answered with ${plural(turn.citations.length, "source")}` : "Answered without a source");
  if (turn.state === "stopped") say("Stopped");
}

// walk moves the focus from a citation to the next one or the one before; a
// document that is open follows.
export function walk(chip, by) {
  const chips = [...thread.querySelectorAll(".chip")];
  const next = chips[chips.indexOf(chip) + by];
  if (!next) return;
  next.focus();
  if (!reader.isOpen()) return;
  const { turn } = views.find(({ view }) => view.node.contains(next));
  const number = Number(next.dataset.number);
  if (citedPassage(turn, number)) reader.openCitation(conversation.collection, turn, number, next, { stay: true });
}
