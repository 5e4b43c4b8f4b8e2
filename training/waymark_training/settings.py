"""A model's configuration file: TOML, whose tables are the classes below."""

from __future__ import annotations

import dataclasses
import tomllib
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from .packed import KINDS


@dataclasses.dataclass(frozen=True)
class Mix:
    """How often a source is drawn, by its name; a source that is not named is left out."""

    text: dict[str, float] = dataclasses.field(default_factory=dict)
    pairs: dict[str, float] = dataclasses.field(default_factory=dict)
    long: dict[str, float] = dataclasses.field(default_factory=dict)

    def weights(self) -> dict[str, float]:
        """All of them under the names that a packed file uses."""
        return {f"{kind}/{name}": w for kind in KINDS for name, w in getattr(self, kind).items()}


@dataclasses.dataclass(frozen=True)
class Pack:
    """What goes into the packed file."""

    megabytes: float = 40  # the file's limit
    text: int = 11_000_000  # tokens, at most
    pairs: int = 8_000_000
    long: int = 4_000_000
    passage: int = 490  # tokens of a pair's passage that are kept
    held: float = 0.01  # share of texts that are held out


@dataclasses.dataclass(frozen=True)
class Budget:
    """How a stage is run. It ends when either limit is reached; 0 is no limit."""

    minutes: float = 0
    steps: int = 0
    rate: float = 2e-4
    warmup: int = 30  # steps
    decay: float = 0.01
    clip: float = 1.0
    freeze: bool = True  # the embedding tables
    dropout: float = 0.0
    precision: str = "auto"
    log: int = 10  # steps between lines
    measure: int = 100  # steps between held-out measures
    save: int = 100  # steps between states to resume from


@dataclasses.dataclass(frozen=True)
class RetroMAE(Budget):
    """Stage 0, an option: a window is rebuilt from the mean of its landmarks. Windows are drawn as for stage 1."""

    rate: float = 1e-4
    tokens: int = 2400  # of windows in a step
    sizes: tuple[int, ...] = (32, 64, 128, 256)  # drawn for each chunk
    natural: float = 0.5  # share of windows cut at sentence ends
    masked: float = 0.3  # share of tokens masked in the encoder's input
    hidden: float = 0.5  # share of tokens that a position of the decoder does not see
    predicted: float = 1.0  # share of tokens that the decoder has to name; less is cheaper
    measured: int = 10_000  # tokens of held-out windows


@dataclasses.dataclass(frozen=True)
class Distil(Budget):
    """Stage 1: landmarks learn the vectors of their chunks."""

    tokens: int = 2400  # of windows in a step
    content: tuple[int, int] = (128, 490)  # tokens of a window
    sizes: tuple[int, ...] = (16, 32, 64, 128, 256)
    natural: float = 0.5  # share of windows cut at sentence ends
    glue: float = 0.5  # share of windows of several documents
    whole: float = 0.2  # share of windows that are one short text in one chunk
    queries: int = 20  # a step
    measured: int = 20_000  # tokens of held-out windows
    cosine: float = 2.0
    centred: float = 0.5
    contrast: float = 0.5
    temperature: float = 0.05
    layers: tuple[int, int] = (3, 11)  # supervised layer by layer, first and last
    layerwise: tuple[float, float] = (1.0, 0.2)  # its weight, from and to


@dataclasses.dataclass(frozen=True)
class Contrast(Budget):
    """Stage 2: questions find their passages, by the best landmark and by the pooled vector."""

    rate: float = 5e-5
    pooling: str = "landmark"  # or cls: the state of [CLS] for a whole window, as a baseline
    texts: int = 14  # a step
    long: float = 0.5  # share of texts that are windows of long documents
    alike: float = 0.0  # share of steps whose questions are of one source
    together: int = 1  # questions drawn of one long text, up to
    plain: int = 0  # tokens a step of windows drawn as for stage 1
    content: tuple[int, int] = (200, 490)  # tokens of such a window
    sizes: tuple[int, ...] = (32, 64, 128, 256)
    natural: float = 0.5
    overlap: int = 12  # tokens, or a third of the chunk, that make a landmark right
    negatives: int = 0  # mined ones a question
    measured: int = 200  # held-out questions
    temperature: float = 0.02
    landmark: float = 1.0
    pooled: float = 0.5
    anchor: float = 4.0
    document: float = 0.0  # pull of the pooled vector to the teacher's of the whole window
    soft: float = 0.0
    soft_temperature: float = 0.02


@dataclasses.dataclass(frozen=True)
class Imitate(Budget):
    """A model with fewer layers or other positions learns what it gave before; windows are as in stage 1."""

    rate: float = 3e-4
    theta: float = 0.0  # of rotary positions, 10,000 as a rule; 0 keeps the learned ones
    tokens: int = 2400  # of windows in a step
    states: float = 1.0
    landmarks: float = 4.0


@dataclasses.dataclass(frozen=True)
class Mine:
    """Hard negatives: chunks that the model takes for the answer."""

    size: int = 128  # tokens of a chunk
    texts: int = 20_000  # searched, at most
    questions: int = 20_000
    depth: int = 30  # ranks looked at
    keep: int = 4
    margin: float = 0.0  # a chunk that scores so much above the best gold one may well be right


@dataclasses.dataclass(frozen=True)
class Settings:
    """All of a file."""

    name: str
    seed: int = 1
    layers: tuple[int, ...] = ()
    """The layers of the base that the model keeps, from 0; empty for all."""
    mix: Mix = Mix()
    pack: Pack = Pack()
    retromae: RetroMAE = RetroMAE()
    distil: Distil = Distil()
    contrast: Contrast = Contrast()
    imitate: Imitate = Imitate()
    mine: Mine = Mine()


def read(path: Path) -> Settings:
    """Reads a configuration; keys that nothing reads are refused."""
    return fill(Settings, toml(path), str(path))


def toml(path: Path) -> dict[str, Any]:
    """The values of a TOML file; an error says which file it is."""
    with path.open("rb") as file:
        try:
            return tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path}: {error}") from error


T = TypeVar("T")

SIMPLE = {int: int, float: (int, float), str: str, bool: bool}
"""What a key of each type may hold."""


def fill(cls: type[T], values: dict[str, Any], where: str) -> T:
    """A dataclass made of a table's values; errors begin with where it stands."""
    fields = {field.name for field in dataclasses.fields(cls)}
    types = get_type_hints(cls)
    made = {}
    for name, value in values.items():
        if name not in fields:
            raise ValueError(f"{where}: unknown key {name!r}, want one of {', '.join(sorted(fields))}")
        if types[name] in SIMPLE and not isinstance(value, SIMPLE[types[name]]):
            raise ValueError(f"{where}: {name} is {value!r}, want {types[name].__name__}")
        if dataclasses.is_dataclass(types[name]):
            value = fill(types[name], value, f"{where}, {name}")
        made[name] = tuple(value) if isinstance(value, list) else value
    try:
        return cls(**made)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error
