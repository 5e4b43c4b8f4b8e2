// events reads a stream of server-sent events: yields { event, data } for each.
// EventSource itself can neither POST nor send a key.
export async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let event = "message";
  let data = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (rest + value).split("\n");
      rest = lines.pop();
      for (const ended of lines) {
        const line = ended.replace(/\r$/, "");
        if (line === "") {
          if (data.length > 0) yield { event, data: data.join("\n") };
          event = "message";
          data = [];
          continue;
        }
        const [, field, content] = /^([^:]*):? ?(.*)$/.exec(line);
        if (field === "event") event = content;
        if (field === "data") data.push(content);
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // also when the caller has had enough
  }
}
