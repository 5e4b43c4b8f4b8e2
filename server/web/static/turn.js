// A turn of a conversation: a question, its answer as it streams in, the
// passages behind it.
//
// turn is { question, state, query, passages, text, citations, sentences,
// notAnswered, cutShort, dropped, error }; state is searching, writing, done,
// stopped or failed.

import { el, icon, notice, plural } from "./dom.js";
import { draw } from "./markup.js";

// turnView makes the element of a turn. update() shows what has changed in it.
// open(turn, number, from) shows a citation, or passage(turn, passage, from) one
// that was read only; again(turn) asks once more.
export function turnView(turn, { open, passage, again }) {
  const progress = el("p", { class: "progress" });
  const answer = el("div", { class: "answer", dir: "auto" });
  const after = el("div", { class: "after" });
  const node = el("article", { class: "turn" }, el("h2", { class: "asked", dir: "auto" }, turn.question), progress, answer, after);
  let shown = null; // the state that after was made for

  const chip = (number, at) => {
    const cited = citedPassage(turn, number);
    if (!cited) return null;
    const doubt = turn.sentences?.some((s) => !s.supported && s.start16 <= at && at < s.end16);
    return el("button", {
      type: "button",
      class: doubt ? "chip doubtful" : "chip",
      "data-number": number,
      "aria-label": `Citation ${number}: ${[name(cited), where(cited)].filter(Boolean).join(", ")}${doubt ? "; the passage does not bear the sentence out" : ""}`,
      title: name(cited),
      onclick: (e) => open(turn, number, e.currentTarget),
    }, String(number));
  };

  function update() {
    node.dataset.state = turn.state;
    progress.textContent = progressOf(turn);
    progress.hidden = progress.textContent === "";
    const doubts = (turn.sentences ?? []).filter((s) => !s.supported && s.citations?.length)
      .map(({ start16, end16, reasons }) => ({ from: start16, to: end16, title: (reasons ?? []).join("; ") }));
    draw(answer, turn.text, { citation: chip, doubts });
    if (shown !== turn.state) {
      shown = turn.state;
      after.replaceChildren(...afterwards(turn, doubts, { open, passage, again }));
    }
  }
  update();
  return { node, update };
}

// unmarked is text without its citation markers.
export const unmarked = (text) => text.replace(/\s*\[\d+\]/g, "").trim();

// take puts an event of the API into the turn.
export function take(turn, event, data) {
  switch (event) {
    case "query":
      turn.query = data.query;
      break;
    case "passages":
      turn.passages = data.passages;
      turn.state = "writing";
      break;
    case "citation":
      turn.citations.push(data);
      break;
    case "text":
      turn.state = "writing";
      turn.text += data.text;
      break;
    case "answer":
      Object.assign(turn, {
        state: "done",
        query: data.query,
        text: data.text,
        citations: data.citations,
        passages: data.passages,
        sentences: data.sentences,
        notAnswered: data.not_answered,
        cutShort: data.stopped === "length",
        dropped: data.dropped,
      });
  }
}

// citedPassage is the passage that a number of the answer stands for.
export function citedPassage(turn, number) {
  const citation = turn.citations[number - 1];
  if (!citation) return null;
  const read = turn.passages[citation.passage];
  const same = read?.document === citation.document && read.range.start === citation.range.start;
  return same ? read : citation;
}

// section is the path of headings above a passage, without the document's title.
export const section = (passage) => (passage.headings ?? []).filter((h, i) => i > 0 || h !== passage.title);
export const name = (passage) => passage.title || passage.document;

// where is the place of a passage in its file, in a reader's terms; empty if it is not known.
export const where = ({ lines, place }) => {
  if (place) {
    const many = place.last && place.last !== place.first;
    const count = place.first ? `${place.first}${many ? `–${place.last}` : ""}` : "";
    const kind = place.kind && place.kind !== "time" ? `${place.kind}${many ? "s" : ""} ` : "";
    return [place.in, count && kind + count].filter(Boolean).join(", ");
  }
  if (!lines.first) return "";
  return lines.first === lines.last ? `line ${lines.first}` : `lines ${lines.first}–${lines.last}`;
};

function progressOf(turn) {
  switch (turn.state) {
    case "searching":
      return turn.query && turn.query !== turn.question ? `Searching for “${turn.query}”` : "Searching the documents";
    case "writing":
      return turn.text === "" ? `Reading ${reading(turn)}` : "";
    case "stopped":
      return turn.text === "" ? "Stopped before the answer began." : "";
    default:
      return "";
  }
}

export function reading({ passages }) {
  const documents = new Set(passages.map((p) => p.document)).size;
  return `${plural(passages.length, "passage")} of ${plural(documents, "document")}`;
}

// afterwards is what stands below the text of an answer that has ended.
function afterwards(turn, doubts, { open, passage, again }) {
  if (turn.state === "searching" || turn.state === "writing") return [];
  const out = [];
  if (turn.state === "failed") out.push(notice(turn.error, () => again(turn)));
  if (turn.state === "stopped" && turn.text !== "") out.push(el("p", { class: "note" }, "You stopped this answer."));
  if (turn.cutShort) out.push(el("p", { class: "note" }, "The answer ran out of room and ends early."));
  if (turn.notAnswered) out.push(el("p", { class: "note" }, "Try other words, or add the document that holds the answer."));
  if (doubts.length > 0) {
    out.push(el("div", { class: "doubts" },
      el("p", {}, doubts.length === 1 ? "A sentence is not borne out by what it cites. Check it before you rely on it:"
        : `${doubts.length} sentences are not borne out by what they cite. Check them before you rely on them:`),
      el("ul", {}, ...doubts.map((d) => el("li", {}, el("q", {}, unmarked(turn.text.slice(d.from, d.to))), d.title ? `: ${d.title}` : "")))));
  }
  const cited = new Set(turn.citations.map((c) => c.passage));
  if (turn.citations.length > 0) {
    out.push(el("section", { class: "sources" },
      el("h3", {}, "Sources"),
      el("ol", {}, ...turn.citations.map((c) => el("li", {},
        source(citedPassage(turn, c.number), c.number, (e) => open(turn, c.number, e.currentTarget)))))));
  }
  const others = turn.passages.filter((_, i) => !cited.has(i));
  if (others.length > 0 && turn.state === "done") {
    const left = turn.dropped?.passages ? `; ${plural(turn.dropped.passages, "more passage")} did not fit` : "";
    out.push(el("details", { class: "others" },
      el("summary", {}, `${plural(others.length, "passage")} read, not cited${left}`),
      el("ul", {}, ...others.map((p) => el("li", {}, source(p, null, (e) => passage(turn, p, e.currentTarget)))))));
  }
  const foot = el("div", { class: "row foot" });
  if (turn.query && turn.query !== turn.question) foot.append(el("p", { class: "note" }, `Searched for “${turn.query}”`));
  if (turn.text !== "" && !turn.notAnswered && navigator.clipboard) foot.append(copyButton(turn));
  if (foot.childElementCount > 0) out.push(foot);
  return out;
}

function source(passage, number, onclick) {
  const path = [...section(passage), where(passage)].filter(Boolean).join(" › ");
  return el("button", { type: "button", class: "source", onclick },
    number === null ? null : el("span", { class: "number", "aria-hidden": "true" }, String(number)),
    el("span", { class: "about" },
      el("bdi", { class: "title" }, name(passage)),
      el("bdi", { class: "where" }, path),
      el("bdi", { class: "excerpt" }, beginning(passage.text ?? passage.excerpt))));
}

// beginning is the start of a passage, without a heading: that stands above it.
function beginning(text) {
  const body = text.replace(/^\s*#{1,6} .*\n\s*/, "");
  return (body === "" ? text : body).slice(0, 240);
}

// copyButton copies the answer as text, with its sources below.
function copyButton(turn) {
  const label = el("span", {}, "Copy");
  return el("button", {
    type: "button",
    class: "quiet",
    onclick: async () => {
      const sources = turn.citations.map((c) => `[${c.number}] ${[name(c), where(c)].filter(Boolean).join(", ")} (${c.document})`);
      try {
        await navigator.clipboard.writeText([turn.text, ...(sources.length ? ["", ...sources] : [])].join("\n"));
        label.textContent = "Copied";
      } catch {
        label.textContent = "The browser did not allow it";
      }
      setTimeout(() => { label.textContent = "Copy"; }, 2000);
    },
  }, icon("copy"), label);
}
