// Conversations, kept in this browser alone.
//
// A conversation is { id, title, collection, time, turns }.

import { inBrowser } from "./storage.js";

const name = "waymark.conversations";
const most = 50; // conversations kept

// load returns the conversations kept, newest first.
export function load() {
  try {
    const kept = JSON.parse(inBrowser.get(name) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return []; // not written by this page
  }
}

// keep puts a conversation first. The oldest make room if there is none.
export function keep(conversation) {
  const list = [conversation, ...load().filter((c) => c.id !== conversation.id)].slice(0, most);
  while (!save(list) && list.length > 1) list.pop();
}

// drop removes one conversation.
export function drop(id) {
  save(load().filter((c) => c.id !== id));
}

// clear removes all.
export function clear() {
  inBrowser.remove(name);
}

const save = (list) => inBrowser.set(name, JSON.stringify(list));

// begin is a conversation without turns.
export function begin(collection) {
  const time = Date.now();
  return { id: `${time.toString(36)}-${Math.random().toString(36).slice(2, 8)}`, title: "", collection, time, turns: [] };
}

// messages are what was said, as the API takes it, answers without text left out.
export function messages({ turns }) {
  return turns.filter((t) => t.text !== "").flatMap((t) => [{ role: "user", text: t.question }, { role: "assistant", text: t.text }]);
}
