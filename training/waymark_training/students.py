"""The parts that a stage starts from: the model to train, its teacher, and how texts are framed."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from torch import nn

from . import checkpoint
from .bert import Bert
from .layout import Frame
from .spec import Spec
from .tokens import Tokenizer
from .vectors import best_device


@dataclasses.dataclass(frozen=True)
class Parts:
    """A student, its teacher, and the frames of passages and of questions."""

    student: Bert
    teacher: Bert
    passage: Frame
    query: Frame
    tokenizer: Path


def load(teacher: Path, start: Path | None, layers: tuple[int, ...]) -> Parts:
    """Reads a teacher and a student, which starts from the teacher's layers that are named, or as it was saved."""
    device = best_device()
    model = checkpoint.load(teacher)
    student = checkpoint.load(start) if start else pruned(checkpoint.load(teacher), layers)
    tokenizer = Tokenizer(teacher / "tokenizer.json")
    spec = Spec.of("student", tokenizer, student.config)
    for parameter in model.parameters():
        parameter.requires_grad_(False)
    return Parts(
        student.to(device),
        model.to(device),
        spec.frame(tokenizer),
        spec.frame(tokenizer, query=True),
        teacher / "tokenizer.json",
    )


def pruned(model: Bert, layers: tuple[int, ...]) -> Bert:
    """The model with only those of its layers, in that order; all of them if none is named."""
    if not layers:
        return model
    unknown = [i for i in layers if not 0 <= i < len(model.layers)]
    if unknown:
        raise ValueError(f"the base has no layer {unknown[0]}, want 0 to {len(model.layers) - 1}")
    model.layers = nn.ModuleList(model.layers[i] for i in layers)
    model.config = dataclasses.replace(model.config, num_hidden_layers=len(layers))
    return model
