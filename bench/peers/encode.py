"""Measures how fast Waymark and its peers turn texts into vectors with the same network.

    python encode.py --encoders BINARY --folder FOLDER --texts SOURCE

prints Markdown tables: tokens a second, and how many times as long each peer takes as Waymark.
BINARY is what `go build` makes of ./encoders; FOLDER is where the network is put in the forms of the
peers; SOURCE is a BEIR folder, or a folder of .md and .txt files, whose words the texts are made
of. All are given the same texts, longest first.
"""
import argparse
import os
import re
import statistics
import sys
from pathlib import Path

import numpy

import backbone
import texts
import turns

HERE = Path(__file__).resolve().parent
OURS = "Waymark"
SLOW = {"hugot, pure Go, fp32": 8, "llama.cpp server, f32": 4, "llama.cpp server, q8_0": 4}
"""Peers that get one text of so many, one at a time, which is best for them, and in the first round only."""


def main():
    ap = argparse.ArgumentParser(description="Measures how fast Waymark and its peers turn texts into vectors.")
    ap.add_argument("--model", type=Path, default=HERE.parents[1] / "models" / "waymark-e5-small", help="Waymark model directory")
    ap.add_argument("--encoders", type=Path, required=True, help="the program made of ./encoders")
    ap.add_argument("--folder", type=Path, required=True, help="where the network lies in the forms of the peers")
    ap.add_argument("--texts", type=Path, required=True, help="BEIR folder, or folder of .md and .txt files")
    ap.add_argument("--tokens", type=int, default=3000, help="tokens of a turn (default: 3000)")
    ap.add_argument("--rounds", type=int, default=5, help="turns of each, of which the median counts (default: 5)")
    ap.add_argument("--batches", default="1,8,32", help="batch sizes to choose from for each peer (default: 1,8,32)")
    ap.add_argument("--peers", default="", help="only the peers whose names this regular expression matches")
    ap.add_argument("--threads", default=f"1,{os.cpu_count()}", help="numbers of threads to measure with (default: one, and as many as there are cores)")
    args = ap.parse_args()
    backbone.make(args.model, args.folder)
    commands = {name: command for name, command in peers(args).items() if name == OURS or re.search(args.peers, name)}
    sets = texts.sets(args.texts, args.model, args.tokens)
    for threads in map(int, args.threads.split(",")):
        measure(commands, sets, threads, args)


def peers(args):
    """The command of each worker by its name."""
    python, go, folder = [sys.executable, HERE / "encoders.py"], args.encoders, args.folder
    return {
        OURS: [go, "waymark", args.model],
        f"{OURS}, ONNX Runtime": [go, "waymark", args.model, "onnxruntime"],
        "sentence-transformers, torch, fp32": [*python, "st-torch", folder],
        "sentence-transformers, ONNX, fp32": [*python, "st-onnx", folder, "model.onnx"],
        "sentence-transformers, ONNX, int8": [*python, "st-onnx", folder, "model_int8.onnx"],
        "fastembed, fp32": [*python, "fastembed", folder, "onnx/model.onnx"],
        "fastembed, int8": [*python, "fastembed", folder, "onnx/model_int8.onnx"],
        "hugot, ONNX Runtime, int8": [go, "hugot-ort", folder / "hugot", "model_int8.onnx"],
        "hugot, pure Go, fp32": [go, "hugot-go", folder / "hugot", "model.onnx"],
        "llama.cpp server, f32": [*python, "llama.cpp", folder, "f32.gguf"],
        "llama.cpp server, q8_0": [*python, "llama.cpp", folder, "q8_0.gguf"],
    }


def measure(commands, sets, threads, args):
    workers = turns.start(commands, threads)
    agreement = agree(workers, args.folder, sets["64"][0][:4])
    batches = [int(b) for b in args.batches.split(",")]
    results = {}
    for name, (list_of_texts, tokens) in sets.items():
        choice = {w.name: best_batch(w, list_of_texts, batches) for w in workers}
        took = turns.rounds(workers, args.rounds, lambda w: encode(w, list_of_texts, choice[w.name]), once=SLOW)
        results[name] = tokens, choice, took
        print(".", end="", file=sys.stderr, flush=True)
    report(workers, results, agreement, threads, args)
    for w in workers:
        w.stop()


def encode(w, list_of_texts, batch):
    """One turn. Waymark puts the prefix in front by itself and chooses its own batches."""
    if w.name.startswith(OURS):
        return w.ask({"texts": list_of_texts})
    some = list_of_texts[:: SLOW.get(w.name, 1)]
    took = w.ask({"texts": [texts.PREFIX + text for text in some], "batch": batch})
    whole = sum(map(len, list_of_texts)) / sum(map(len, some))
    return {clock: took[clock] * whole for clock in ("cpu", "wall")}


def best_batch(w, list_of_texts, batches):
    """The batch size at which the worker is fastest. Waymark chooses for itself."""
    if w.name in SLOW:
        return 1
    if w.name.startswith(OURS):
        batches = [0]
    return min(batches, key=lambda b: encode(w, list_of_texts, b)["cpu"])


def agree(workers, folder, bare):
    """The cosine of each worker's vectors to those of the 32-bit network, the least of a few texts:
    by the mean of all states for the peers, by the state of the closing token for Waymark."""
    sample = [texts.PREFIX + text for text in bare]
    mean, closing = reference(folder, sample)
    out = {}
    for w in workers:
        if w.name.startswith(OURS):
            got, want = w.ask({"texts": bare, "single": True, "vectors": True}), closing
        else:
            got, want = w.ask({"texts": sample, "batch": 1, "vectors": True}), mean
        out[w.name] = float((unit(got["reply"]) * want).sum(axis=1).min())
    return out


def reference(folder, sample):
    """Unit vectors of texts by transformers in 32 bits: the means of all states, and the states of the closing tokens."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with torch.inference_mode():
        states = [model(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy() for text in sample]
    return unit([s.mean(axis=0) for s in states]), unit([s[-1] for s in states])


def unit(vectors):
    vectors = numpy.array(vectors)
    return vectors / numpy.linalg.norm(vectors, axis=1, keepdims=True)


def report(workers, results, agreement, threads, args):
    """Prints what came out for so many threads."""
    clock = "cpu" if threads == 1 else "wall"
    print(f"\n### {threads} thread{'s' * (threads > 1)}\n")
    print(f"{args.rounds} rounds of about {args.tokens} tokens for each length. Thousands of tokens a second, by "
          + ("processor time" if clock == "cpu" else "the clock on the wall") + ", at the median; in brackets the batch size that was best.\n")
    table(["encoder", "version", *results, "least cosine to fp32", "peak MB"], (
        [w.name, w.version, *(f"{tokens / statistics.median(t[clock] for t in took[w.name]) / 1000:.2f}" + f" ({choice[w.name]})" * (not w.name.startswith(OURS))
                   for tokens, choice, took in results.values()), f"{agreement[w.name]:.4f}", f"{w.memory('VmHWM') / 1e6:.0f}"]
        for w in workers
    ))
    print("\nHow many times as fast Waymark is: the median of the rounds (least to most), by processor time"
          + (".\n" if clock == "cpu" else " and by the clock.\n"))
    ours = workers[0].name
    clocks = ["cpu"] if clock == "cpu" else ["cpu", "wall"]
    table(["beside", *results], (
        [w.name, *(" and ".join("**{:.2f}** ({:.2f}-{:.2f})".format(*turns.ratio([t[c] for t in took[w.name]], [t[c] for t in took[ours]])) for c in clocks)
                   for _, _, took in results.values())]
        for w in workers[1:]
    ))


def table(head, rows):
    print("|", " | ".join(head), "|\n|" + "---|" * len(head))
    for row in rows:
        print("|", " | ".join(row), "|")


if __name__ == "__main__":
    main()
