"""Lets workers, each a process that has loaded its peer once, take turns on the same work, so that
whatever else the machine does slows down all of them, and compares them by ratios within a round."""
import json
import os
import statistics
import subprocess
import sys


class Failed(Exception):
    """A worker ended, which its own messages say more about."""


class Worker:
    """A process that serves as worker.py and the Go package worker do, with so many threads that compute."""

    def __init__(self, name, command, threads):
        self.name = name
        self.process = subprocess.Popen(
            [str(part) for part in command],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ | {"OMP_NUM_THREADS": str(threads), "GOMAXPROCS": str(threads), "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"},
        )
        self.version = self._read()["version"]

    def ask(self, request):
        """Returns a reply with wall and cpu, its seconds."""
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
        except BrokenPipeError:
            pass
        return self._read()

    def memory(self, figure):
        """Its bytes of memory: VmHWM the most that it had at once, VmRSS now."""
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) * 1024 for line in f if line.startswith(f"{figure}:"))

    def stop(self):
        self.process.stdin.close()
        self.process.wait()

    def _read(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{self.name} ended with status {self.process.wait()}")
        return json.loads(line)


def start(commands, threads):
    """Starts a worker for each name; those that cannot start are told of and left out."""
    workers = []
    for name, command in commands.items():
        try:
            workers.append(Worker(name, command, threads))
        except (Failed, OSError) as e:
            print(f"left out: {e}", file=sys.stderr)
    return workers


def rounds(workers, count, turn, once=()):
    """Returns the seconds of each worker in each round, by name: turn(worker) is one.
    Every round begins with another of them. Those named in once have a turn in the first only."""
    out = {w.name: [] for w in workers}
    for i in range(count):
        first = i % len(workers)
        for w in workers[first:] + workers[:first]:
            if i == 0 or w.name not in once:
                out[w.name].append(turn(w))
    return out


def ratio(theirs, ours):
    """How many times as long theirs take as ours: the median of the rounds, the least and the most."""
    ratios = sorted(t / o for t, o in zip(theirs, ours))
    return statistics.median(ratios), ratios[0], ratios[-1]
