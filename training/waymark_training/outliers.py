"""Channels far larger than the rest, which would take up an 8-bit range alone.

Dynamic quantisation scales a matrix by its largest value. In a BERT one channel of
the residual stream, and the state of [CLS] in one hidden channel of a feed-forward
block, are several times larger than all else. Both can be dealt with by moving
weights about, without a change to what the graph computes in full precision:
channels of the stream are divided where they are written and weighted up where they
are read, and the few large hidden channels get a small product of their own that
stays in floating point.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy
import torch
from torch import Tensor, nn

from .bert import Bert
from .layout import Batch

SPLIT = 16
"""How many hidden channels of a layer stay in floating point."""

EVEN = 2.0
"""Channels of the stream are brought down to this many times the median channel."""


@dataclasses.dataclass(frozen=True)
class LayerPlan:
    """What the graph of a layer does about large channels."""

    attention: numpy.ndarray
    """What each channel that enters attention is divided by, [width]."""
    feed_forward: numpy.ndarray
    """What each channel that enters the feed-forward block is divided by, [width]."""
    split: numpy.ndarray
    """The hidden channels that stay in floating point."""


def neutral(model: Bert) -> list[LayerPlan]:
    """A plan that leaves all channels as they are."""
    ones = numpy.ones(model.config.hidden_size, dtype=numpy.float32)
    return [LayerPlan(ones, ones, numpy.array([], dtype=int)) for _ in model.layers]


def plan(model: Bert, batches: Iterable[Batch]) -> list[LayerPlan]:
    """Finds the large channels by running texts through the model."""
    config = model.config
    attention = torch.zeros(config.num_hidden_layers, config.hidden_size)
    feed_forward = torch.zeros(config.num_hidden_layers, config.hidden_size)
    hidden = torch.zeros(config.num_hidden_layers, config.intermediate_size)

    def watch(module: nn.Module, largest: Tensor):
        def note(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
            torch.maximum(largest, inputs[0].abs().amax(dim=(0, 1)), out=largest)

        return module.register_forward_pre_hook(note)

    hooks = []
    for i, layer in enumerate(model.layers):
        hooks.append(watch(layer.attention.query, attention[i]))
        hooks.append(watch(layer.up, feed_forward[i]))
        hooks.append(watch(layer.down, hidden[i]))
    model.eval()
    with torch.inference_mode():
        for b in batches:
            model(torch.from_numpy(b.ids), torch.from_numpy(b.mask))
    for hook in hooks:
        hook.remove()
    split = min(SPLIT, config.intermediate_size // 2)
    return [
        LayerPlan(_divisors(a.numpy()), _divisors(f.numpy()), numpy.sort(numpy.argsort(-h.numpy())[:split]))
        for a, f, h in zip(attention, feed_forward, hidden)
    ]


def _divisors(largest: numpy.ndarray) -> numpy.ndarray:
    return numpy.maximum(largest / (EVEN * numpy.median(largest)), 1.0).astype(numpy.float32)
