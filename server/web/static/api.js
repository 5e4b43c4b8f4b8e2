// The server's API (docs/http-api.md), by paths relative to the page.

import { byId, pressed } from "./dom.js";
import { events } from "./sse.js";
import { inTab } from "./storage.js";

// APIError is what the server, or the way to it, refused: a message, a hint what
// to do, and the HTTP status, 0 without one.
export class APIError extends Error {
  constructor(status, message, hint = "") {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

const keyName = "waymark.key";
export const hasKey = () => inTab.get(keyName) !== null;
export const forgetKey = () => inTab.remove(keyName);

// listeners are told when the key has changed.
const listeners = [];
export const onKey = (listener) => listeners.push(listener);

let prompt = null; // the dialog under way: requests refused together ask once

// askForKey resolves to true when there is a key to try that is not refused.
async function askForKey(refused) {
  const current = inTab.get(keyName);
  if (current !== refused && current !== null) return true; // another request was faster
  prompt ??= (async () => {
    byId("key-message").textContent = refused === null
      ? "Whoever runs the server can give you one."
      : "The server did not accept the key you gave. Check it, or ask whoever runs the server.";
    byId("key").value = "";
    try {
      if (!(await pressed(byId("key-dialog")))) return false;
      inTab.set(keyName, byId("key").value.trim());
      listeners.forEach((listener) => listener());
      return true;
    } finally {
      byId("key").value = "";
      prompt = null;
    }
  })();
  return prompt;
}

// authorised calls send with the headers for the key, again with another key for
// as long as the server refuses it and the user has one more to try.
async function authorised(send) {
  for (;;) {
    const key = inTab.get(keyName);
    const response = await send(key === null ? {} : { Authorization: `Bearer ${key}` });
    if (response.status !== 401 || !(await askForKey(key))) return response;
  }
}

function unreachable() {
  return new APIError(0, "The server can't be reached.", "Check that it is running and that you are connected, then try again.");
}

// refusal reads the error of a response.
function refusal(status, body, retryAfter) {
  let error = {};
  try {
    error = JSON.parse(body).error ?? {};
  } catch {
    // Not ours: a proxy's page, perhaps.
  }
  const wait = status === 429 && retryAfter ? `Try again in ${retryAfter} s.` : "";
  return new APIError(status, error.message || `The server answered with status ${status}.`, error.hint || wait);
}

async function call(method, path, { body, signal, accept = "application/json" } = {}) {
  const response = await authorised(async (headers) => {
    if (body !== undefined) headers["Content-Type"] = "application/json";
    try {
      return await fetch(path, { method, signal, headers: { Accept: accept, ...headers }, body: JSON.stringify(body) });
    } catch (error) {
      throw error.name === "AbortError" ? error : unreachable();
    }
  });
  if (!response.ok) throw refusal(response.status, await response.text(), response.headers.get("Retry-After"));
  return response;
}

const json = async (...args) => (await call(...args)).json();
const documentPath = (collection, id) => `v1/documents/${encodeURIComponent(id)}?${new URLSearchParams({ collection })}`;

export const listCollections = async () => (await json("GET", "v1/collections")).collections;
export const listDocuments = (collection, cursor) => json("GET", `v1/documents?${new URLSearchParams({ collection, cursor })}`);
export const readDocument = (collection, id) => json("GET", documentPath(collection, id));
export const deleteDocument = (collection, id) => call("DELETE", documentPath(collection, id));
export const readJob = (id) => json("GET", `v1/jobs/${encodeURIComponent(id)}`);

// ask calls onEvent with the name and data of each event of an answer, and
// returns when the last one has come.
export async function ask(question, signal, onEvent) {
  const response = await call("POST", "v1/ask", { body: { ...question, stream: true }, signal, accept: "text/event-stream" });
  let finished = false;
  try {
    for await (const { event, data } of events(response.body)) {
      const value = JSON.parse(data);
      if (event === "error") {
        const error = value.error ?? value;
        throw new APIError(response.status, error.message, error.hint);
      }
      finished ||= event === "answer";
      onEvent(event, value);
    }
  } catch (error) {
    throw error instanceof APIError || error.name === "AbortError" ? error : unreachable();
  }
  if (!finished) throw new APIError(0, "The answer broke off.", "Try again; if it goes on, look at the server's log.");
}

// upload sends files and returns the id of the job that indexes them. fetch does
// not tell how much has been sent, so this is an XMLHttpRequest.
export async function upload(collection, files, onSent) {
  const form = new FormData();
  for (const file of files) form.append("file", file);
  const response = await authorised((headers) => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `v1/documents?${new URLSearchParams({ collection })}`);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = (e) => e.lengthComputable && onSent(e.loaded / e.total);
    request.onload = () => resolve(request);
    request.onerror = () => reject(unreachable());
    request.send(form);
  }));
  if (response.status >= 300) throw refusal(response.status, response.responseText, response.getResponseHeader("Retry-After"));
  return JSON.parse(response.responseText).job;
}
