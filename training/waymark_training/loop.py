"""The training loop: budget, schedule, log, and states to resume from.

What a step draws depends on the seed and its number alone, so a run that is resumed
goes on exactly as it would have.
"""

from __future__ import annotations

import json
import logging
import math
import os
import time
from collections import defaultdict
from pathlib import Path
from typing import Any, Protocol

import numpy
import torch
from numpy.random import Generator
from torch import Tensor, nn

from . import checkpoint
from .bert import Bert
from .plot import plot
from .settings import Budget
from .vectors import autocast, device_of

log = logging.getLogger(__name__)


class Objective(Protocol):
    """What a stage trains for.

    One that needs more parameters than the model's has them in a module `extra`: they are
    trained and kept in the states, and are no part of the checkpoint.
    """

    def loss(self, model: Bert, rng: Generator, progress: float) -> tuple[Tensor, dict[str, float], int]:
        """The loss of a step, its terms for the log, and how many tokens the model read."""
        ...

    def measure(self, model: Bert) -> dict[str, float]:
        """Measures on texts that are held out."""
        ...


def train(model: Bert, objective: Objective, budget: Budget, seed: int, out: Path, tokenizer: Path) -> None:
    """Trains a model until its budget is used up, and writes out/checkpoint.

    If out has a state of an earlier run, that run is resumed.
    """
    if not budget.minutes and not budget.steps:
        raise ValueError("the stage has no budget: set minutes or steps")
    out.mkdir(parents=True, exist_ok=True)
    prepare(model, budget)
    extra = getattr(objective, "extra", nn.Module())
    learning = nn.ModuleList([model, extra])
    optimiser = make_optimiser(learning, budget)
    step, seconds = resume(model, extra, optimiser, out)
    journal = Journal(out, step)
    began = time.monotonic() - seconds
    while (progress := _progress(budget, step, time.monotonic() - began)) < 1:
        started = time.monotonic()
        torch.manual_seed(seed * 1_000_003 + step)
        rng = numpy.random.default_rng([seed, step])
        with autocast(device_of(model), budget.precision):
            loss, terms, tokens = objective.loss(model, rng, progress)
        if not torch.isfinite(loss):
            raise ValueError(f"the loss of step {step} is {loss.item()}: lower the rate, or try precision fp32")
        rate = budget.rate * _schedule(budget, step, progress)
        update(learning, optimiser, loss, rate, budget.clip)
        step += 1
        journal.add(loss.item(), terms, tokens, time.monotonic() - started)
        if step % budget.log == 0:
            journal.write(step, time.monotonic() - began, rate)
        if step % budget.measure == 0:
            journal.write_held(step, evaluated(model, objective, budget))
        if step % budget.save == 0:
            save(model, extra, optimiser, step, time.monotonic() - began, out)
    if not journal.has_held(step):
        journal.write_held(step, evaluated(model, objective, budget))
    save(model, extra, optimiser, step, time.monotonic() - began, out)
    checkpoint.save(model, out / "checkpoint", tokenizer)
    log.info("wrote %s", out / "checkpoint")


def prepare(model: Bert, budget: Budget) -> None:
    """Sets dropout and which parameters learn."""
    model.train()
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = budget.dropout
    tables = (model.embeddings.words, model.embeddings.positions, model.embeddings.types)
    for table in tables:
        table.weight.requires_grad_(not budget.freeze)


def make_optimiser(model: nn.Module, budget: Budget) -> torch.optim.AdamW:
    """AdamW that lets matrices alone decay."""
    learning = [p for p in model.parameters() if p.requires_grad]
    groups = [
        {"params": [p for p in learning if p.dim() > 1], "weight_decay": budget.decay},
        {"params": [p for p in learning if p.dim() < 2], "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, lr=budget.rate)


def update(model: nn.Module, optimiser: torch.optim.Optimizer, loss: Tensor, rate: float, clip: float) -> None:
    for group in optimiser.param_groups:
        group["lr"] = rate
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimiser.step()


def evaluated(model: Bert, objective: Objective, budget: Budget) -> dict[str, float]:
    """The held-out measures of a model as it stands."""
    model.eval()
    with torch.no_grad(), autocast(device_of(model), budget.precision):
        found = objective.measure(model)
    model.train()
    return found


def save(model: Bert, extra: nn.Module, optimiser: torch.optim.Optimizer, step: int, seconds: float, out: Path) -> None:
    """Writes the state whole or not at all."""
    modules = {"model": model.state_dict(), "extra": extra.state_dict(), "optimiser": optimiser.state_dict()}
    state = modules | {"step": step, "seconds": seconds}
    torch.save(state, out / "state.part")
    os.replace(out / "state.part", out / "state.pt")


def resume(model: Bert, extra: nn.Module, optimiser: torch.optim.Optimizer, out: Path) -> tuple[int, float]:
    """Takes up the state in out, if there is one: its step and the seconds spent."""
    if not (out / "state.pt").is_file():
        return 0, 0.0
    state = torch.load(out / "state.pt", map_location=device_of(model), weights_only=True)
    model.load_state_dict(state["model"])
    extra.load_state_dict(state.get("extra", {}))
    optimiser.load_state_dict(state["optimiser"])
    log.info("resuming %s at step %d", out, state["step"])
    return state["step"], state["seconds"]


def _progress(budget: Budget, step: int, seconds: float) -> float:
    """How much of the budget is used up, 1 at its end."""
    of_time = seconds / 60 / budget.minutes if budget.minutes else 0.0
    return max(of_time, step / budget.steps if budget.steps else 0.0)


def _schedule(budget: Budget, step: int, progress: float) -> float:
    """The rate's factor: a linear warm-up, then a cosine to 0."""
    return min((step + 1) / max(budget.warmup, 1), 1.0) * 0.5 * (1 + math.cos(math.pi * progress))


class Journal:
    """log.jsonl, a line every few steps, and loss.svg."""

    def __init__(self, out: Path, step: int) -> None:
        self._file, self._picture = out / "log.jsonl", out / "loss.svg"
        rows = self._file.read_text(encoding="utf-8").splitlines() if self._file.is_file() else []
        # What came after the state that is resumed will come again.
        self._rows = [row for row in map(json.loads, rows) if row["step"] <= step]
        self._file.write_text("".join(json.dumps(row) + "\n" for row in self._rows), encoding="utf-8")
        self._start()

    def _start(self) -> None:
        self._sums: defaultdict[str, float] = defaultdict(float)
        self._steps = self._tokens = 0
        self._seconds = 0.0

    def add(self, loss: float, terms: dict[str, float], tokens: int, seconds: float) -> None:
        """Takes note of a step: its loss and terms, the tokens it read and the time it took."""
        for name, value in {"loss": loss, **terms}.items():
            self._sums[name] += value
        self._steps += 1
        self._tokens += tokens
        self._seconds += seconds

    def write(self, step: int, seconds: float, rate: float) -> None:
        """Adds a line with the means since the last one."""
        speed = self._tokens / max(self._seconds, 1e-9)
        means = {name: round(value / self._steps, 5) for name, value in self._sums.items()}
        self._add({"step": step, "seconds": round(seconds, 1), "tokens/s": round(speed), "rate": rate, **means})
        self._start()

    def has_held(self, step: int) -> bool:
        """Whether the log has held-out measures of a step."""
        return any("held" in row and row["step"] == step for row in self._rows)

    def write_held(self, step: int, held: dict[str, float]) -> None:
        """Adds a line with held-out measures, and draws the log anew."""
        self._add({"step": step, "held": {name: round(value, 5) for name, value in held.items()}})
        plot(self._rows, self._picture)

    def _add(self, row: dict[str, Any]) -> None:
        self._rows.append(row)
        line = json.dumps(row)
        log.info("%s", line)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
