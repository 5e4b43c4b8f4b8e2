"""Texts of so many tokens, cut out of real ones."""
import collections
import json
import random
from pathlib import Path

from tokenizers import Tokenizer

LENGTHS = (64, 128, 256, 512)
MIXED = "64-512"
AROUND = 3  # what opens every text: [CLS] and the two tokens of the prefix
INTERVAL = 128  # tokens to a landmark
PREFIX = "passage: "


def sets(source, model, budget):
    """Returns lists of texts by the name of their length, each with about as many tokens as the
    budget, longest first, and the number of their tokens. A text of length N fills a window of N of Waymark's: what opens
    it and its landmarks count."""
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    words = _words(source, tokenizer)
    random_lengths = random.Random(1)
    out = {}
    for name in (*map(str, LENGTHS), MIXED):
        texts, total = [], 0
        while total < budget:
            length = random_lengths.randint(LENGTHS[0], LENGTHS[-1]) if name == MIXED else int(name)
            text = _text(words, room(length))
            count = len(tokenizer.encode(text, add_special_tokens=False).ids)
            texts.append((count, text))
            total += count
        texts.sort(reverse=True)
        out[name] = [text for _, text in texts], total
    return out


def room(length):
    """The tokens of a text that fills a window of that length."""
    rest = length - AROUND
    return rest - -(-rest // (INTERVAL + 1))


def _text(words, tokens):
    parts, used = [], 0
    while used + words[0][1] <= tokens:
        word, count = words[0]
        words.rotate(-1)  # all over again, once all are used
        parts.append(word)
        used += count
    return " ".join(parts)


def _words(source, tokenizer):
    """The words of the texts with their numbers of tokens, in order; what is no word but longer is not among them."""
    seen, out = {}, collections.deque()
    for text in read(source):
        for word in text.split():
            if word not in seen:
                seen[word] = len(tokenizer.encode(word, add_special_tokens=False).ids)
            if seen[word] <= 16:
                out.append((word, seen[word]))
        if len(out) > 200_000:
            break
    return out


def read(source):
    """The texts of a BEIR folder, or of the .md and .txt files in a folder."""
    corpus = Path(source) / "corpus.jsonl"
    if corpus.exists():
        with open(corpus, encoding="utf-8") as lines:
            return [json.loads(line)["text"] for line in lines]
    files = sorted(p for p in Path(source).rglob("*") if p.suffix in (".md", ".txt"))
    if not files:
        raise SystemExit(f"{source}: neither corpus.jsonl nor .md or .txt files in it")
    return [p.read_text(encoding="utf-8") for p in files]
