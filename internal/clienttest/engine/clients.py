#!/usr/bin/env python3
"""Has clients of others ask a Waymark server, and prints what they got as JSON.

    python clients.py URL KEY QUESTION
"""
import json
import sys

import openai
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.embeddings.text_embeddings_inference import TextEmbeddingsInference

TEXTS = ["The boiler is serviced every second autumn.", "Where did the bees move? 🐝"]


def chat(client, question):
    done = client.chat.completions.create(model="waymark", messages=[{"role": "user", "content": question}])
    choice = done.choices[0]
    return {"text": choice.message.content, "finish": choice.finish_reason, "total_tokens": done.usage.total_tokens,
            "annotations": [a.model_dump() for a in choice.message.annotations],
            "citations": done.citations, "waymark": done.waymark}


def stream(client, question):
    out = {"text": "", "pieces": 0, "annotations": []}
    for chunk in client.chat.completions.create(
            model="waymark", messages=[{"role": "user", "content": question}], stream=True, stream_options={"include_usage": True}):
        if chunk.usage:
            out["total_tokens"] = chunk.usage.total_tokens
        for choice in chunk.choices:
            piece = choice.delta.content or ""
            out["text"] += piece
            out["pieces"] += bool(piece)
            out["annotations"] += getattr(choice.delta, "annotations", None) or []
            if choice.finish_reason:
                out.update(finish=choice.finish_reason, citations=chunk.citations, waymark=chunk.waymark)
    return out


def refusal(call):
    try:
        call()
    except openai.APIStatusError as e:
        return {"class": type(e).__name__, "status": e.status_code, "code": e.code, "message": e.body["message"]}
    return None


def main():
    url, key, question = sys.argv[1:]
    client = openai.OpenAI(base_url=url + "/v1", api_key=key, max_retries=0)
    stranger = openai.OpenAI(base_url=url + "/v1", api_key="wrong", max_retries=0)
    model = [m.id for m in client.models.list() if not m.id.startswith("waymark/") and m.id != "waymark"][0]
    embedded = client.embeddings.create(model=model, input=TEXTS)  # base64, as this client asks by itself
    floats = client.embeddings.create(model=model, input=TEXTS, encoding_format="float")
    tei = TextEmbeddingsInference(model_name=model, base_url=url, auth_token=key)
    like = OpenAILikeEmbedding(model_name=model, api_base=url + "/v1", api_key=key)
    json.dump({
        "models": [m.id for m in client.models.list()],
        "model": client.models.retrieve("waymark").id,
        "chat": chat(client, question),
        "stream": stream(client, question),
        "refusals": {
            "unknown model": refusal(lambda: client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": question}])),
            "wrong key": refusal(lambda: stranger.models.list()),
        },
        "texts": TEXTS,
        "vectors": {  # of the texts, by client
            "openai base64": [d.embedding for d in embedded.data],
            "openai float": [d.embedding for d in floats.data],
            "LlamaIndex TEI": tei.get_text_embedding_batch(TEXTS),
            "LlamaIndex OpenAI-like": like.get_text_embedding_batch(TEXTS),
        },
        "openai_query": client.embeddings.create(model=model, input=TEXTS[1], extra_body={"input_type": "query"}).data[0].embedding,
        "tei_query": tei.get_query_embedding(TEXTS[1]),
    }, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
