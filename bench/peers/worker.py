"""Serves a driver that lets peers take turns: one line of JSON in, one out, and with each how
long the work took. The Go package worker does the same."""
import json
import os
import sys
import time


def serve(load, *args):
    """Says hello with a version, then answers until the input ends: load(*args) returns the version
    and the function that does the work of a request."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is not for the driver
    version, work = load(*args)
    print(json.dumps({"version": version}), file=out, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        begun, cpu = time.perf_counter(), time.process_time()
        reply = work(request)
        took, used = time.perf_counter() - begun, time.process_time() - cpu
        print(json.dumps({"wall": took, "cpu": used, "reply": reply}), file=out, flush=True)
