"""The commands: python -m waymark_training COMMAND."""

from __future__ import annotations

import argparse
import json
import logging
import sys
from pathlib import Path

from . import bench, parity
from .bert import BertConfig
from .export import GRAPHS, export
from .spec import Spec
from .tokens import Tokenizer


def main(arguments: list[str] | None = None) -> int:
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    # The quantiser's own lines advise steps that the graph does not need.
    logging.getLogger().addFilter(lambda record: record.name != "root")
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (OSError, ValueError) as error:
        print(f"waymark_training: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m waymark_training", description=sys.modules[__package__].__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    command = commands.add_parser("export", help="write the model directory of a checkpoint")
    command.add_argument("--checkpoint", type=Path, required=True, metavar="DIR")
    command.add_argument("--out", type=Path, required=True, metavar="DIR")
    command.add_argument("--precision", choices=sorted(GRAPHS), default="int8")
    command.add_argument("--name", help="the model's name; default: the folder's")
    command.set_defaults(run=lambda o: export(o.checkpoint, o.out, o.name or o.out.resolve().name, o.precision))

    command = commands.add_parser("parity", help="write the fixture that the Go tests compare with")
    command.add_argument("--checkpoint", type=Path, required=True, metavar="DIR")
    command.add_argument("--model", type=Path, required=True, metavar="DIR", help="its model directory in int8")
    command.add_argument("--cases", type=Path, required=True, metavar="FILE", help="a fixture whose texts to take")
    command.add_argument("--out", type=Path, required=True, metavar="FILE")
    command.set_defaults(run=lambda o: parity.write(o.checkpoint, o.model / GRAPHS["int8"], o.cases, o.out))

    command = commands.add_parser("bench", help="compare the speed of model directories")
    command.add_argument("--text", type=Path, required=True, metavar="FILE", help="what to encode, at least 512 tokens")
    command.add_argument("models", type=Path, nargs="+", metavar="DIR", help="ratios are to the first")
    command.set_defaults(run=_bench)
    return parser


def _bench(options: argparse.Namespace) -> None:
    first = options.models[0]
    tokenizer = Tokenizer(first / "tokenizer.json")
    spec = Spec.of(first.name, tokenizer, BertConfig.read(first / "config.json"))
    text = options.text.read_text(encoding="utf-8")
    manifests = [json.loads((model / "waymark.json").read_text(encoding="utf-8")) for model in options.models]
    graphs = [model / manifest["weights"]["file"] for model, manifest in zip(options.models, manifests)]
    for length in (spec.max_length, spec.max_length // 4):
        for model, (speed, ratio) in zip(options.models, bench.compare(graphs, tokenizer, spec, text, length)):
            print(f"{length} tokens a call: {speed:7.0f} tokens a second and thread, x {ratio:.2f}  {model}")


if __name__ == "__main__":
    sys.exit(main())
