"""A tiny random model with a real tokenizer, made once for all tests."""

from pathlib import Path

import pytest
import tokenizers
import torch
from tokenizers import models, normalizers, pre_tokenizers

from waymark_training import checkpoint
from waymark_training.bert import Bert, BertConfig
from waymark_training.spec import Spec
from waymark_training.tokens import Tokenizer

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def tokenizer_file(tmp_path_factory) -> Path:
    """A WordPiece of single letters, with truncation and padding left on as a training run may."""
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [chr(c) for c in (*range(ord("!"), ord("A")), *range(ord("["), ord("{")))]
    vocabulary = {piece: i for i, piece in enumerate([*pieces, *letters, *("##" + x for x in letters)])}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(pieces)
    tokenizer.enable_truncation(8)
    tokenizer.enable_padding(length=8)
    file = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    tokenizer.save(str(file))
    return file


@pytest.fixture(scope="session")
def tokenizer(tokenizer_file) -> Tokenizer:
    return Tokenizer(tokenizer_file)


@pytest.fixture(scope="session")
def model() -> Bert:
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=140,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=48,
        initializer_range=0.2,
    )
    model = Bert(config).eval()
    with torch.no_grad():  # large channels, as trained models have them
        for layer in model.layers:
            layer.attention_norm.weight[3] = 20
            layer.up.bias[5] = 30
    return model


@pytest.fixture(scope="session")
def spec(tokenizer, model) -> Spec:
    return Spec.of("tiny", tokenizer, model.config)


@pytest.fixture(scope="session")
def saved(model, tokenizer_file, tmp_path_factory) -> Path:
    """The model's checkpoint."""
    folder = tmp_path_factory.mktemp("checkpoint")
    checkpoint.save(model, folder, tokenizer_file, half=False)
    return folder
