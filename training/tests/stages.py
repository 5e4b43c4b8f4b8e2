"""Runs stages from the command line, for the tests of each."""

import json

import pytest
import torch

from waymark_training import loop
from waymark_training.__main__ import main


def run(stage, config, saved, packed_file, out, *more):
    flags = {"config": config, "teacher": saved, "tokens": packed_file, "out": out}
    return main([stage, *(x for name, path in flags.items() for x in (f"--{name}", str(path))), *more])


def rows(out):
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def check_goes_on_exactly(whole_run, stage, config, saved, packed_file, out):
    """Breaks a run off in its sixth step, resumes it, and compares it with one that was not; gives the whole state."""
    made = loop.update
    steps = []

    def stop(*arguments):
        steps.append(1)
        if len(steps) == 6:
            raise OSError("the power is out")
        return made(*arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "update", stop)
        assert run(stage, config, saved, packed_file, out) == 1
    assert run(stage, config, saved, packed_file, out) == 0
    whole, resumed = (torch.load(x / "state.pt", weights_only=True) for x in (whole_run, out))
    assert resumed["step"] == whole["step"] == 8
    for part in ("model", "extra"):
        assert whole[part].keys() == resumed[part].keys()
        for name, value in whole[part].items():
            assert torch.equal(value, resumed[part][name]), name
    clock = ("seconds", "tokens/s")
    strip = [[{k: v for k, v in r.items() if k not in clock} for r in rows(x)] for x in (whole_run, out)]
    assert strip[0] == strip[1]
    return whole
