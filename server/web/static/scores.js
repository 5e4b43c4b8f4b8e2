// Says why a passage was found: its scores at both levels, by words, and the
// rule that combined them.

import { el } from "./dom.js";
import { where } from "./turn.js";

// scores makes the explanation. all are the passages of the same answer: a score
// by words has no upper bound, so its bar is drawn against theirs.
export function scores(passage, all) {
  const { score, rule, source } = passage;
  const best = Math.max(...all.map((p) => p.score.lexical), score.lexical);
  const place = all.indexOf(passage) + 1;
  return el("div", { class: "scores" },
    el("dl", {},
      ...row("Passage", "the landmark: this passage, read with its neighbours, against the question", score.landmark, score.landmark, 3),
      ...row("Document", "the document as a whole against the question", score.document, score.document, 3),
      ...row("Words", score.lexical > 0 ? "words in common, rare ones counting most (BM25)" : "not among the best by words in common (BM25)",
        score.lexical, best > 0 ? score.lexical / best : 0, 2)),
    rule ? el("p", { class: "rule" }, place > 0 ? `Number ${place} of ${all.length} by the rule ` : "Rule: ", el("code", {}, rule)) : null,
    el("p", { class: "note" }, [where(passage), inBytes(source)].filter(Boolean).join(", ")));
}

// inBytes says which bytes of the file a passage is; of a PDF and the like it is none.
const inBytes = ({ start, end }) =>
  end > start ? `bytes ${start.toLocaleString("en")} to ${end.toLocaleString("en")} of the file` : "";

function row(label, meaning, value, share, digits) {
  const bar = el("span", { class: "bar", "aria-hidden": "true" });
  bar.style.setProperty("--share", Math.min(Math.max(share, 0), 1));
  return [
    el("dt", {}, label),
    el("dd", {}, el("span", { class: "value" }, value.toFixed(digits)), bar, el("span", { class: "meaning" }, meaning)),
  ];
}
