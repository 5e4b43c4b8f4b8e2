// The library: which collection, the documents in it, uploads, deletes.

import * as api from "./api.js";
import { byId, confirmed, el, icon, notice, plural, pressed, say } from "./dom.js";
import { inBrowser } from "./storage.js";

const remembered = "waymark.collection";
let collections = [];
let collection = inBrowser.get(remembered) ?? "default";
let shown = 0; // numbers the listings, so that a late one is not mixed in
let deliver = {};

export const current = () => collection;

// isEmpty tells whether the collection has no documents, as far as is known.
export const isEmpty = () => (collections.find((c) => c.name === collection)?.documents ?? 0) === 0;

// start shows the library. Of its callbacks, open(id, from) opens a document,
// chosen() follows a change of collection, changed() news of what is in it, and
// stale() says that documents read before may have changed.
export function start(callbacks) {
  deliver = callbacks;
  byId("collection").addEventListener("change", (e) => choose(e.target.value));
  byId("new-collection").addEventListener("click", create);
  byId("upload").addEventListener("click", pickFiles);
  byId("files").addEventListener("change", (e) => {
    upload([...e.target.files]);
    e.target.value = ""; // the same file can be picked again
  });
  dropZone();
  return refresh();
}

export const pickFiles = () => byId("files").click();

// choose makes a collection the current one.
export function choose(name) {
  if (name === collection) return;
  collection = name;
  inBrowser.set(remembered, name);
  offer();
  deliver.chosen();
  list();
}

// refresh reads the collections and the documents of the current one.
export async function refresh() {
  try {
    collections = await api.listCollections();
  } catch (error) {
    byId("documents").replaceChildren(el("li", {}, notice(error, refresh)));
    return;
  }
  offer();
  deliver.changed();
  await list();
}

// offer fills the choice. The current collection is in it even before its first
// document makes it.
function offer() {
  const names = [...new Set(["default", ...collections.map((c) => c.name), collection])];
  byId("collection").replaceChildren(...names.map((name) => el("option", { value: name, selected: name === collection }, name)));
  byId("documents-count").textContent = collections.find((c) => c.name === collection)?.documents.toLocaleString("en") ?? "";
}

async function create() {
  const input = byId("collection-name");
  input.value = "";
  if (await pressed(byId("collection-dialog"))) choose(input.value);
}

async function list(cursor = "") {
  const listing = cursor === "" ? ++shown : shown;
  const more = byId("more-documents");
  try {
    const there = collections.some((c) => c.name === collection);
    const { documents, next } = there ? await api.listDocuments(collection, cursor) : { documents: [], next: "" };
    if (listing !== shown) return;
    const rows = documents.map(row);
    if (cursor !== "") byId("documents").append(...rows);
    else byId("documents").replaceChildren(...(rows.length > 0 ? rows : [el("li", { class: "none" }, "No documents yet")]));
    more.hidden = !next;
    more.onclick = () => list(next);
  } catch (error) {
    if (listing !== shown) return;
    if (cursor === "") byId("documents").replaceChildren(el("li", {}, notice(error, () => list())));
    else byId("documents").append(el("li", {}, notice(error)));
  }
}

function row(doc) {
  const title = doc.title || doc.id;
  const about = [doc.format, plural(doc.chunks, "chunk")].filter(Boolean).join(", ");
  return el("li", { "data-id": doc.id },
    el("button", { type: "button", class: "entry", title: doc.id, onclick: (e) => deliver.open(doc.id, e.currentTarget) },
      el("bdi", { class: "title" }, title), el("span", { class: "where" }, about)),
    el("button", { type: "button", class: "quiet square", "aria-label": `Delete ${title}`, onclick: () => remove(doc, title) }, icon("trash")));
}

async function remove(doc, title) {
  const from = collection;
  if (!(await confirmed(`Delete “${title}”?`, `It leaves the collection “${from}”: answers will no longer draw on it. The file it came from stays where it is.`, "Delete"))) return;
  try {
    await api.deleteDocument(from, doc.id);
    say(`${title} is deleted`);
  } catch (error) {
    byId("jobs").prepend(dismissable(notice(error)));
  }
  byId("upload").focus();
  deliver.stale();
  await refresh();
}

// upload sends files to the current collection and follows their indexing. Many
// go in parts, since servers bound what one request may hold.
async function upload(files) {
  if (files.length === 0) return;
  const to = collection;
  const sending = `Uploading ${plural(files.length, "file")}`;
  const bar = el("progress", { max: "1", value: "0" });
  const label = el("label", {}, sending, bar);
  const node = el("div", { class: "job" }, label);
  const parts = partsOf(files);
  const report = { added: 0, changed: 0, unchanged: 0, skipped: [] };
  byId("jobs").prepend(node);
  say(`${sending} to ${to}`);
  try {
    for (const [i, part] of parts.entries()) {
      const tell = (text, share) => {
        label.firstChild.data = text;
        bar.value = (i + share) / parts.length;
      };
      // Sending is a fifth of the bar, indexing the rest: it takes longer.
      const job = await api.upload(to, part, (share) => tell(sending, share / 5));
      const done = await followed(job, (state) => tell(
        state.state === "queued" ? "Waiting for its turn" : `Indexing ${state.current || plural(part.length, "file")}`,
        0.2 + 0.8 * (state.total > 0 ? state.done / state.total : 0)));
      for (const count of ["added", "changed", "unchanged"]) report[count] += done[count];
      report.skipped.push(...(done.skipped ?? []));
    }
    const finished = outcome(report);
    say(finished);
    node.replaceWith(dismissable(el("div", { class: "job done" }, el("p", {}, finished), skipped(report))));
  } catch (error) {
    node.replaceWith(dismissable(notice(error)));
  }
  deliver.stale();
  await refresh();
}

const partBytes = 16 << 20;

// partsOf cuts a list of files where it would hold more than partBytes; a larger
// file goes alone.
function partsOf(files) {
  const parts = [];
  let bytes = Infinity;
  for (const file of files) {
    if (bytes + file.size > partBytes) {
      parts.push([]);
      bytes = 0;
    }
    parts.at(-1).push(file);
    bytes += file.size;
  }
  return parts;
}

// followed asks for a job until it has ended, and returns its report. A server
// that is busy is asked again later: the job goes on.
async function followed(id, onState) {
  for (let wait = 150; ; wait = Math.min(wait * 1.5, 2_000)) {
    try {
      const job = await api.readJob(id);
      if (job.state === "done") return job.report;
      if (job.state === "failed") throw new api.APIError(0, job.error.message, job.error.hint);
      onState(job);
    } catch (error) {
      if (error.status !== 429 && error.status !== 503) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

function outcome({ added, changed, unchanged }) {
  const parts = [[added, "added"], [changed, "replaced"], [unchanged, "unchanged"]].filter(([n]) => n > 0);
  return parts.length > 0 ? parts.map(([n, what]) => `${plural(n, "document")} ${what}`).join(", ") : "Nothing was added";
}

function skipped({ skipped: list }) {
  return list.length === 0 ? null : el("ul", { class: "skipped" }, ...list.map((s) => el("li", {}, el("bdi", {}, s.path), `: ${s.reason}`)));
}

function dismissable(node) {
  node.append(el("button", { type: "button", class: "quiet square dismiss", "aria-label": "Dismiss", onclick: () => node.remove() }, icon("close")));
  return node;
}

// dropZone takes files dropped anywhere on the page.
function dropZone() {
  const zone = byId("drop");
  let depth = 0; // dragenter and dragleave come for every element on the way
  const files = (e) => e.dataTransfer?.types.includes("Files") ?? false;
  const over = (on) => {
    zone.hidden = !on;
    if (!on) depth = 0;
  };
  addEventListener("dragenter", (e) => {
    if (!files(e)) return;
    depth++;
    byId("drop-collection").textContent = collection;
    over(true);
  });
  addEventListener("dragover", (e) => files(e) && e.preventDefault());
  addEventListener("dragleave", (e) => files(e) && --depth <= 0 && over(false));
  addEventListener("drop", (e) => {
    if (!files(e)) return;
    e.preventDefault();
    over(false);
    const items = [...e.dataTransfer.items].filter((item) => item.kind === "file");
    if (items.some((item) => item.webkitGetAsEntry()?.isDirectory)) {
      byId("jobs").prepend(dismissable(notice(new api.APIError(0, "Folders can't be dropped here.",
        "Drop the files in it, or run waymark index FOLDER where the server runs."))));
    }
    upload(items.filter((item) => item.webkitGetAsEntry()?.isDirectory !== true).map((item) => item.getAsFile()));
  });
}
