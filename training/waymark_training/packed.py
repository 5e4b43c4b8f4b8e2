"""One file with all that training reads: tokens, where sentences end, and which passage answers what."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy

KINDS = ("text", "pairs", "long")


@dataclasses.dataclass(frozen=True)
class Packed:
    """Texts as token ids, one after the other. Sources are named KIND/NAME."""

    ids: numpy.ndarray
    """uint16, [tokens]."""
    ends: numpy.ndarray
    """Whether a sentence, or a line, ends after a token; bool, [tokens]."""
    bounds: numpy.ndarray
    """Text i has the tokens [bounds[i], bounds[i + 1]); int64."""
    source: numpy.ndarray
    """The number of each text's source; uint8."""
    question: numpy.ndarray
    """Whether a text is a question; bool."""
    held: numpy.ndarray
    """Whether a text is held out of training; bool."""
    gold: numpy.ndarray
    """Rows of question, text, and the tokens of the text, [first, end), that answer it; int32, [rows, 4]."""
    names: list[str]
    """The names of the sources."""

    def length(self, text: int) -> int:
        return int(self.bounds[text + 1] - self.bounds[text])

    def tokens(self, text: int, first: int, end: int) -> numpy.ndarray:
        """The ids of a range of a text's tokens."""
        start = self.bounds[text]
        return self.ids[start + first : start + end]

    def save(self, path: Path) -> None:
        """Writes the file whole or not at all; equal contents make equal bytes."""
        values = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        values["ends"] = numpy.packbits(self.ends)
        values["names"] = numpy.array(self.names)
        part = path.with_name(path.name + ".part")
        with part.open("wb") as file:
            numpy.savez_compressed(file, **values)
        os.replace(part, path)

    @classmethod
    def load(cls, path: Path) -> Packed:
        with numpy.load(path) as stored:
            values = {name: stored[name] for name in stored.files}
        values["ends"] = numpy.unpackbits(values["ends"], count=len(values["ids"])).astype(bool)
        values["names"] = values["names"].tolist()
        return cls(**values)
