// The API counts in bytes of UTF-8, JavaScript in units of UTF-16.

// unitsAt is the index in text that lies the given number of bytes behind from.
export function unitsAt(text, bytes, from = 0) {
  let at = from;
  while (bytes > 0 && at < text.length) {
    const c = text.codePointAt(at);
    bytes -= c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    at += c < 0x10000 ? 1 : 2;
  }
  return at;
}

// unitsIn is the index of a byte in a document, counted from the start of its
// chunk, which the API gives in both: documents may be long. It is for links,
// which have bytes alone.
export function unitsIn({ text, chunks }, byte) {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunks[middle].start <= byte) low = middle + 1;
    else high = middle;
  }
  const chunk = chunks[low - 1] ?? { start: 0, start16: 0 };
  return unitsAt(text, byte - chunk.start, chunk.start16);
}

// whole moves an index out of the middle of a surrogate pair.
export function whole(text, at) {
  return /[\uDC00-\uDFFF]/.test(text[at] ?? "") && /[\uD800-\uDBFF]/.test(text[at - 1] ?? "") ? at - 1 : at;
}
