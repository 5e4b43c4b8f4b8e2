"""A tiny random model with a real tokenizer, made once for all tests."""

import json
import random
from pathlib import Path

import pytest
import tokenizers
import torch
from tokenizers import models, normalizers, pre_tokenizers

from waymark_training import checkpoint
from waymark_training.bert import Bert, BertConfig
from waymark_training.pack import pack
from waymark_training.packed import Packed
from waymark_training.settings import Mix, Settings, read
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


CONFIG = """
name = "tiny"

[mix.text]
notes = 1.0

[mix.pairs]
asked = 2.0

[mix.long]
tales = 1.0

[pack]
megabytes = 1
passage = 40
held = 0.3

[distil]
steps = 8
warmup = 2
rate = 3e-3
content = [10, 40]
sizes = [4, 8, 16]
tokens = 400
queries = 4
measured = 1500
layers = [1, 2]
log = 2
measure = 4
save = 4
precision = "fp32"

[contrast]
steps = 8
warmup = 2
rate = 1e-3
texts = 6
content = [20, 40]
sizes = [4, 8]
overlap = 3
measured = 40
log = 2
measure = 4
save = 4
soft = 0.1
precision = "fp32"

[mine]
size = 8
keep = 2
margin = 0.5
"""


@pytest.fixture(scope="session")
def config(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("config") / "tiny.toml"
    file.write_text(CONFIG)
    return file


@pytest.fixture(scope="session")
def settings(config) -> Settings:
    return read(config)


@pytest.fixture(scope="session")
def mix(settings) -> Mix:
    return settings.mix


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Path:
    """A data folder of random sentences: notes, pairs of which two share a passage, and tales with spans."""
    folder = tmp_path_factory.mktemp("data")
    rng = random.Random(1)

    def sentence() -> str:
        words = ["".join(rng.choices("abcdeé", k=rng.randint(1, 3))) for _ in range(rng.randint(3, 6))]
        return " ".join(words) + ". "

    def text(sentences: int) -> str:
        return "".join(sentence() for _ in range(sentences)).strip()

    def write(path: Path, rows: list[dict]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    write(folder / "train/text/notes.jsonl", [{"text": text(rng.randint(1, 9))} for _ in range(60)])
    passages = [text(2) for _ in range(20)]
    write(folder / "train/pairs/asked.jsonl", [{"q": text(1), "d": passages[i // 2]} for i in range(40)])
    tales = folder / "train/long/tales"
    documents = {f"d{i}": [sentence() for _ in range(12)] for i in range(8)}
    write(tales / "corpus.jsonl", [{"_id": i, "title": "", "text": "".join(d)} for i, d in documents.items()])
    write(tales / "queries.jsonl", [{"_id": f"q{i}", "text": text(1)} for i in documents])
    lines = []
    for i, parts in documents.items():
        start = len("".join(parts[:5]).encode())
        end = start + len((parts[5] + parts[6]).strip().encode())
        lines.append(f"q{i}\t{i}\t0\t0\t{start}\t{end}\n")
    (tales / "qrels").mkdir()
    (tales / "qrels/spans.tsv").write_text("query-id\tcorpus-id\tstart\tend\tstart_byte\tend_byte\n" + "".join(lines))
    judged = "".join(f"q{i}\t{i}\t1\n" for i in documents)
    (tales / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\n" + judged)
    return folder


@pytest.fixture(scope="session")
def packed_file(settings, data, tokenizer_file, tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("packed") / "tokens.npz"
    pack(settings, data, tokenizer_file, file)
    return file


@pytest.fixture(scope="session")
def packed(packed_file) -> Packed:
    return Packed.load(packed_file)
