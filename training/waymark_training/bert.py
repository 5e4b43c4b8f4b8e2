"""A BERT encoder: post-layer-norm, exact GELU, learned or rotary positions, token type 0."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclasses.dataclass(frozen=True)
class BertConfig:
    """The sizes of an encoder, under the names that config.json gives them."""

    vocab_size: int = 30522
    hidden_size: int = 384
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 1536
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    initializer_range: float = 0.02
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    position_embedding_type: str = "absolute"
    """absolute: a learned vector for each position; rotary: queries and keys turned by their position."""
    rope_theta: float = 10_000.0

    def __post_init__(self) -> None:
        if self.position_embedding_type not in ("absolute", "rotary"):
            raise ValueError(f"position_embedding_type {self.position_embedding_type!r}, want absolute or rotary")
        if self.hidden_size % self.num_attention_heads:
            raise ValueError(
                f"hidden_size {self.hidden_size} is not a multiple of num_attention_heads {self.num_attention_heads}"
            )

    @classmethod
    def read(cls, path: Path) -> BertConfig:
        """Reads config.json; keys that do not describe the encoder are skipped."""
        values = json.loads(path.read_text(encoding="utf-8"))
        for key, want in (("model_type", "bert"), ("hidden_act", "gelu")):
            if values.get(key) != want:
                raise ValueError(f"{path}: {key} is {values.get(key)!r}, want {want!r}")
        names = {field.name for field in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})

    def write(self, path: Path, pad: int = 0) -> None:
        """Writes config.json as other BERT loaders expect it."""
        sizes = dataclasses.asdict(self)
        if self.position_embedding_type == "absolute":  # as every loader takes it
            del sizes["position_embedding_type"], sizes["rope_theta"]
        values = sizes | {
            "architectures": ["BertModel"],
            "model_type": "bert",
            "hidden_act": "gelu",
            "pad_token_id": pad,
        }
        path.write_text(json.dumps(values, indent=2, sort_keys=True) + "\n", encoding="utf-8")


class Attention(nn.Module):
    """Self-attention of several heads."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.heads = config.num_attention_heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.dropout = nn.Dropout(config.attention_probs_dropout_prob)

    def forward(self, states: Tensor, bias: Tensor, turn: Tensor | None = None) -> Tensor:
        batch, length, width = states.shape
        size = width // self.heads

        def split(x: Tensor) -> Tensor:
            return x.view(batch, length, self.heads, size).transpose(1, 2)

        query, key, value = split(self.query(states)), split(self.key(states)), split(self.value(states))
        if turn is not None:
            query, key = rotated(query, turn), rotated(key, turn)
        if self.training and states.device.type == "cpu":
            # On processors the gradient of this operator takes twice as long in bfloat16.
            with torch.autocast("cpu", enabled=False):
                mixed = self._mix(query.float(), key.float(), value.float(), bias.float())
        else:
            mixed = self._mix(query, key, value, bias.to(query.dtype))
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))

    def _mix(self, query: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
        dropout = self.dropout.p if self.training else 0.0
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=dropout)


class Layer(nn.Module):
    """Attention and feed-forward, each added to its input and normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.attention = Attention(config)
        self.attention_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.up = nn.Linear(width, config.intermediate_size)
        self.gelu = nn.GELU()
        self.down = nn.Linear(config.intermediate_size, width)
        self.output_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, states: Tensor, bias: Tensor, turn: Tensor | None = None) -> Tensor:
        states = self.attention_norm(states + self.dropout(self.attention(states, bias, turn)))
        return self.output_norm(states + self.dropout(self.down(self.gelu(self.up(states)))))


def angles(length: int, size: int, theta: float, device: torch.device) -> Tensor:
    """By how much rotary positions turn the pairs of a head: cosines and sines, [2, length, size / 2]."""
    rates = theta ** (-torch.arange(0, size, 2, device=device) / size)
    turns = torch.arange(length, device=device)[:, None] * rates
    return torch.stack([turns.cos(), turns.sin()])


def rotated(states: Tensor, turn: Tensor) -> Tensor:
    """Queries or keys, [batch, heads, length, size], turned: channel i is paired with channel i + size / 2."""
    cos, sin = turn.to(states.dtype)
    left, right = states.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


def stretched(table: Tensor, length: int) -> Tensor:
    """The vectors of so many positions. Beyond the table they are interpolated (arXiv 2306.15595)."""
    if length <= len(table):
        return table[:length]
    return functional.interpolate(table.T[None], size=length, mode="linear", align_corners=True)[0].T


class Embeddings(nn.Module):
    """The sum of word, learned position and token type 0, normalised."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        width = config.hidden_size
        self.words = nn.Embedding(config.vocab_size, width)
        self.positions = nn.Embedding(config.max_position_embeddings, width)
        self.types = nn.Embedding(config.type_vocab_size, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.rotary = config.position_embedding_type == "rotary"

    def forward(self, ids: Tensor) -> Tensor:
        states = self.words(ids) + self.types.weight[0]
        if not self.rotary:
            states = states + stretched(self.positions.weight, ids.shape[1])
        return self.dropout(self.norm(states))


class Bert(nn.Module):
    """The encoder, without a pooler."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embeddings = Embeddings(config)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        self.apply(self._initialise)

    def _initialise(self, module: nn.Module) -> None:
        if isinstance(module, (nn.Linear, nn.Embedding)):
            nn.init.normal_(module.weight, std=self.config.initializer_range)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    def all_states(self, ids: Tensor, mask: Tensor) -> list[Tensor]:
        """The embeddings and what each layer makes of them, the last layer last.

        ids and mask are [batch, length]; mask is 1 for tokens and 0 for padding.
        """
        bias = (1 - mask[:, None, None, :].to(self.embeddings.words.weight.dtype)) * -10000.0
        states = [self.embeddings(ids)]
        turn = None
        if self.config.position_embedding_type == "rotary":
            size = self.config.hidden_size // self.config.num_attention_heads
            turn = angles(ids.shape[1], size, self.config.rope_theta, ids.device)
        for layer in self.layers:
            states.append(layer(states[-1], bias, turn))
        return states

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        """The states of the last layer, [batch, length, width]."""
        return self.all_states(ids, mask)[-1]
