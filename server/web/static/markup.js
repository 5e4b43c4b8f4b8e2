// Draws an answer: the part of Markdown that language models write, with chips
// in place of its citation markers. Everything else, links and HTML too, stays
// the text it is.

import { el } from "./dom.js";

const fence = /^ {0,3}(`{3,}|~{3,})/;
const heading = /^(#{1,6})\s+/;
const item = /^(\s*)(?:[-*+]|(\d+)[.)])\s+/;
const quote = /^\s{0,3}>\s?/;

// draw makes the children of container show text. While an answer streams in it
// is called with ever more text and replaces only the blocks that have changed,
// so a chip keeps the focus. citation(number, at) makes the chip for a marker, or
// returns null for none; doubts are the ranges { from, to, title } of sentences
// that their passages do not bear out.
export function draw(container, text, { citation, doubts = [] }) {
  const parsed = blocks(text);
  parsed.forEach((block, i) => {
    const own = doubts.filter((d) => d.from < block.to && d.to > block.from);
    const state = JSON.stringify([block.kind, text.slice(block.from, block.to), own.map((d) => d.from - block.from)]);
    const old = container.children[i];
    if (old?.state === state) return;
    const node = drawBlock(block, { text, citation, doubts: own });
    node.state = state;
    if (old) old.replaceWith(node);
    else container.append(node);
  });
  while (container.children.length > parsed.length) container.lastElementChild.remove();
}

// blocks cuts text into blocks: ranges of it, each with its parts, which are
// ranges without the marks of the block.
function blocks(text) {
  const out = [];
  let open = null; // the block that the next line may go on
  for (const line of linesOf(text)) {
    if (open?.kind === "code") {
      open.to = line.to;
      if (line.text.trim().startsWith(open.fence) && line.text.trim().replaceAll(open.fence[0], "") === "") open = null;
      else open.parts.push({ from: line.from, to: line.to });
      continue;
    }
    const start = beginning(line);
    if (start === null) {
      open = null;
    } else if (start.kind === "code") {
      open = { ...start, from: line.from, to: line.to, parts: [] };
      out.push(open);
    } else if (open !== null && start.kind === "text" && open.kind !== "heading") {
      open.parts.at(-1).to = line.to; // a paragraph, an item or a quote goes on
      open.to = line.to;
    } else {
      const part = { from: line.from + start.mark, to: line.to, depth: start.depth };
      if (open?.kind === start.kind && start.kind !== "heading") {
        open.parts.push(part);
        open.to = line.to;
      } else {
        open = { ...start, from: line.from, to: line.to, parts: [part] };
        out.push(open);
      }
    }
  }
  return out;
}

function* linesOf(text) {
  for (let from = 0; from < text.length;) {
    const end = text.indexOf("\n", from);
    const to = end < 0 ? text.length : end;
    yield { from, to, text: text.slice(from, to) };
    from = to + 1;
  }
}

// beginning says what block a line begins, and how long its mark is.
function beginning({ text }) {
  if (text.trim() === "") return null;
  let match;
  if ((match = fence.exec(text))) return { kind: "code", fence: match[1] };
  if ((match = heading.exec(text))) return { kind: "heading", level: match[1].length, mark: match[0].length };
  if ((match = item.exec(text))) {
    return { kind: match[2] ? "numbers" : "bullets", first: match[2], depth: Math.min(match[1].length >> 1, 3), mark: match[0].length };
  }
  if ((match = quote.exec(text))) return { kind: "quote", mark: match[0].length };
  return { kind: "text", mark: 0 };
}

function drawBlock(block, context) {
  const { text } = context;
  switch (block.kind) {
    case "code":
      return el("pre", {}, el("code", {}, block.parts.map((p) => text.slice(p.from, p.to)).join("\n")));
    case "heading":
      return filled(el(block.level < 3 ? "h3" : "h4"), block.parts[0], context);
    case "bullets":
    case "numbers": {
      const items = block.parts.map((p) => filled(el("li", { class: p.depth ? `depth-${p.depth}` : null }), p, context));
      return block.kind === "bullets" ? el("ul", {}, ...items) : el("ol", { start: block.first }, ...items);
    }
    case "quote":
      return el("blockquote", {}, ...block.parts.map((p) => filled(el("p"), p, context)));
    default:
      return filled(el("p"), block.parts[0], context);
  }
}

const spans = /(`+)(?!`)([^\n]+?)(?<!`)\1(?!`)|\*\*(?=\S)([^]+?\S)\*\*|(?<![\w*])\*(?=[^\s*])([^*\n]*?[^\s*])\*(?![\w*])|\[(\d{1,4})\](?!\()/g;

// filled appends the text of a range to node, with what stands in it.
function filled(node, { from, to }, context) {
  const { text, citation } = context;
  let at = from;
  for (const match of text.slice(from, to).matchAll(spans)) {
    const [all, , code, bold, italic, number] = match;
    const start = from + match.index;
    const end = start + all.length;
    let made;
    if (code !== undefined) made = el("code", {}, code);
    else if (bold !== undefined) made = filled(el("strong"), { from: start + 2, to: end - 2 }, context);
    else if (italic !== undefined) made = filled(el("em"), { from: start + 1, to: end - 1 }, context);
    else made = citation(Number(number), start);
    if (made === null) continue;
    plain(node, at, start, context);
    if (number !== undefined) attach(node, made);
    else node.append(made);
    at = end;
  }
  plain(node, at, to, context);
  return node;
}

// attach appends a chip so that it stays on the line of the word before.
function attach(node, chip) {
  const { lastChild } = node;
  if (lastChild?.className === "doubt") return attach(lastChild, chip);
  if (lastChild?.className === "held") return lastChild.append(chip);
  const [word] = (lastChild?.nodeType === Node.TEXT_NODE && /\S{1,40}[ \t]*$/.exec(lastChild.data)) || [""];
  if (word !== "") lastChild.data = lastChild.data.slice(0, -word.length);
  node.append(el("span", { class: "held" }, word, chip));
}

// plain appends text as it is, the doubtful parts of it underlined.
function plain(node, from, to, { text, doubts }) {
  let at = from;
  for (const doubt of doubts) {
    const start = Math.max(doubt.from, at);
    const end = Math.min(doubt.to, to);
    if (start >= end) continue;
    node.append(text.slice(at, start), el("span", { class: "doubt", title: doubt.title }, text.slice(start, end)));
    at = end;
  }
  if (at < to) node.append(text.slice(at, to));
}
