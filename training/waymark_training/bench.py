"""Compares the speed of graphs on this machine, in ratios that other load does not spoil."""

from __future__ import annotations

import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy

from .encode import Runner, onnx_runner
from .layout import Batch, batch, intervals, windows
from .spec import Spec
from .tokens import Tokenizer

THREADS = 2
ROUNDS = 7
TOKENS = 3072  # of each graph's calls in a round


def compare(
    graphs: Sequence[Path], tokenizer: Tokenizer, spec: Spec, text: str, length: int
) -> list[tuple[float, float]]:
    """Tokens a second of processor time of each graph, and the ratio to the first.

    Threads make calls of one sequence side by side, each call in one thread, and the
    graphs take turns: both numbers are medians over the rounds.
    """
    calls = _calls(tokenizer, spec, text, length)
    runners = [onnx_runner(graph, threads=1) for graph in graphs]
    for run in runners:
        run(calls[0])
    rounds = [[_speed(run, calls) for run in runners] for _ in range(ROUNDS)]
    return [
        (statistics.median(one[i] for one in rounds), statistics.median(one[i] / one[0] for one in rounds))
        for i in range(len(graphs))
    ]


def _calls(tokenizer: Tokenizer, spec: Spec, text: str, length: int) -> list[Batch]:
    """Full windows of a length, of about TOKENS tokens in all."""
    frame = spec.frame(tokenizer)
    count = max(THREADS, TOKENS // length)
    body = frame.room - 1 - (spec.max_length - length)
    tokens = tokenizer.tokens(text)
    if len(tokens) < body:
        raise ValueError(f"the text has {len(tokens)} tokens, want at least {body}")
    out = []
    for i in range(count):
        at = i * body % (len(tokens) - body + 1)
        part = text.encode()[tokens[at].start : tokens[at + body - 1].end].decode()
        pieces, size = tokenizer.tokens(part), len(part.encode())
        out.append(batch(windows(pieces, intervals(pieces, size, body), size, frame), spec.pad))
    return out


def _speed(run: Runner, calls: Sequence[Batch]) -> float:
    """Tokens a second of processor time."""
    taken = numpy.zeros(THREADS)

    def work(thread: int) -> None:
        start = time.thread_time()
        for b in calls[thread::THREADS]:
            run(b)
        taken[thread] = time.thread_time() - start

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(b.ids.size for b in calls) / taken.sum()
