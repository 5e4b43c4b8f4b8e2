"""The encoder as an ONNX graph, in the operators that ONNX Runtime is quickest at on a CPU.

Written by hand, not traced, because the choice of operators decides the speed
(training/README.md has the numbers):

- MultiHeadAttention never forms the scores of a whole window if it has no mask, so a
  call without padding takes a branch without one.
- A residual is added by Sum: an Add in front of LayerNormalization is fused when the
  graph is loaded, into an operator that is many times slower than the two.
- Gelu is exact, by the error function.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

from .bert import Bert
from .outliers import LayerPlan

OPSET = 17
CONTRIB = "com.microsoft"
INPUTS = {
    "input_ids": ("batch", "length"),
    "attention_mask": ("batch", "length"),
    "landmark_positions": ("batch", "positions"),
}
OUTPUT = "landmark_states"
FLOAT = ".float"
"""Ends the names of products that are not to be quantised."""


def build(model: Bert, plan: Sequence[LayerPlan]) -> onnx.ModelProto:
    """The graph of a model, with large channels treated as planned."""
    if model.config.position_embedding_type != "absolute":
        raise ValueError("a model with rotary positions is for experiments: the graph has learned positions alone")
    graph = _Graph(model)
    states = _encoder(graph, model, plan)
    graph.nodes.append(helper.make_node("Identity", [_pick(graph, states)], [OUTPUT]))
    width = model.config.hidden_size
    proto = helper.make_graph(
        graph.nodes,
        "landmarks",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name, shape in INPUTS.items()],
        [helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ("batch", "positions", width))],
        graph.constants,
    )
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
    out = helper.make_model(proto, opset_imports=opsets, ir_version=10, producer_name="waymark_training")
    onnx.checker.check_model(out)
    return out


class _Graph:
    """Nodes and constants as they are added. Values are referred to by name."""

    def __init__(self, model: Bert) -> None:
        self.weights = {name: value.float().numpy() for name, value in model.state_dict().items()}
        self.epsilon = model.config.layer_norm_eps
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, name: str, value: numpy.ndarray) -> str:
        self.constants.append(numpy_helper.from_array(numpy.ascontiguousarray(value), name))
        return name

    def add(self, name: str, operator: str, inputs: Sequence[str], **attributes) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [name], name=name, **attributes))
        return name

    def product(self, name: str, states: str, weight: numpy.ndarray) -> str:
        """states times the transpose of weight, as a torch Linear without its bias."""
        return self.add(name, "MatMul", [states, self.constant(f"{name}.weight", weight.T)])

    def linear(self, name: str, states: str, weight: numpy.ndarray, bias: numpy.ndarray) -> str:
        product = self.product(f"{name}.product", states, weight)
        return self.add(name, "Add", [product, self.constant(f"{name}.bias", bias)])

    def norm(self, name: str, states: str, divisors: numpy.ndarray) -> str:
        """The layer norm of that name, its channels divided."""
        scale = self.constant(f"{name}.weight", self.weights[f"{name}.weight"] / divisors)
        shift = self.constant(f"{name}.bias", self.weights[f"{name}.bias"] / divisors)
        return self.add(name, "LayerNormalization", [states, scale, shift], axis=-1, epsilon=self.epsilon)

    def undivided(self, name: str, states: str, divisors: numpy.ndarray) -> str:
        """What the states were before their channels were divided."""
        if (divisors == 1).all():
            return states
        return self.add(name, "Mul", [states, self.constant(f"{name}.divisors", divisors)])


def _encoder(graph: _Graph, model: Bert, plan: Sequence[LayerPlan]) -> str:
    """The states of the last layer."""
    weights = graph.weights
    table = graph.constant("words.table", weights["embeddings.words.weight"])
    words = graph.add("words", "Gather", [table, "input_ids"])
    length = graph.add("length", "Shape", ["input_ids"], start=1, end=2)
    # Token types are not fed: all are 0, which makes them a part of the position.
    table = weights["embeddings.positions.weight"] + weights["embeddings.types.weight"][0]
    start = graph.constant("positions.start", numpy.array([0]))
    positions = graph.add("positions", "Slice", [graph.constant("positions.table", table), start, length])
    mask = graph.add("mask", "Cast", ["attention_mask"], to=TensorProto.INT32)
    least = graph.add("mask.least", "ReduceMin", ["attention_mask"], keepdims=0)
    unpadded = graph.add("mask.unpadded", "Cast", [least], to=TensorProto.BOOL)

    states = graph.add("embeddings", "Add", [words, positions])
    states = graph.norm("embeddings.norm", states, plan[0].attention)
    # The last layer's states leave the graph as they are.
    after = [layer.attention for layer in plan[1:]] + [numpy.ones_like(plan[0].attention)]
    for i, (layer, divisors) in enumerate(zip(plan, after)):
        name = f"layers.{i}"
        mixed = _attention(graph, name, states, layer, model.config.num_attention_heads, mask, unpadded)
        residual = graph.undivided(f"{name}.attention.residual", states, layer.attention)
        states = graph.add(f"{name}.attention.sum", "Sum", [mixed, residual])
        states = graph.norm(f"{name}.attention_norm", states, layer.feed_forward)
        residual = graph.undivided(f"{name}.residual", states, layer.feed_forward)
        states = graph.add(f"{name}.sum", "Sum", [*_feed_forward(graph, name, states, layer), residual])
        states = graph.norm(f"{name}.output_norm", states, divisors)
    return states


def _attention(graph: _Graph, layer: str, states: str, plan: LayerPlan, heads: int, mask: str, unpadded: str) -> str:
    name = f"{layer}.attention"
    parts = [
        graph.linear(
            f"{name}.{part}",
            states,
            graph.weights[f"{name}.{part}.weight"] * plan.attention,
            graph.weights[f"{name}.{part}.bias"],
        )
        for part in ("query", "key", "value")
    ]

    def branch(suffix: str, inputs: list[str]) -> onnx.GraphProto:
        out = f"{name}.{suffix}"
        node = helper.make_node("MultiHeadAttention", inputs, [out], name=out, domain=CONTRIB, num_heads=heads)
        return helper.make_graph([node], out, [], [helper.make_tensor_value_info(out, TensorProto.FLOAT, None)])

    mixed = graph.add(
        f"{name}.mixed",
        "If",
        [unpadded],
        then_branch=branch("unpadded", parts),
        else_branch=branch("padded", [*parts, "", mask]),
    )
    output = f"{name}.output"
    return graph.linear(output, mixed, graph.weights[f"{output}.weight"], graph.weights[f"{output}.bias"])


def _feed_forward(graph: _Graph, layer: str, states: str, plan: LayerPlan) -> list[str]:
    """The terms of the block's output: that of the split channels is its own."""
    up, bias, down = (graph.weights[f"{layer}.{part}"] for part in ("up.weight", "up.bias", "down.weight"))
    up = up * plan.feed_forward
    kept = numpy.setdiff1d(numpy.arange(len(bias)), plan.split)
    hidden = graph.linear(f"{layer}.up", states, up[kept], bias[kept])
    hidden = graph.add(f"{layer}.gelu", "Gelu", [hidden], domain=CONTRIB)
    terms = [graph.linear(f"{layer}.down", hidden, down[:, kept], graph.weights[f"{layer}.down.bias"])]
    if len(plan.split):
        product = graph.product(f"{layer}.split.up{FLOAT}", states, up[plan.split])
        shift = graph.constant(f"{layer}.split.bias", bias[plan.split])
        hidden = graph.add(f"{layer}.split.hidden", "Add", [product, shift])
        hidden = graph.add(f"{layer}.split.gelu", "Gelu", [hidden], domain=CONTRIB)
        terms.append(graph.product(f"{layer}.split.down{FLOAT}", hidden, down[:, plan.split]))
    return terms


def _pick(graph: _Graph, states: str) -> str:
    """The states at landmark_positions."""
    axis = graph.constant("pick.axis", numpy.array([2]))
    width = graph.constant("pick.width", numpy.array([len(graph.weights["embeddings.norm.bias"])]))
    column = graph.add("pick.column", "Unsqueeze", ["landmark_positions", axis])
    counts = graph.add("pick.counts", "Shape", ["landmark_positions"])
    shape = graph.add("pick.shape", "Concat", [counts, width], axis=0)
    index = graph.add("pick.index", "Expand", [column, shape])
    return graph.add("pick", "GatherElements", [states, index], axis=1)
