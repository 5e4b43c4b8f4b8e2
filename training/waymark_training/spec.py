"""What a landmark model needs to be told beyond its weights."""

from __future__ import annotations

import dataclasses

from .bert import BertConfig
from .layout import Frame
from .tokens import Tokenizer


@dataclasses.dataclass(frozen=True)
class Spec:
    """How texts are fed to a model: the settings that waymark.json holds."""

    name: str
    cls: int
    landmark: int
    pad: int
    dimension: int
    max_length: int
    interval: int = 128
    query_prefix: str = "query: "
    document_prefix: str = "passage: "

    @classmethod
    def of(cls, name: str, tokenizer: Tokenizer, config: BertConfig) -> Spec:
        """The settings of a BERT: [SEP] is the landmark, as in the paper."""
        return cls(
            name=name,
            cls=tokenizer.special("[CLS]"),
            landmark=tokenizer.special("[SEP]"),
            pad=tokenizer.special("[PAD]"),
            dimension=config.hidden_size,
            max_length=config.max_position_embeddings,
        )

    def frame(self, tokenizer: Tokenizer, query: bool = False) -> Frame:
        """What stands around the chunks of a document, or of a query."""
        prefix = self.query_prefix if query else self.document_prefix
        return Frame(self.cls, self.landmark, self.pad, tuple(tokenizer.ids(prefix)), self.max_length)
